package targets

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/proc"
)

// startWithin bounds the imports of a baseline.
const startWithin = 90 * time.Second

// baselineEnv is the environment of every baseline: nothing of the caller's,
// and one BLAS thread, as Sluice's own children have.
func baselineEnv(more ...string) []string {
	return append([]string{
		"LANG=C.UTF-8", "TZ=UTC", "HOME=/tmp", "PATH=/usr/bin:/bin",
		"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1", "PYTHONDONTWRITEBYTECODE=1",
	}, more...)
}

// started is a baseline process that stays. Its first line says that it is
// ready.
type started struct {
	key, title string
	cmd        *exec.Cmd
	stdin      io.WriteCloser
	lines      *bufio.Reader
	first      string
}

// start runs one of the baseline files and waits for its first line.
func start(ctx context.Context, c Config, key, title string, env []string, file string, args ...string) (*started, error) {
	s := &started{key: key, title: title}
	s.cmd = exec.Command(c.Python, append([]string{"-I", filepath.Join(c.Baseline, file)}, args...)...) //nolint:noctx // it ends with Close, not with a call
	s.cmd.Env, s.cmd.Stderr = baselineEnv(env...), os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		s.stdin, err = s.cmd.StdinPipe()
	}
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", title, err)
	}
	s.lines = bufio.NewReaderSize(out, 1<<20)
	if err := s.awaitFirst(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", title, err), s.Close())
	}
	return s, nil
}

func (s *started) awaitFirst(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = s.cmd.Process.Kill() })
	defer stop()
	line, err := s.lines.ReadString('\n')
	if err != nil {
		return fmt.Errorf("it did not become ready: %w", err)
	}
	s.first = strings.TrimSpace(line)
	return nil
}

// address is the loopback address whose port the first line gave.
func (s *started) address() (string, error) {
	port, err := strconv.Atoi(s.first)
	if err != nil || port < 1 || port > 65535 {
		return "", fmt.Errorf("start %s: its first line %.60q is no port", s.title, s.first)
	}
	return "127.0.0.1:" + s.first, nil
}

// Key implements Target.
func (s *started) Key() string { return s.key }

// Title implements Target.
func (s *started) Title() string { return s.title }

// Slow implements Target.
func (s *started) Slow() bool { return false }

// CPU implements Target.
func (s *started) CPU() (time.Duration, error) { return treeCPU(s.cmd.Process.Pid) }

// Memory implements Target.
func (s *started) Memory() (proc.Memory, error) { return treeMemory(s.cmd.Process.Pid) }

// Close ends the process and its group, which are its own.
func (s *started) Close() error {
	s.stdin.Close()
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("end %s: %w", s.title, err)
	}
	return nil
}
