package executortest

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// buildBad builds the plugin that breaks the rules.
func buildBad(t *testing.T) (path string, faults map[string]string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "plugin-bad")
	build := exec.Command("go", "build", "-o", path, "../../testdata/plugin-bad")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build plugin-bad: %v\n%s", err, out)
	}
	list, err := exec.Command(path, "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	faults = map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		name, check, _ := strings.Cut(lines.Text(), " ")
		faults[name] = check
	}
	return path, faults
}

// TestBrokenPluginsAreCaught: each by the check that is meant for it.
func TestBrokenPluginsAreCaught(t *testing.T) {
	const least, atOnce = 28, 6
	path, faults := buildBad(t)
	delete(faults, "none")
	if len(faults) < least {
		t.Fatalf("%d faults, want %d", len(faults), least)
	}
	slots := make(chan struct{}, atOnce)
	for fault, check := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			began := time.Now()
			r := verify(t, path, fault, check)
			i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.ID == check })
			if i < 0 || r.Findings[i].Outcome != Failed {
				t.Errorf("%s did not see it: %+v", check, r.Findings)
				return
			}
			t.Logf("%.1fs %s: %s", time.Since(began).Seconds(), check, r.Findings[i].Detail)
		})
	}
}

func verify(t *testing.T, path, fault string, only ...string) Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	r, err := Verify(ctx, Program{Path: path, Args: []string{fault}}, Options{Only: only, Short: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSoundPluginPasses: the same plugin without a fault, all checks.
func TestSoundPluginPasses(t *testing.T) {
	t.Parallel()
	path, _ := buildBad(t)
	r := verify(t, path, "none")
	if !r.OK(true) || r.Count(Passed) < 48 || len(r.SHA256) != 64 || r.Name != "bad" {
		t.Errorf("%+v", r)
	}
}

func TestVerifyOfNoProgram(t *testing.T) {
	for _, path := range []string{"/nowhere/plugin", "bad_test.go", t.TempDir()} {
		if _, err := Verify(t.Context(), Program{Path: path}, Options{}); err == nil {
			t.Errorf("%s was run", path)
		}
	}
}

// TestVerifyOfAnotherProgram: what is no plugin at all fails, and ends.
func TestVerifyOfAnotherProgram(t *testing.T) {
	t.Parallel()
	truth, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Verify(t.Context(), Program{Path: truth}, Options{Short: true})
	if err != nil || r.OK(false) || r.Count(Failed) < 2 {
		t.Errorf("%v, %+v", err, r)
	}
}
