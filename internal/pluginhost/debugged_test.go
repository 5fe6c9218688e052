package pluginhost

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestADebuggedPluginIsWaitedFor: one that nobody holds is replaced, see
// TestHungPluginIsReplaced.
func TestADebuggedPluginIsWaitedFor(t *testing.T) {
	t.Parallel()
	times := quick()
	times.traced = func(int) bool { return true }
	b := start(t, times, bird(t, "parrot"))
	pid := b.pid()
	stop := func(s unix.Signal) {
		if err := unix.Kill(pid, s); err != nil {
			t.Fatal(err)
		}
	}
	stop(unix.SIGSTOP)
	until(t, "it is told", func() bool { return strings.Contains(b.log.String(), "it is waited for") })
	stop(unix.SIGCONT)
	until(t, "it is well again", func() bool { return b.state() == Healthy })
	if b.pid() != pid {
		t.Error("it was ended under its debugger")
	}
	mustSay(t, b, ":again", "again")
}

// TestAPinnedPluginIsNotWaitedFor: nobody debugs in production.
func TestAPinnedPluginIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	times := quick()
	times.traced = func(int) bool { return true }
	spec := bird(t, "parrot")
	spec.Trust, spec.SHA256 = TrustPinned, digestOf(t, spec.Command)
	b := start(t, times, spec)
	k := b.pools[0].keepers[0]
	if k.debugged(k.current) {
		t.Error("it is waited for")
	}
}

func TestTracer(t *testing.T) {
	for status, want := range map[string]bool{
		"Name:\tx\nTracerPid:\t0\nUid:\t0\n": false, "Name:\tx\nTracerPid:\t4711\nUid:\t0\n": true, "Name:\tx\n": false, "": false,
		"Name:\tx\nTracerPid:\n": false,
	} {
		if got := tracerIn([]byte(status)); got != want {
			t.Errorf("%q: %v", status, got)
		}
	}
}
