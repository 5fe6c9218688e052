package pluginhost

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

func TestBreachOfTheContractEndsInQuarantine(t *testing.T) {
	t.Parallel()
	b := start(t, quick(), bird(t, "parrot"))
	pid := b.pid()
	if _, _, err := b.say(t.Context(), "lie:x"); !errors.Is(err, gateway.ErrPluginFault) {
		t.Fatalf("got %v, want a breach of the contract", err)
	}
	until(t, "it is in quarantine", func() bool { return b.state() == Quarantined })
	if alive(pid) {
		t.Error("the process of a plugin in quarantine lives")
	}
	if _, _, err := b.say(t.Context(), ":x"); !errors.Is(err, gateway.ErrPluginDown) {
		t.Errorf("a request to a plugin in quarantine got %v", err)
	}
	if err := b.Release("bird"); err != nil {
		t.Fatal(err)
	}
	until(t, "it is back", func() bool { return b.state() == Healthy })
	mustSay(t, b, ":again", "again")
}

// TestStoppedInMidStream: a caller gets an answer by the host's own deadline or
// when the process is found hung, whichever comes first.
func TestStoppedInMidStream(t *testing.T) {
	t.Parallel()
	b := start(t, patient(), bird(t, "parrot"))
	pid := b.pid()
	target, err := b.Find("parrot")
	if err != nil {
		t.Fatal(err)
	}
	sub, err := target.Submit(t.Context(), executor.Source{ID: "r", Language: "parrot", Tool: "parrot_say", Code: []byte(":sleep 20s")})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	begin := time.Now()
	_, err = sub.Run(t.Context(), executor.Grant{Limits: executor.Limits{Wall: 300 * time.Millisecond}}, func(executor.Stream, []byte) {
		_ = unix.Kill(pid, unix.SIGSTOP)
	})
	if took := time.Since(begin); !errors.Is(err, gateway.ErrPluginDied) || took > 4*time.Second {
		t.Errorf("got %v after %v; want a lost plugin within the wall limit and 2 s", err, took)
	}
}

func TestCloseInAHurryCutsOff(t *testing.T) {
	t.Parallel()
	b := newBench(t, patient(), bird(t, "parrot"))
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() {
		_, _, err := b.say(context.Background(), ":sleep 9s")
		result <- err
	}()
	until(t, "it runs", func() bool { return b.Status()[0].Inflight == 1 })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if err := b.Close(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("a hurried stop took %v", took)
	}
	if err := <-result; !errors.Is(err, gateway.ErrPluginDied) && !errors.Is(err, gateway.ErrPluginDown) {
		t.Errorf("the program that was cut off got %v", err)
	}
}

// TestNothingIsLeftOver crashes and restarts many times.
func TestNothingIsLeftOver(t *testing.T) {
	times := quick()
	times.exits = 1 << 30 // no quarantine here
	b := start(t, times, bird(t, "parrot"))
	mustSay(t, b, ":warm", "warm")
	count := func() (fds, files, goroutines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		_ = filepath.WalkDir(b.root, func(string, fs.DirEntry, error) error { files++; return nil })
		return len(entries), files, runtime.NumGoroutine()
	}
	fds, files, goroutines := count()
	for range number(t, crashesVariable, 30) {
		pid := b.pid()
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		until(t, "another serves", func() bool { return b.pid() != pid && b.state() == Healthy })
		mustSay(t, b, ":again", "again")
	}
	until(t, "all is as before", func() bool {
		f, d, g := count()
		return f <= fds+2 && d <= files && g <= goroutines+4
	})
}

// TestAsNobody runs tests again as a user without rights, where the plugin gets
// its namespaces through a user namespace, if at all.
func TestAsNobody(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED LOUDLY: this run is not by root, so the other tests were run without rights already")
	}
	dir := shortDir(t)
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "test")
	data, err := os.ReadFile(testExe(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.v", "-test.run", "^Test(Serves|KilledUnderLoad|GatewayKilled|PinnedCopy|CloseDrains|StopOfAHung)")
	cmd.Env, cmd.Dir = []string{"TMPDIR=" + dir, "HOME=" + dir}, dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "--- ") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil || strings.Count(string(out), "--- PASS") < 6 {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

// TestWithoutNamespaces: where the kernel gives none, a plugin is still ended
// whole, by its group.
func TestWithoutNamespaces(t *testing.T) {
	t.Parallel()
	b := newBench(t, quick(), bird(t, "parrot"))
	b.offer = sandbox.Offer{}
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustSay(t, b, ":plain", "plain")
	pid := b.pid()
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	mustSay(t, b, ":again", "again")
	for _, w := range b.Status()[0].Walls {
		if w.Name == "namespaces" && (w.InForce || w.Why == "") {
			t.Errorf("wall %+v", w)
		}
	}
}

// TestDownIsToldInTime: a plugin that cannot be started again.
func TestDownIsToldInTime(t *testing.T) {
	t.Parallel()
	p := bird(t, "parrot")
	p.Command = filepath.Join(shortDir(t), "program")
	data, err := os.ReadFile(testExe(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Command, data, 0o700); err != nil {
		t.Fatal(err)
	}
	times := quick()
	times.down, times.exits = 100*time.Millisecond, 1<<30
	b := start(t, times, p)
	if err := os.Remove(p.Command); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(b.pid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "it is down", func() bool { return b.pid() == 0 })
	begin := time.Now()
	_, _, err = b.say(t.Context(), ":x")
	if took := time.Since(begin); !errors.Is(err, gateway.ErrPluginDown) || took > 5*time.Second {
		t.Errorf("got %v after %v", err, took)
	}
	if b.Ready() {
		t.Error("the host says that it is ready")
	}
}
