package executortest

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRun(t *testing.T) { Run(t, &toy{}) }

func TestRunOfOneThatSaysLittle(t *testing.T) {
	Run(t, &terse{}, executor.Config{JSON: []byte(`{"a":1}`), StateDir: "/state", LogLevel: "error"})
}

// terse describes no samples, and wants settings.
type terse struct {
	toy
	got executor.Config
}

func (y *terse) Describe() executor.Description {
	d := y.toy.Describe()
	d.Languages[0].Samples = nil
	return d
}

func (y *terse) Configure(_ context.Context, c executor.Config) ([]string, error) {
	if string(c.JSON) != `{"a":1}` || c.StateDir != "/state" || c.LogLevel != "error" {
		return nil, fmt.Errorf("other settings: %+v", c)
	}
	y.got = c
	return nil, nil
}

func TestStart(t *testing.T) {
	var c = Start(t, &toy{})
	if h, err := c.Health(t.Context(), true); err != nil || h.State != wire.HealthReady {
		t.Errorf("%+v, %v", h, err)
	}
}

// recorder is a reporter that remembers.
type recorder struct {
	mu      sync.Mutex
	errors  []string
	skipped bool
}

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(string, ...any) {
	r.skipped = true
	runtime.Goexit()
}

func (r *recorder) Absentf(string, ...any) { r.Skipf("") }

func (*recorder) Notef(string, ...any) {}

// failures runs checks against e, all of them or those that are named, and
// names those that failed.
func failures(t *testing.T, e executor.Executor, only ...string) (failed []string) {
	t.Helper()
	p := serve(t, e)
	s := newSuite(p, e)
	try := func(checks []check) {
		for _, c := range checks {
			if len(only) > 0 && !slices.Contains(only, c.id) {
				continue
			}
			var r recorder
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.do(&r, s)
			}()
			<-done
			if len(r.errors) > 0 {
				failed = append(failed, c.id)
				t.Logf("%s: %s", c.id, strings.Join(r.errors, "; "))
			}
		}
	}
	try(describeChecks())
	configure(t, p, nil)
	_, _ = s.host.Describe(t.Context(), "test", "samples") // D02 tells
	try(submitChecks())
	try(sessionChecks())
	try(lastChecks())
	return failed
}

// Every broken executor is caught by the check that is meant for it.
func TestBrokenExecutorsAreCaught(t *testing.T) {
	cases := map[string]string{
		"moody": "D01", "version": "D02", "capacity": "D02", "tool's language": "D02", "tool's name": "D02",
		"tool's argument": "D02", "tool's parameters": "D02", "tree schema": "D02", "schema": "D03", "open schema": "D03", "slow": "D04",
		"mute": "S01", "value": "S01", "panics": "S01", "no line": "S02", "syntax is internal": "S02",
		"random tree": "S03", "other text": "S03", "other schema": "S03", "canary": "S04", "host path": "S08", "raise is internal": "S08",
		"no type": "S08", "deaf": "S09", "odd texts": "S15", "runs at parse": "S19", "keeps state": "S20",
		"no memory limit": "S21",
	}
	for fault, want := range cases {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			if failed := failures(t, &toy{fault: fault}, want); len(failed) != 1 {
				t.Errorf("%s did not see it", want)
			}
		})
	}
}

func TestSoundExecutorPasses(t *testing.T) {
	if failed := failures(t, &toy{}); len(failed) > 0 {
		t.Errorf("failed: %q", failed)
	}
}

func TestHostPath(t *testing.T) {
	for text, want := range map[string]bool{
		"File /usr/lib/x": true, `"/tmp/a"`: true, "\n/home/x": true, "a/b": false, "1/usr/2": false, "</program>": false,
		"1 / 0": false, "line 1": false, os.TempDir() + "/x": true,
	} {
		if got := hostPath.MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
