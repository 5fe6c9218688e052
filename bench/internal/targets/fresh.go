package targets

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/load"
	"github.com/sluice-gateway/sluice/bench/internal/proc"
)

// fresh starts an interpreter per program, with nothing around it or with what
// prefix puts around it.
type fresh struct {
	key, title, before string
	command            []string // the program's file is added

	mu   sync.Mutex
	dir  string
	cpu  time.Duration
	peak int64
}

func newFresh(c Config, key, title, before string) *fresh {
	return &fresh{key: key, title: title, before: before, command: []string{c.Python, "-I"}}
}

// newBubblewrap is a fresh interpreter in the namespaces of bubblewrap.
func newBubblewrap(c Config) (Target, error) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, fmt.Errorf("%w: bwrap is not installed (Debian: apt-get install bubblewrap)", ErrMissing)
	}
	f := newFresh(c, "f", "bubblewrap around a fresh interpreter", "")
	walls := []string{bwrap, "--unshare-all", "--as-pid-1", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
	f.command = append(walls, f.command...)
	if out, err := exec.Command(bwrap, append(walls[1:], "/bin/true")...).CombinedOutput(); err != nil { //nolint:noctx // it ends at once
		return nil, fmt.Errorf("%w: bwrap does not work here: %.200s", ErrMissing, strings.TrimSpace(string(out)))
	}
	return f, nil
}

// Key implements Target.
func (f *fresh) Key() string { return f.key }

// Title implements Target.
func (f *fresh) Title() string { return f.title }

// Slow implements Target.
func (f *fresh) Slow() bool { return true }

// file writes the program to a file once.
func (f *fresh) file(p Program) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dir == "" {
		dir, err := os.MkdirTemp("", "sluice-bench-")
		if err != nil {
			return "", fmt.Errorf("make a folder for programs: %w", err)
		}
		f.dir = dir
	}
	name := filepath.Join(f.dir, p.Name+".py")
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	if err := os.WriteFile(name, []byte(f.before+p.withoutBrowser()), 0o600); err != nil {
		return "", fmt.Errorf("write a program: %w", err)
	}
	return name, nil
}

// Call implements Target.
func (f *fresh) Call(ctx context.Context, _ int, p Program) (Answer, load.Outcome, error) {
	name, err := f.file(p)
	if err != nil {
		return Answer{}, load.Answered, err
	}
	args := append(append([]string{}, f.command[1:]...), name)
	cmd := exec.CommandContext(ctx, f.command[0], args...) //nolint:gosec // the benchmark's own programs
	var out, words bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = baselineEnv(), &out, &words
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		return Answer{}, load.Answered, fmt.Errorf("%s: %w: %.300s", p.Name, err, words.String())
	}
	f.count(cmd.ProcessState)
	return Answer{Stdout: out.String()}, load.Answered, nil
}

func (f *fresh) count(state *os.ProcessState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cpu += state.UserTime() + state.SystemTime()
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		f.peak = max(f.peak, usage.Maxrss<<10)
	}
}

// CPU implements Target.
func (f *fresh) CPU() (time.Duration, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cpu, nil
}

// Memory is the peak of the largest process: resident memory, which is near
// its share when nothing else runs the same files.
func (f *fresh) Memory() (proc.Memory, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return proc.Memory{PSS: f.peak, Private: f.peak, Processes: 1}, nil
}

// Close implements Target.
func (f *fresh) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dir == "" {
		return nil
	}
	return os.RemoveAll(f.dir)
}
