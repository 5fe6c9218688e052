package pluginhost

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
)

// logBuffer collects what the host logs.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.buf.Len() < 1<<20 {
		b.buf.Write(p)
	}
	return len(p), nil
}

// String gives what was logged.
func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// patient are the contract's figures, but for how long a request waits for a
// process: the machine of a test may be busy.
func patient() *timing {
	t := contractTiming()
	t.down = 15 * time.Second
	return &t
}

// quick are the contract's figures for impatient tests.
func quick() *timing {
	t := contractTiming()
	t.handshake, t.health, t.startPoll = 5*time.Second, 50*time.Millisecond, 5*time.Millisecond
	t.backoff, t.backoffCap = 10*time.Millisecond, 50*time.Millisecond
	t.trial = time.Hour
	t.down = 15 * time.Second
	return &t
}

type bench struct {
	*Host
	log  *logBuffer
	root string
}

// testExe is the test binary.
func testExe(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func bird(t *testing.T, mode string) Plugin {
	t.Helper()
	return Plugin{Name: "bird", Command: testExe(t), Args: []string{"plugin:" + mode}, Trust: TrustBuilt, StartTimeout: 20 * time.Second}
}

// shortDir is a directory whose path leaves room for a socket's.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "host")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newBench(t *testing.T, times *timing, plugins ...Plugin) *bench {
	t.Helper()
	b := &bench{log: &logBuffer{}, root: shortDir(t)}
	var err error
	b.Host, err = New(Config{
		Plugins: plugins, StateRoot: b.root, GatewayVersion: "test", timing: times,
		LookupEnv: os.LookupEnv,
		Log:       slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(b.root); err != nil || len(left) > 0 {
			t.Errorf("left over in the state directory: %v, %v", left, err)
		}
		if t.Failed() {
			t.Log(b.log.String())
		}
	})
	return b
}

func start(t *testing.T, times *timing, plugins ...Plugin) *bench {
	t.Helper()
	b := newBench(t, times, plugins...)
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) say(ctx context.Context, code string) (string, executor.Result, error) {
	return b.sayTo(ctx, code, func() {})
}

func (b *bench) sayTo(ctx context.Context, code string, heard func()) (string, executor.Result, error) {
	target, err := b.Find("parrot")
	if err != nil {
		return "", executor.Result{}, err
	}
	sub, err := target.Submit(ctx, executor.Source{ID: "r", Language: "parrot", Tool: "parrot_say", Code: []byte(code)})
	if err != nil {
		return "", executor.Result{}, err
	}
	defer sub.Close()
	if ended := sub.Ended(); ended != nil {
		return "", *ended, nil
	}
	var out strings.Builder
	res, err := sub.Run(ctx, executor.Grant{Limits: executor.Limits{Wall: 10 * time.Second}}, func(_ executor.Stream, chunk []byte) {
		out.Write(chunk)
		heard()
	})
	return out.String(), res, err
}

func mustSay(t *testing.T, b *bench, code, want string) {
	t.Helper()
	out, res, err := b.say(t.Context(), code)
	if err != nil || res.Status != executor.StatusOK || out != want {
		t.Fatalf("said %q, %v, %v; want %q", out, res.Status, err, want)
	}
	// The parrot runs what it is told in its own process: what stands around that stands around the program.
	if !slices.Contains(res.Walls, "clean-start") || !slices.Contains(res.Walls, "rlimits") {
		t.Fatalf("the walls around the run are %q", res.Walls)
	}
}

// until waits for a condition that must come.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func (b *bench) state() State { return b.Status()[0].State }
func (b *bench) pid() int     { return b.Status()[0].PID }

func alive(pid int) bool { return pid != 0 && unix.Kill(pid, 0) == nil }
