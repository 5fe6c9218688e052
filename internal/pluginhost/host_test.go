package pluginhost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// logBuffer collects what the host logs.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.buf.Len() < 1<<20 {
		b.buf.Write(p)
	}
	return len(p), nil
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// quick are the contract's figures for impatient tests.
func quick() *timing {
	t := contractTiming()
	t.handshake, t.health, t.startPoll = 5*time.Second, 50*time.Millisecond, 5*time.Millisecond
	t.backoff, t.backoffCap = 10*time.Millisecond, 50*time.Millisecond
	t.trial = time.Hour
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

func TestServes(t *testing.T) {
	b := start(t, nil, bird(t, "parrot"))
	if !b.Ready() {
		t.Fatal("not ready")
	}
	mustSay(t, b, ":hello", "hello")
	if _, res, err := b.say(t.Context(), "bad"); err != nil || res.Status != executor.StatusCompileError {
		t.Errorf("got %v, %v; want a compile error", res.Status, err)
	}
	for _, name := range []string{"parrot_say", " Parrot-Say ", "polly", "PARROT"} {
		target, err := b.Find(name)
		if err != nil || target.Language().ID != "parrot" {
			t.Errorf("find %q: %v", name, err)
		}
	}
	if _, err := b.Find("pigeon"); !errors.Is(err, gateway.ErrUnknownTool) {
		t.Errorf("find a pigeon: %v", err)
	}
	targets := b.Targets()
	if len(targets) != 1 || targets[0].Tool().Name != "parrot_say" || targets[0].Plugin() != (gateway.PluginInfo{Name: "parrot", Version: "1.2.3", LanguageVersion: "7"}) {
		t.Errorf("targets are %v", targets)
	}
	st := b.Status()[0]
	if st.State != Healthy || st.PID == 0 || st.Plugin != "parrot" || len(st.Walls) == 0 {
		t.Errorf("status is %+v", st)
	}
	pid := st.PID
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if alive(pid) || b.Ready() || b.state() != Stopped {
		t.Errorf("after Close the plugin is %s", b.state())
	}
	if _, _, err := b.say(t.Context(), ":late"); !errors.Is(err, gateway.ErrPluginDown) {
		t.Errorf("after Close: %v", err)
	}
}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	t.Setenv("SOLVER_TOKEN", "secret")
	t.Setenv("WANTED", "yes")
	p := bird(t, "parrot")
	p.Env = []string{"WANTED", "UNSET"}
	b := start(t, nil, p)
	out, _, err := b.say(t.Context(), ":env")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(strings.TrimPrefix(out, "env")) {
		name, _, ok := strings.Cut(line, "=")
		names[name] = ok
	}
	if !names["WANTED"] || names["SOLVER_TOKEN"] || names["PATH"] || names["UNSET"] || strings.Contains(out, "secret") {
		t.Errorf("the plugin sees %v", out)
	}
}

// TestKilledUnderLoad: every call ends in time, with a result or an error that a
// front knows, and the next works.
func TestKilledUnderLoad(t *testing.T) {
	b := start(t, nil, bird(t, "parrot"))
	const calls = 50
	errs := make(chan error, calls)
	var speaking atomic.Int32
	for i := range calls {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			_, _, err := b.sayTo(ctx, fmt.Sprintf(":sleep %dms", 20+i*20), func() { speaking.Add(1) })
			errs <- err
		}()
	}
	until(t, "half of them run", func() bool { return speaking.Load() >= calls/2 })
	first := b.pid()
	if err := unix.Kill(first, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	died := 0
	for range calls {
		select {
		case err := <-errs:
			if err != nil && !errors.Is(err, gateway.ErrPluginDied) && !errors.Is(err, gateway.ErrPluginDown) {
				t.Errorf("a call ended with %v", err)
			}
			if err != nil {
				died++
			}
		case <-time.After(10 * time.Second):
			t.Fatal("a call did not end")
		}
	}
	if died == 0 {
		t.Error("no call noticed the kill; the test killed nobody")
	}
	mustSay(t, b, ":next", "next")
	if alive(first) || b.pid() == first {
		t.Errorf("process %d, now %d", first, b.pid())
	}
	// A kill from outside is nobody's fault: the same texts are served again.
	mustSay(t, b, ":sleep 30ms", "sleep 30ms")
}

func TestCrashBeforeTheVerdictIsTriedOnceMore(t *testing.T) {
	b := start(t, quick(), bird(t, "parrot"))
	mark := filepath.Join(t.TempDir(), "mark")
	mustSay(t, b, "once "+mark+":second time", "second time")
	if b.Status()[0].Restarts != 1 {
		t.Errorf("%d restarts, want 1", b.Status()[0].Restarts)
	}
}

func TestCrashAfterTheVerdictIsNotTriedAgain(t *testing.T) {
	for _, how := range []string{"crash", "panic"} {
		b := start(t, quick(), bird(t, "parrot"))
		out, _, err := b.say(t.Context(), ":"+how)
		if !errors.Is(err, gateway.ErrPluginDied) {
			t.Errorf("%s: got %v, want a plugin that died", how, err)
		}
		if out != "" && out != how {
			t.Errorf("%s: output %q", how, out)
		}
		mustSay(t, b, ":next", "next")
		if b.Status()[0].Restarts != 1 {
			t.Errorf("%s: %d restarts, want 1", how, b.Status()[0].Restarts)
		}
		if how == "panic" && !strings.Contains(b.Status()[0].LastWords, "on purpose") {
			t.Error("last words do not tell of the panic")
		}
	}
}

func TestPoison(t *testing.T) {
	b := start(t, quick(), bird(t, "parrot"))
	// Two crashes: the first try and its one repetition.
	if _, _, err := b.say(t.Context(), "crash"); !errors.Is(err, gateway.ErrPluginDied) {
		t.Fatalf("got %v", err)
	}
	mustSay(t, b, ":well", "well")
	restarts := b.Status()[0].Restarts
	if _, _, err := b.say(t.Context(), "crash"); !errors.Is(err, gateway.ErrPluginDied) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v, want a refusal", err)
	}
	if now := b.Status()[0].Restarts; restarts != 2 || now != restarts {
		t.Errorf("%d restarts, then %d; want 2 and no more", restarts, now)
	}
}

// TestInnocentsAreNotPoisoned: many texts are with the plugin as one crashes it
// twice.
func TestInnocentsAreNotPoisoned(t *testing.T) {
	t.Parallel()
	b := start(t, quick(), bird(t, "parrot"))
	var calls sync.WaitGroup
	for i := range 10 {
		calls.Go(func() { _, _, _ = b.say(context.Background(), fmt.Sprintf(":sleep %dms", 400+i)) })
	}
	until(t, "they run", func() bool { return b.Status()[0].Inflight >= 10 })
	_, _, _ = b.say(t.Context(), "crash")
	calls.Wait()
	for i := range 10 {
		mustSay(t, b, fmt.Sprintf(":sleep %dms", 400+i), fmt.Sprintf("sleep %dms", 400+i))
	}
}

func TestHungPluginIsReplaced(t *testing.T) {
	t.Parallel()
	times := quick()
	b := start(t, times, bird(t, "parrot"))
	pid := b.pid()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "it is degraded", func() bool { return b.state() == Degraded || b.pid() != pid })
	until(t, "it is replaced", func() bool { return b.pid() != pid && b.state() == Healthy })
	mustSay(t, b, ":again", "again")
	if alive(pid) {
		t.Error("the hung process lives")
	}
}

func TestStopOfAHungPlugin(t *testing.T) {
	t.Parallel()
	p := bird(t, "parrot")
	p.DrainTimeout = 100 * time.Millisecond
	b := newBench(t, quick(), p)
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid := b.pid()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 4*time.Second || alive(pid) {
		t.Errorf("stop took %v", took)
	}
}

func TestCloseDrains(t *testing.T) {
	b := newBench(t, nil, bird(t, "parrot"))
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, res, err := b.say(context.Background(), ":sleep 300ms")
		if err == nil && res.Status != executor.StatusOK {
			err = fmt.Errorf("status %v", res.Status)
		}
		result <- err
	}()
	until(t, "it runs", func() bool { return b.Status()[0].Inflight == 1 })
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-result; err != nil {
		t.Errorf("the running program was cut off: %v", err)
	}
}

func TestSigtermDrainsAndRestarts(t *testing.T) {
	b := start(t, quick(), bird(t, "parrot"))
	pid := b.pid()
	result := make(chan error, 1)
	go func() {
		_, _, err := b.say(context.Background(), ":sleep 200ms")
		result <- err
	}()
	until(t, "it runs", func() bool { return b.Status()[0].Inflight == 1 })
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Errorf("the running program was cut off: %v", err)
	}
	until(t, "another serves", func() bool { return b.pid() != pid && b.state() == Healthy })
	mustSay(t, b, ":again", "again")
}

func TestCrashLoopEndsInQuarantine(t *testing.T) {
	t.Parallel()
	b := start(t, quick(), bird(t, "exit"))
	until(t, "it is in quarantine", func() bool { return b.state() == Quarantined })
	st := b.Status()[0]
	if st.Restarts != 4 || !strings.Contains(st.LastWords, "no such interpreter") || b.Ready() {
		t.Errorf("status is %+v", st)
	}
	if err := b.Release("bird"); err != nil {
		t.Fatal(err)
	}
	until(t, "it was tried again", func() bool { return b.Status()[0].Restarts > st.Restarts })
	if err := b.Release("fish"); err == nil {
		t.Error("an unknown plugin was released")
	}
}

func TestTrialAfterACrashLoop(t *testing.T) {
	t.Parallel()
	times := quick()
	times.trial = 20 * time.Millisecond
	b := start(t, times, bird(t, "exit"))
	until(t, "it was tried more often than the loop", func() bool { return b.Status()[0].Restarts >= 7 })
}

func TestMistrust(t *testing.T) {
	for mode, c := range map[string]struct {
		change func(*Plugin)
		why    string
	}{
		"other-tools":        {func(p *Plugin) { p.Tools = []string{"parrot_say"} }, `tool "parrot_say" is named in the configuration`},
		"refuse":             {nil, "not these settings"},
		"elsewhere":          {nil, "not in the directory"},
		"bad-schema":         {nil, "leaves the schema"},
		"settings":           {func(p *Plugin) { p.ConfigJSON = []byte(`{"colour":3}`) }, "colour"},
		"settings no object": {func(p *Plugin) { p.ConfigJSON = []byte(`[]`) }, "not an object"},
		"parrot pinned": {func(p *Plugin) {
			p.Trust, p.SHA256 = TrustPinned, strings.Repeat("0", 64)
		}, "is pinned"},
	} {
		t.Run(mode, func(t *testing.T) {
			p := bird(t, strings.Fields(mode)[0])
			if c.change != nil {
				c.change(&p)
			}
			b := start(t, quick(), p)
			if st := b.Status()[0]; st.State != Quarantined || !strings.Contains(st.Why, c.why) {
				t.Errorf("state %s since %q, want a quarantine since %q", st.State, st.Why, c.why)
			}
			if _, _, err := b.say(t.Context(), ":x"); !errors.Is(err, gateway.ErrUnknownTool) && !errors.Is(err, gateway.ErrPluginDown) {
				t.Errorf("a request got %v", err)
			}
		})
	}
}

func TestStartFailuresAreBounded(t *testing.T) {
	for mode, why := range map[string]string{
		"mute": "", "no-cookie": "", "never-well": "never", "hang-describe": "", "missing": "open the plugin's program",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			times := quick()
			times.handshake = time.Second
			p := bird(t, mode)
			p.StartTimeout = 2 * time.Second
			if mode == "missing" {
				p.Command = "/nowhere/plugin"
			}
			begin := time.Now()
			b := start(t, times, p)
			if took := time.Since(begin); took > 15*time.Second {
				t.Errorf("the failure took %v", took)
			}
			if st := b.Status()[0]; st.State == Healthy || !strings.Contains(b.log.String(), why) {
				t.Errorf("status is %+v", st)
			}
		})
	}
}

func TestSlowStart(t *testing.T) {
	t.Parallel()
	b := start(t, quick(), bird(t, "slow-start"))
	if b.state() != Healthy {
		t.Errorf("state %s", b.state())
	}
}

func TestSicknessComesAndGoes(t *testing.T) {
	t.Parallel()
	b := start(t, quick(), bird(t, "sick"))
	until(t, "it is degraded", func() bool { return b.state() == Degraded })
	mustSay(t, b, ":still", "still")
	until(t, "it is well", func() bool { return b.state() == Healthy })
}

func TestPinnedCopyRuns(t *testing.T) {
	exe := testExe(t)
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	p := bird(t, "parrot")
	p.Trust, p.SHA256 = TrustPinned, hex.EncodeToString(sum[:])
	b := start(t, nil, p)
	mustSay(t, b, ":sealed", "sealed")
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", b.pid()))
	if err != nil || !strings.Contains(link, "memfd:plugin") {
		t.Errorf("the process runs %q, %v; want the sealed copy", link, err)
	}
}

func TestSettingsAndState(t *testing.T) {
	p := bird(t, "state")
	p.Secrets = map[string][]byte{"key": []byte("sesame")}
	b := start(t, nil, p)
	var kept []string
	_ = filepath.WalkDir(b.root, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.Name() == "kept" {
			kept = append(kept, path)
		}
		if d != nil && d.IsDir() {
			if info, err := d.Info(); err == nil && info.Mode().Perm() != 0o700 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
		}
		return nil
	})
	if len(kept) != 1 {
		t.Fatalf("state files %v", kept)
	}
	if data, err := os.ReadFile(kept[0]); err != nil || string(data) != "sesame" {
		t.Errorf("secret %q, %v", data, err)
	}
	if strings.Contains(b.log.String(), "sesame") {
		t.Error("the secret is in the log")
	}
	good := bird(t, "settings")
	good.ConfigJSON = []byte(`{"colour":"green"}`)
	if b := start(t, nil, good); b.state() != Healthy {
		t.Errorf("good settings: %s", b.state())
	}
}

func TestTwoPluginsOneTool(t *testing.T) {
	one, two := bird(t, "parrot"), bird(t, "parrot")
	two.Name = "other"
	b := newBench(t, quick(), one, two)
	err := b.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "both bring a tool") {
		t.Errorf("got %v", err)
	}
}

func TestCapacity(t *testing.T) {
	t.Parallel()
	times := quick()
	times.busy = 50 * time.Millisecond
	b := start(t, times, bird(t, "narrow"))
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() { _, _, _ = b.say(context.Background(), ":sleep 400ms") })
	}
	until(t, "both run", func() bool { return b.Status()[0].Inflight == 2 })
	if _, _, err := b.say(t.Context(), ":third"); !errors.Is(err, gateway.ErrPluginBusy) {
		t.Errorf("the third got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := b.say(ctx, ":gone"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who left got %v", err)
	}
	calls.Wait()
	mustSay(t, b, ":third", "third")
}

func TestInstances(t *testing.T) {
	t.Parallel()
	p := bird(t, "parrot")
	p.Instances = 2
	b := start(t, quick(), p)
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() { _, _, _ = b.say(context.Background(), ":sleep 300ms") })
	}
	until(t, "both have four", func() bool { s := b.Status(); return s[0].Inflight == 4 && s[1].Inflight == 4 })
	if err := unix.Kill(b.pid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	mustSay(t, b, ":other", "other")
	calls.Wait()
}

func TestLogLinesOfAPlugin(t *testing.T) {
	b := start(t, nil, bird(t, "parrot"))
	mustSay(t, b, ":log", "log")
	until(t, "its lines are logged", func() bool {
		log := b.log.String()
		return strings.Contains(log, "level=WARN msg=careful") && strings.Contains(log, "plugin_n=3") && strings.Contains(log, `text="plain words"`)
	})
}

func TestChatterDoesNotHurt(t *testing.T) {
	t.Parallel()
	b := start(t, nil, bird(t, "chatter"))
	for range 20 {
		mustSay(t, b, ":hello", "hello")
	}
	until(t, "the flood is told", func() bool { return strings.Contains(b.log.String(), "lines were left out") })
}
