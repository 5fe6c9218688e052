package pluginhost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

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
	b := newBench(t, patient(), bird(t, "parrot"))
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
	if st.Restarts != 4 || !strings.Contains(st.LastWords, "no such interpreter") || !strings.Contains(st.Why, "its last words: no such interpreter") || b.Ready() {
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
	b := start(t, patient(), p)
	mustSay(t, b, ":sealed", "sealed")
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", b.pid()))
	if err != nil || !strings.Contains(link, "memfd:plugin") {
		t.Errorf("the process runs %q, %v; want the sealed copy", link, err)
	}
}
