package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/sandbox"
	"github.com/sluice-gateway/sluice/internal/sandbox/sandboxtest"
)

// enterWay is the test command that executes another in the conditions of
// another kind of host.
func enterWay(args []string) int {
	path, err := exec.LookPath(args[1])
	if err == nil {
		err = sandboxtest.Enter(sandboxtest.Way(args[0]))
	}
	if err == nil {
		err = syscall.Exec(path, args[1:], os.Environ())
	}
	_, _ = os.Stderr.WriteString(err.Error() + "\n")
	return 2
}

// TestDoctorLooksForTheToken: it says what serve and make run would find, each by
// itself.
func TestDoctorLooksForTheToken(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	environment := map[string]string{}
	cfg := &config.Loaded{File: filepath.Join(folder, "config.yaml")}
	want := func(parts ...string) {
		t.Helper()
		got := (&app{getenv: func(name string) string { return environment[name] }, dir: "/nowhere"}).lookForToken(cfg)
		if len(parts) == 0 && got != "" {
			t.Errorf("told of %q, want nothing", got)
		}
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("told of %q, want %q", got, part)
			}
		}
		if strings.Contains(got, "minted-text") || len(parts) == 1 && strings.Contains(got, "make run") {
			t.Errorf("told of %q", got)
		}
	}
	want("serve would not start: no token") // there is no checkout
	write("scripts/run.sh", "", 0o700)
	want("serve would not start: no token", "'make run' mints one into "+filepath.Join(folder, ".token"))
	write(".token", "minted-text", 0o600)
	want("serve would not start: no token", "'make run' starts, with the token in "+filepath.Join(folder, ".token"))
	write(".token", "minted-text", 0o644)
	want("serve would not start: no token", "nor would 'make run'", "chmod 600")
	environment["SOLVER_TOKEN_FILE"] = filepath.Join(folder, ".token")
	want("serve would not start: SOLVER_TOKEN_FILE names")
	environment["SOLVER_TOKEN_FILE"] = ""
	write("tokens.yaml", "tokens: []\n", 0o600)
	cfg.Auth.Tokens = filepath.Join(folder, "tokens.yaml")
	want("serve would not start: no token", "nor would")
	write("tokens.yaml", "tokens: [{name: a, scopes: [solve], sha256: '"+strings.Repeat("ab", 32)+"'}]\n", 0o600)
	want()
	environment["SOLVER_TOKEN"] = "minted-text"
	want()
}

// diagnose runs doctor, on an address that is taken, and wants its exit status.
func diagnose(t *testing.T, status int, command ...string) diagnosis {
	t.Helper()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	command = append(command, "gateway", "doctor", "--output", "json", "--config", filepath.Join(repository(t), "config.yaml"), "--listen", busy.Addr().String())
	cmd := exec.Command(command[0], command[1:]...)
	var said, cried bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &cried
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var d diagnosis
	if err := json.Unmarshal(said.Bytes(), &d); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &said, &cried)
	}
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Fatalf("exit status %d, want %d\n%s\n%s", got, status, &said, &cried)
	}
	if d.Listen.Free || !slices.ContainsFunc(d.Notes, func(n string) bool { return strings.Contains(n, "busy") }) {
		t.Errorf("an address that is taken gave %+v, notes %q", d.Listen, d.Notes)
	}
	return d
}

func inForce(d diagnosis) map[string]bool {
	found := map[string]bool{}
	for _, w := range d.Walls {
		found[w.Name] = w.InForce
	}
	return found
}

// TestDoctorTellsWhatThisHostOffers holds what programs found from inside to
// what the kernel offers this user: on a host with everything, seven walls.
func TestDoctorTellsWhatThisHostOffers(t *testing.T) {
	d := diagnose(t, exitOK)
	var names []string
	for _, w := range d.Walls {
		names = append(names, w.Name)
		t.Logf("%-11s in force %v: %s %s", w.Name, w.InForce, w.Probe, w.Why)
		if w.Probe == "" || w.InForce == (w.Remedy != "") {
			t.Errorf("%s: probe %q, in force %v, remedy %q", w.Name, w.Probe, w.InForce, w.Remedy)
		}
	}
	if !slices.Equal(names, sandbox.WallNames()) {
		t.Errorf("walls %q, want %q", names, sandbox.WallNames())
	}
	of := sandbox.Probe()
	want := map[string]bool{
		"clean-start": true, "rlimits": true, "landlock": of.Landlock > 0, "seccomp": of.Filter,
		"namespaces": of.Mechanism != "", "root": of.Pivot, "cgroup": of.Groups > 0,
	}
	for name, got := range inForce(d) {
		if got != want[name] {
			t.Errorf("%s is in force: %v, and this host offers it: %v", name, got, want[name])
		}
	}
	if !d.Ready || d.LandlockABI != of.Landlock || d.Kernel == "" || !d.Python.OK || len(d.Python.Libraries) != 4 || !d.Policy.OK || len(d.Plugins) != 2 {
		t.Errorf("not all of the host was seen: %+v", d)
	}
}

// TestDoctorMissesAWall runs doctor where the kernel has no Landlock, and where
// a root of one's own makes up for that.
func TestDoctorMissesAWall(t *testing.T) {
	if !sandbox.Probe().Pivot {
		t.Skip("SKIPPED LOUDLY: without a root of its own nothing makes up for Landlock here")
	}
	d := diagnose(t, exitOK, "way", string(sandboxtest.GVisor))
	for _, w := range d.Walls {
		switch w.Name {
		case "landlock":
			if w.InForce || w.Required || w.Why == "" || w.Remedy == "" || !strings.Contains(w.Probe, "could be listed") {
				t.Errorf("without Landlock: %+v", w)
			}
		case "root":
			if !w.InForce || !w.Required {
				t.Errorf("the one wall that gives files: %+v", w)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	all := map[string]tried{}
	for _, name := range sandbox.WallNames() {
		for _, probe := range probesOf(name) {
			all[probe] = tried{shut: true, told: "kept out"}
		}
	}
	for what, c := range map[string]struct {
		claimed []string
		open    string // a probe that got through
		require []string
		ready   bool
		stands  []string
	}{
		"everything":            {sandbox.WallNames(), "", []string{"files", "network", "syscalls"}, true, sandbox.WallNames()},
		"a claim is not enough": {sandbox.WallNames(), "seccomp-fork", []string{"syscalls"}, false, []string{"clean-start", "rlimits", "landlock", "namespaces", "root", "cgroup"}},
		"nor is a lucky probe":  {[]string{"seccomp"}, "", []string{"clean-start"}, false, []string{"seccomp"}},
		"one of two is enough":  {[]string{"root", "namespaces"}, "landlock", []string{"files", "network"}, true, []string{"namespaces", "root"}},
		"neither of two":        {[]string{"seccomp", "landlock"}, "files", []string{"files"}, false, []string{"seccomp"}},
		"what nobody requires":  {[]string{"seccomp"}, "", nil, true, []string{"seccomp"}},
	} {
		t.Run(what, func(t *testing.T) {
			results := map[string]tried{"python": {walls: c.claimed}}
			for name, r := range all {
				r.shut = name != c.open
				results[name] = r
			}
			d := newDiagnosis(c.require)
			d.judge(c.require, results, nil)
			var stands []string
			for _, w := range d.Walls {
				if w.InForce {
					stands = append(stands, w.Name)
				}
			}
			if d.Ready != c.ready || !slices.Equal(stands, c.stands) {
				t.Errorf("ready %v, standing %q, missing %q", d.Ready, stands, d.Missing)
			}
		})
	}
}

// TestReadProbe wants a probe that fails by itself to prove nothing.
func TestReadProbe(t *testing.T) {
	for what, c := range map[string]struct {
		probe  string
		status gateway.Status
		said   string
		shut   bool
	}{
		"kept out":               {"root", gateway.Completed, "SHUT: nothing\n", true},
		"got through":            {"root", gateway.Completed, "OPEN: /etc\n", false},
		"failed by itself":       {"root", gateway.Failed, "", false},
		"said nothing":           {"root", gateway.Completed, "", false},
		"ended by the filter":    {"seccomp-fork", gateway.Crashed, "", true},
		"through, then ended":    {"seccomp-fork", gateway.Crashed, "OPEN: a process\n", false},
		"refused, but not ended": {"seccomp-fork", gateway.Failed, "", false},
		"memory":                 {"memory", gateway.OutOfMemory, "", true},
		"memory without an end":  {"memory", gateway.TimedOut, "", false},
	} {
		if got := read(c.probe, gateway.Answer{Status: c.status, Stdout: []byte(c.said)}); got.shut != c.shut {
			t.Errorf("%s: shut %v, want %v", what, got.shut, c.shut)
		}
	}
}
