package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

func TestServes(t *testing.T) {
	b := start(t, patient(), bird(t, "parrot"))
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
	b := start(t, patient(), p)
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
	b := start(t, patient(), bird(t, "parrot"))
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
	for i := range 5 {
		calls.Go(func() { _, _, _ = b.say(context.Background(), fmt.Sprintf(":sleep %dms", 400+i)) })
	}
	until(t, "they run", func() bool { return b.Status()[0].Inflight >= 5 })
	_, _, _ = b.say(t.Context(), "crash")
	calls.Wait()
	for i := range 5 {
		mustSay(t, b, fmt.Sprintf(":sleep %dms", 400+i), fmt.Sprintf("sleep %dms", 400+i))
	}
}

func TestSettingsAndState(t *testing.T) {
	p := bird(t, "state")
	p.Secrets = map[string][]byte{"key": []byte("sesame")}
	b := start(t, patient(), p)
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
	if b := start(t, patient(), good); b.state() != Healthy {
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
	b := start(t, patient(), bird(t, "parrot"))
	mustSay(t, b, ":log", "log")
	until(t, "its lines are logged", func() bool {
		log := b.log.String()
		return strings.Contains(log, "level=WARN msg=careful") && strings.Contains(log, "plugin_n=3") && strings.Contains(log, `text="plain words"`)
	})
}

func TestChatterDoesNotHurt(t *testing.T) {
	t.Parallel()
	b := start(t, patient(), bird(t, "chatter"))
	for range 20 {
		mustSay(t, b, ":hello", "hello")
	}
	until(t, "the flood is told", func() bool { return strings.Contains(b.log.String(), "lines were left out") })
}

func TestDeny(t *testing.T) {
	b := start(t, quick(), bird(t, "parrot"))
	target, err := b.Find("parrot")
	if err != nil {
		t.Fatal(err)
	}
	sub, err := target.Submit(t.Context(), executor.Source{ID: "r", Language: "parrot", Tool: "parrot_say", Code: []byte(":never")})
	if err != nil {
		t.Fatal(err)
	}
	if string(sub.Tree().JSON) != `{"say":true}` || b.Status()[0].Inflight != 1 {
		t.Errorf("tree %s, %d in flight", sub.Tree().JSON, b.Status()[0].Inflight)
	}
	sub.Deny("d1", []string{"rule"})
	sub.Close()
	sub.Close()
	if n := b.Status()[0].Inflight; n != 0 {
		t.Errorf("%d in flight after Close", n)
	}
	if _, err := sub.Run(t.Context(), executor.Grant{}, func(executor.Stream, []byte) {}); err == nil {
		t.Error("a refused program ran")
	}
	mustSay(t, b, ":next", "next")
}
