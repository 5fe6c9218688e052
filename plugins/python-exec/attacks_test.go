package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// own are attacks that prove something about their own process alone, which no
// wall keeps from them: see docs/threat-model.md.
var own = []string{"array-interface-memory-write"}

// attack is a program of the policy's corpus that prints PWNED when it reached
// what it is after.
type attack struct{ name, code string }

func attacks(tb testing.TB) []attack {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "policies", "corpus", "deny", "given-*.py"))
	if err != nil || len(files) < 90 {
		tb.Fatalf("the corpus has %d attacks: %v", len(files), err)
	}
	var list []attack
	for _, f := range files {
		code, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "given-"), ".py")
		if _, bare, _ := strings.Cut(name, "-"); slices.Contains(own, bare) {
			continue
		}
		list = append(list, attack{name, string(code)})
	}
	return list
}

// reached tells whether a program said PWNED. A line of its own source, quoted
// in a traceback, does not count.
func (a attack) reached(o outcome) bool {
	said := o.stdout + "\n" + o.stderr + "\n" + o.Value + "\n" + string(o.figure)
	if o.Problem != nil {
		said += o.Problem.Message + "\n" + o.Problem.Trace
	}
	quoted := map[string]bool{}
	for line := range strings.Lines(a.code) {
		quoted[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(said) {
		line = strings.TrimLeft(strings.TrimSpace(line), "0123456789|> ")
		if strings.Contains(line, "PWNED") && !quoted[line] {
			return true
		}
	}
	return false
}

// hunted are the limits under which attacks run here: those that never end are
// given less time.
func hunted() executor.Grant {
	g := granted()
	g.Limits.Wall, g.Limits.CPU = 3*time.Second, 3*time.Second
	return g
}

// TestAttacks lets every attack in, as a policy that admits everything would:
// none may reach anything, and after each the next program must be served.
func TestAttacks(t *testing.T) {
	p := start(t, map[string]any{"waiting_children": 4})
	for _, a := range attacks(t) {
		o := run(t, p, a.code, hunted())
		if a.reached(o) {
			t.Errorf("%s got through: %.300s", a.name, o.stdout)
		}
		if after := run(t, p, "print(6 * 7)", hunted()); after.err != nil || after.stdout != "42\n" {
			t.Fatalf("after %s: %v, %q", a.name, after.err, after.stdout)
		}
	}
}

// TestAblation takes each wall away alone and prints which attacks come back,
// as the rows of the table in docs/threat-model.md. It is asked for by
// SLUICE_ABLATION=1: it is a measurement, not a check.
func TestAblation(t *testing.T) {
	if os.Getenv("SLUICE_ABLATION") == "" {
		t.Skip("a measurement of some minutes: SLUICE_ABLATION=1 asks for it")
	}
	whole := hunted()
	unlimited := hunted()
	unlimited.Limits.CPU, unlimited.Limits.MemoryBytes, unlimited.Limits.ScratchBytes = 0, 0, 1<<62
	for _, row := range []struct {
		wall  string
		less  lessened
		grant executor.Grant
	}{
		{"none", lessened{}, whole},
		{"clean-start", lessened{without: []string{wallCleanStart}}, whole},
		{"rlimits", lessened{without: []string{wallRlimits}}, unlimited},
		{"clean-start and seccomp", lessened{without: []string{wallCleanStart, wallSeccomp}}, whole},
		{"rlimits and cgroup", lessened{without: []string{wallRlimits, wallCgroup}}, unlimited},
		{"landlock", lessened{without: []string{wallLandlock}}, whole},
		{"seccomp", lessened{without: []string{wallSeccomp}}, whole},
		{"namespaces of each child", lessened{apart: byUID}, whole},
		{"namespaces and root", lessened{apart: byGroup}, whole},
		{"root", lessened{without: []string{wallRoot}}, whole},
		{"cgroup", lessened{without: []string{wallCgroup}}, whole},
		{"seccomp and landlock", lessened{without: []string{wallLandlock, wallSeccomp}}, whole},
		{"landlock and root", lessened{without: []string{wallLandlock, wallRoot}}, whole},
	} {
		t.Run(row.wall, func(t *testing.T) {
			p := startLess(t, map[string]any{"waiting_children": 4}, row.less)
			var back []string
			statuses := map[executor.Status]int{}
			for _, a := range attacks(t) {
				o := run(t, p, a.code, row.grant)
				statuses[o.status()]++
				if a.reached(o) {
					back = append(back, a.name)
				}
				if after := run(t, p, "print(6 * 7)", row.grant); after.err != nil || after.stdout != "42\n" {
					back = append(back, a.name+" (harms the service)")
				}
			}
			fmt.Printf("ABLATION | %s | %d | %s | %v\n", row.wall, len(back), strings.Join(back, ", "), statuses)
		})
	}
}
