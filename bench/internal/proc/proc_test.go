package proc

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestATreeHoldsItsChildAndCountsItsTimeAfterTheEnd(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read line; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; read line")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	before, err := Look(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, s := range before {
		found = found || s.pid == cmd.Process.Pid
	}
	if !found {
		t.Fatalf("child %d is not in %+v", cmd.Process.Pid, before)
	}
	m := before.Memory()
	if m.PSS <= 0 || m.Private <= 0 || m.Processes < 2 || m.Files == 0 || m.Unreadable == m.Processes {
		t.Errorf("memory: %+v", m)
	}
	_, _ = in.Write([]byte("go\n"))
	if _, err := out.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Logf("the shell: %v", err) // its last read sees the end of its input
	}
	after, err := Look(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if spent := after.CPU() - before.CPU(); spent < 10*time.Millisecond {
		t.Errorf("%v of processor time were counted for a loop of 200,000 rounds", spent)
	}
}

func TestStatReadsAnyName(t *testing.T) {
	got, err := parseStat([]byte("42 (a) b (c)) S 7 1 1 0 -1 4 1 2 3 4 10 20 30 40 20 0 1 0 5"))
	if err != nil || got.pid != 42 || got.parent != 7 || got.name != "a) b (c)" || got.cpu != time.Second {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "42", "42 (a", "42 (a) S 1", "x (a) S 7 1 1 0 -1 4 1 2 3 4 10 20 30 40"} {
		if _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestRollupAddsUp(t *testing.T) {
	got := parseRollup([]byte("5-7 ---p 00 [rollup]\nRss:  900 kB\nPss:  300 kB\nPss_Dirty: 100 kB\nPrivate_Clean: 8 kB\nPrivate_Dirty: 16 kB\n"))
	if got.PSS != 300<<10 || got.Private != 24<<10 {
		t.Errorf("%+v", got)
	}
}

func TestAProcessThatIsGoneIsAnError(t *testing.T) {
	if _, err := Look(1 << 30); err == nil {
		t.Error("no error")
	}
}

func TestCgroupsAreCounted(t *testing.T) {
	if n := Cgroups(); n < 0 || n > mostCgroups {
		t.Error(n)
	}
}

// A thread is the nearest to a process that shares its parent's memory.
func TestSharesMemory(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if self := os.Getpid(); !sharesMemory(self, unix.Gettid()) || sharesMemory(self, os.Getppid()) {
		t.Errorf("a thread shares: %v, the parent shares: %v", sharesMemory(self, unix.Gettid()), sharesMemory(self, os.Getppid()))
	}
}
