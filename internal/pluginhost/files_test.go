package pluginhost

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pinnedBird is the plugin pinned, with a script that it is started with and a
// file beside it.
func pinnedBird(t *testing.T) (p Plugin, script string) {
	t.Helper()
	p = bird(t, "parrot")
	p.Trust, p.SHA256 = TrustPinned, digestOf(t, p.Command)
	dir := t.TempDir()
	for name, text := range map[string]string{"lib/words.py": "words", "plugin.py": "script"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		p.Files = append(p.Files, PinnedFile{Path: path, SHA256: digestOf(t, path)})
	}
	script = filepath.Join(dir, "plugin.py")
	p.Args = append(p.Args, script)
	return p, script
}

func digestOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// TestAChangedScriptIsNotStarted: an interpreter's digest says nothing of it.
func TestAChangedScriptIsNotStarted(t *testing.T) {
	t.Parallel()
	spec, script := pinnedBird(t)
	b := start(t, patient(), spec)
	mustSay(t, b, ":x", "x")
	if _, err := b.Reload(t.Context(), spec); err != nil {
		t.Errorf("it was not exchanged for itself: %v", err)
	}
	if err := os.WriteFile(script, []byte("script of another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reload(t.Context(), spec); !errors.Is(err, errMistrust) || !strings.Contains(err.Error(), "plugin.py") {
		t.Errorf("a changed script: %v", err)
	}
	mustSay(t, b, ":still", "still")
	spec.Files = slices.DeleteFunc(spec.Files, func(f PinnedFile) bool { return f.Path == script })
	if _, err := b.Reload(t.Context(), spec); !errors.Is(err, errMistrust) || !strings.Contains(err.Error(), "name it under files") {
		t.Errorf("a script without a digest: %v", err)
	}
	fresh := newBench(t, patient(), spec)
	if err := fresh.Start(t.Context()); err != nil || fresh.state() != Quarantined {
		t.Errorf("a first start: %v, %s", err, fresh.state())
	}
}

func TestCopiesOfPinnedFiles(t *testing.T) {
	spec, script := pinnedBird(t)
	dir := t.TempDir()
	args, err := spec.copyFiles(dir)
	if err != nil || !slices.Equal(args, []string{"plugin:parrot", filepath.Join(dir, "plugin.py")}) {
		t.Fatalf("%q, %v", args, err)
	}
	if err := os.WriteFile(script, []byte("changed after it was checked"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"plugin.py": "script", "lib/words.py": "words"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for what, change := range map[string]func(p *Plugin){
		"is pinned":             func(*Plugin) {},
		"no such file":          func(p *Plugin) { p.Files[0].Path = filepath.Join(dir, "nowhere") },
		"is not a regular file": func(p *Plugin) { p.Files[0].Path = dir },
	} {
		p := spec
		p.Files = slices.Clone(spec.Files)
		change(&p)
		if _, err := p.copyFiles(t.TempDir()); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	if _, err := readPinned(PinnedFile{Path: script}, 3); err == nil || !strings.Contains(err.Error(), "bytes together") {
		t.Errorf("a large one: %v", err)
	}
	for _, bad := range []Plugin{{Trust: TrustBuilt, Files: spec.Files}, {Trust: TrustPinned, Files: []PinnedFile{{"relative", spec.SHA256}}}, {Trust: TrustPinned, Files: []PinnedFile{{"/x", "00"}}}} {
		if bad.checkFiles() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
