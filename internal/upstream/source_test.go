package upstream

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// history is an upstream that went on after it was pinned.
type history struct {
	repo *upstreamRepo
	text string // of the pinned file
	pin  string // commits
	bans string // also bans print and getattr
	name string // renames the set
	move string // moves the file
}

func newHistory(t *testing.T) history {
	t.Helper()
	h := history{repo: newRepo(t), text: validator(validatorSets())}
	h.repo.write("README", "an upstream\n")
	h.repo.commit("begin")
	h.repo.write(validatorPath, h.text)
	h.pin = h.repo.commit("add the validator")
	h.repo.write("README", "an upstream that goes on\n")
	h.repo.commit("say more")
	sets := validatorSets()
	sets["BANNED_CALLS"] = append(sets["BANNED_CALLS"], "getattr", "print")
	h.repo.write(validatorPath, validator(sets))
	h.bans = h.repo.commit("ban | print @somebody")
	renamed := map[string][]string{"ALLOWED_IMPORTS": sets["ALLOWED_IMPORTS"], "NEVER": sets["BANNED_CALLS"]}
	h.repo.write(validatorPath, validator(renamed))
	h.name = h.repo.commit("call it NEVER")
	h.repo.git("mv", validatorPath, "validator.py")
	h.move = h.repo.commit("move it up")
	return h
}

// sources are the ways to the same repository.
func (h history) sources(t *testing.T) map[string]string {
	t.Helper()
	bare := h.repo.bare()
	if slower > 1 { // the same ways without the race detector
		return map[string]string{"HTTP": serve(t, bare)}
	}
	return map[string]string{"a checkout": h.repo.dir, "a bare repository": bare, "file:": "file://" + bare, "HTTP": serve(t, bare)}
}

func TestCheckOfASource(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for name, source := range h.sources(t) {
		t.Run(name, func(t *testing.T) {
			cfg := with(t, pinned(t, h.pin, h.text), source)
			report, err := Check(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			wantExit(t, report, ExitInStep)
		})
	}
}

func TestCheckFindsWhatASourceContradicts(t *testing.T) {
	long(t)
	t.Parallel()
	h := newHistory(t)
	missing := strings.Repeat("12345678", 5)
	for name, tt := range map[string]struct {
		commit, text  string
		change        func(*testing.T, fstest.MapFS)
		kind, message string
	}{
		"a missing commit":  {missing, h.text, nil, KindCommit, "is not in"},
		"another digest":    {h.pin, h.text + "\n", nil, KindMismatch, "recorded is"},
		"a later commit":    {h.bans, h.text, nil, KindMismatch, "banned_calls is not what is recorded: +getattr +print"},
		"a set of new name": {h.name, h.text, nil, KindMismatch, "recorded is"},
		"a moved file":      {h.move, h.text, nil, KindMismatch, "the file is not there: pkg/validator.py in commit " + h.move},
		"rules that nobody wrote": {h.pin, h.text, func(t *testing.T, f fstest.MapFS) {
			replace(t, f, PinFile, "[compile, eval, exec, open]", "[compile, eval, exec, getattr]")
		}, KindMismatch, "banned_calls is not what is recorded: +open -getattr"},
		"a set by another name": {h.pin, h.text, func(t *testing.T, f fstest.MapFS) {
			replace(t, f, PinFile, "    rules:\n", "    from: {banned_calls: [ELSEWHERE]}\n    rules:\n")
		}, KindMismatch, "banned_calls: ELSEWHERE: there is no set of that name"},
		"nodes that nobody denies": {h.pin, h.text, func(t *testing.T, f fstest.MapFS) {
			replace(t, f, PinFile, "[AsyncFunctionDef, ClassDef]", "[AsyncFunctionDef, ClassDef, TryStar]")
		}, KindMismatch, "denied_nodes is not what is recorded: -TryStar"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := pinned(t, tt.commit, tt.text)
			if tt.change != nil {
				tt.change(t, folder)
			}
			report, err := Check(t.Context(), with(t, folder, h.repo.dir))
			if err != nil {
				t.Fatal(err)
			}
			wantExit(t, report, ExitLooser)
			shows(t, report, tt.kind, LevelError, tt.message)
		})
	}
}

// A branch that was forced away leaves the pinned commit behind, or loses it.
func TestForcePush(t *testing.T) {
	long(t)
	t.Parallel()
	h := newHistory(t)
	h.repo.git("checkout", "-q", "-b", "kept", h.pin)
	h.repo.git("checkout", "-q", "main")
	h.repo.git("reset", "-q", "--hard", h.pin+"~1")
	sets := validatorSets()
	sets["BANNED_CALLS"] = append(sets["BANNED_CALLS"], "print")
	h.repo.write(validatorPath, validator(sets))
	h.repo.commit("begin anew")
	folder := pinned(t, h.pin, h.text)
	report, err := Check(t.Context(), with(t, folder, h.repo.dir))
	if err != nil {
		t.Fatal(err)
	}
	wantExit(t, report, ExitInStep)
	shows(t, report, KindSource, LevelWarning, "no longer on the branch main")

	h.repo.git("branch", "-q", "-D", "kept")
	for name, source := range map[string]string{"left behind": h.repo.dir, "lost": serve(t, h.repo.bare())} {
		t.Run(name, func(t *testing.T) {
			report, err := LookAhead(t.Context(), with(t, folder, source))
			if err != nil {
				t.Fatal(err)
			}
			wantExit(t, report, ExitMoved)
			if !report.Drift.Rewritten || !report.Drift.Moved {
				t.Errorf("not told: %+v", report.Drift)
			}
			shows(t, report, KindMoved, LevelWarning, "history was rewritten")
			if want := []RuleChange{{ListBannedCalls, "print", "added", "looser", true}}; !slices.Equal(report.Drift.Rules, want) {
				t.Errorf("rules %+v", report.Drift.Rules)
			}
		})
	}
	report, err = Check(t.Context(), with(t, folder, serve(t, h.repo.bare())))
	if err != nil {
		t.Fatal(err)
	}
	wantExit(t, report, ExitLooser)
	shows(t, report, KindCommit, LevelError, h.pin)
}

// What a tree may hold is refused, and told.
func TestHostileTrees(t *testing.T) {
	long(t)
	t.Parallel()
	r := newRepo(t)
	outside := filepath.Join(t.TempDir(), "outside.py")
	if err := os.WriteFile(outside, []byte("X = {'a'}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.write("real.py", "X = {'a'}\n")
	r.write("huge.py", "X = 1\n"+strings.Repeat("#", 5<<20))
	r.write("broken.py", "X = {\n")
	r.write("folder/inner.py", "X = {'a'}\n")
	for link, to := range map[string]string{"link.py": "real.py", "out.py": outside, "linked": "folder"} {
		if err := os.Symlink(to, filepath.Join(r.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	at := r.commit("hostile")
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.CopyFS(plain, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(plain, ".git")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"link.py": "is a symbolic link", "out.py": "is a symbolic link", "linked/inner.py": "linked is a symbolic link",
		"huge.py": "has 5242886 bytes, at most 1048576 are read", "folder": "is not a regular file", "broken.py": "does not parse",
	} {
		folder := pinned(t, at, "")
		replace(t, folder, PinFile, "path: "+validatorPath, "path: "+path)
		for name, source := range map[string]string{"git": r.dir, "a folder": plain} {
			t.Run(name+" "+path, func(t *testing.T) {
				_, err := Check(t.Context(), with(t, folder, source))
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "refused") {
					t.Errorf("error %v, want one with %q", err, want)
				}
				if _, err := LookAhead(t.Context(), with(t, folder, source)); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("drift: error %v, want one with %q", err, want)
				}
			})
		}
	}
	for _, path := range []string{"../real.py", "/etc/passwd", "a/../../real.py", `..\real.py`, "./real.py", ".git/config", "a//b.py"} {
		folder := pinned(t, at, "")
		replace(t, folder, PinFile, "path: "+validatorPath, "path: '"+path+"'")
		if _, err := Check(t.Context(), Config{Folder: folder, Now: today}); err == nil || !strings.Contains(err.Error(), "tree") {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

func TestSourcesThatAreNotOpened(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	huge := filepath.Join(t.TempDir(), "huge.py")
	if err := os.WriteFile(huge, make([]byte, 5<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	nobody := httptest.NewServer(nil)
	nobody.Close()
	for where, want := range map[string]string{
		"":                                 "names nothing",
		filepath.Join(t.TempDir(), "no"):   "no such file",
		huge:                               "refused",
		"http://example.org/x.git":         "use https",
		"ssh://git@example.org/x.git":      "no address that is read",
		"git://example.org/x.git":          "no address that is read",
		"ext::sh -c id://x":                "no address that is read",
		"file://elsewhere/x.git":           "another machine",
		nobody.URL + "/x.git":              "fetch the upstream",
		"http://u:secret@127.0.0.1:1/x.it": "fetch the upstream http://u:xxxxx@127.0.0.1:1/x.it",
		"http://127.0.0.1:port/":           "cannot be read",
	} {
		s, err := Open(t.Context(), where)
		if err == nil {
			t.Errorf("%q was opened", where)
			_ = s.Close()
			continue
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", where, err, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "vendor-sync-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// The second upstream has no commit: its file, or a folder with it, will do.
func TestSourcesWithoutHistory(t *testing.T) {
	long(t)
	t.Parallel()
	text := validator(validatorSets())
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.FromSlash(validatorPath))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	folder := pinned(t, strings.Repeat("0", 40), text)
	replace(t, folder, PinFile, "  commit: "+strings.Repeat("0", 40)+" # the pinned one\n", "")
	annotate(t, folder, "fixture", digestOf([]byte(text)))
	for _, source := range []string{dir, file} {
		report, err := Check(t.Context(), with(t, folder, source))
		if err != nil {
			t.Fatal(err)
		}
		wantExit(t, report, ExitInStep)
		if report, err = LookAhead(t.Context(), with(t, folder, source)); err != nil {
			t.Fatal(err)
		}
		wantExit(t, report, ExitInStep)
	}
	if err := os.WriteFile(file, []byte(text+"\n# more\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{dir, file} {
		report, err := LookAhead(t.Context(), with(t, folder, source))
		if err != nil {
			t.Fatal(err)
		}
		wantExit(t, report, ExitMoved)
	}
	report, outputs, err := Update(t.Context(), with(t, folder, dir), "", false)
	if err != nil || len(outputs) != 1 || !strings.Contains(string(outputs[0].Text), digestOf([]byte(text+"\n# more\n"))) || strings.Contains(string(outputs[0].Text), "commit:") {
		t.Errorf("%v %v %v", report, outputs, err)
	}
	if _, _, err := Update(t.Context(), with(t, folder, dir), strings.Repeat("1", 40), false); err == nil {
		t.Error("a folder has no commit to update to")
	}
}

// With several upstreams the source says which it is, or has to be told.
func TestWhichUpstream(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	both := func(other string) fstest.MapFS {
		folder := pinned(t, h.pin, h.text)
		replace(t, folder, PinFile, "upstreams:\n", "upstreams:\n- name: other\n  profiles: [solve]\n  commit: "+strings.Repeat("7", 40)+"\n  files:\n  - path: "+other+"\n    sha256: null\n")
		return folder
	}
	for name, folder := range map[string]fstest.MapFS{"by the commit": both(validatorPath), "by the files": both("nowhere.py")} {
		if name == "by the files" {
			replace(t, folder, PinFile, "commit: "+h.pin, "commit: "+strings.Repeat("8", 40))
			replace(t, folder, PinFile, "path: "+validatorPath, "path: validator.py")
		}
		u, err := with(t, folder, h.repo.dir).Source.choose(must(t, folder), "")
		if err != nil || u.Name != "fixture" {
			t.Errorf("%s: %q, %v", name, u.Name, err)
		}
	}
	folder := both("README")
	replace(t, folder, PinFile, "commit: "+h.pin, "commit: "+strings.Repeat("8", 40))
	replace(t, folder, PinFile, "path: "+validatorPath, "path: validator.py")
	s := with(t, folder, h.repo.dir).Source
	if _, err := s.choose(must(t, folder), ""); err == nil || !strings.Contains(err.Error(), "--upstream NAME: other, fixture") {
		t.Errorf("error %v", err)
	}
	if u, err := s.choose(must(t, folder), "other"); err != nil || u.Name != "other" {
		t.Errorf("%q, %v", u.Name, err)
	}
	if _, err := s.choose(must(t, folder), "third"); err == nil {
		t.Error("there is no third")
	}
}

func must(t *testing.T, folder fstest.MapFS) *Pin {
	t.Helper()
	pin, err := Pins(folder)
	if err != nil {
		t.Fatal(err)
	}
	return pin
}

func TestBranchesAreFound(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for _, source := range h.sources(t) {
		s := with(t, shipped(t), source).Source
		head, err := s.head("main")
		if err != nil || head.Hash.String() != h.move {
			t.Errorf("%s: %v", s.label, err)
		}
		if _, err := s.head("none"); err == nil || !strings.Contains(err.Error(), `has no branch "none"`) {
			t.Errorf("%s: %v", s.label, err)
		}
		if head, err = s.head(""); err != nil || head.Hash.String() != h.move {
			t.Errorf("%s: %v", s.label, err)
		}
	}
	empty := newRepo(t)
	if _, err := with(t, shipped(t), empty.dir).Source.head(""); err == nil {
		t.Error("an empty repository has a head")
	}
}
