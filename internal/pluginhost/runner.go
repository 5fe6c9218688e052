package pluginhost

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// maxHandshake bounds the line by which a plugin names its socket and its
// certificate.
const maxHandshake = 32 << 10

// child is a plugin's process as go-plugin sees it (its runner). Unlike
// go-plugin's own it tells death when the process is dead, not when its pipes
// are; it reads the pipes itself, so that what a plugin writes can neither fill
// them nor reach go-plugin's parser, which panics at some JSON; and it gives no
// standard input.
type child struct {
	offer sandbox.Offer
	pipes time.Duration
	log   *stderrLog

	line    *io.PipeReader // the first line of standard output
	lineEnd *io.PipeWriter
	silence *io.PipeReader // go-plugin's view of standard error: nothing, until the end
	endIt   *io.PipeWriter
	guard   *os.File // the plugin ends when this closes

	mu     sync.Mutex
	spec   sandbox.Spec
	socket string // directory in which the plugin must listen
	proc   *sandbox.Process
	killed bool
	gone   chan struct{} // closed when the process has ended and its pipes are read
}

var _ runner.Runner = (*child)(nil)

func newChild(offer sandbox.Offer, pipes time.Duration, log *stderrLog) *child {
	c := &child{offer: offer, pipes: pipes, log: log, gone: make(chan struct{})}
	c.line, c.lineEnd = io.Pipe()
	c.silence, c.endIt = io.Pipe()
	return c
}

// prepare says what Start will start and where the plugin must listen.
func (c *child) prepare(spec sandbox.Spec, socket string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spec, c.socket = spec, socket
}

// Start implements runner.Runner.
func (c *child) Start(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed || c.proc != nil {
		return errors.New("start a plugin: it was stopped before it started")
	}
	var fs pipeSet
	defer fs.closeChild()
	if err := fs.open(); err != nil {
		return err
	}
	c.spec.Stdout, c.spec.Stderr, c.spec.Files = fs.out[1], fs.err[1], []*os.File{fs.guard[0]}
	launch, err := sandbox.Plan(c.spec, c.offer)
	if err == nil {
		c.proc, err = launch.Start()
	}
	if err != nil {
		fs.closeHost()
		return err
	}
	c.guard = fs.guard[1]
	go c.watch(c.proc, fs.out[0], fs.err[0])
	return nil
}

// pipeSet holds the pipes of one child; index 0 reads.
type pipeSet struct{ out, err, guard [2]*os.File }

func (s *pipeSet) open() error {
	for _, p := range []*[2]*os.File{&s.out, &s.err, &s.guard} {
		r, w, err := os.Pipe()
		if err != nil {
			s.closeHost()
			return fmt.Errorf("make a pipe: %w", err)
		}
		p[0], p[1] = r, w
	}
	return nil
}

func (s *pipeSet) closeChild() { closeAll(s.out[1], s.err[1], s.guard[0]) }
func (s *pipeSet) closeHost()  { closeAll(s.out[0], s.err[0], s.guard[1]) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// watch reads the pipes and, when the process is dead, a little more of them.
func (c *child) watch(proc *sandbox.Process, stdout, stderr *os.File) {
	var pumps sync.WaitGroup
	pumps.Go(func() { c.pumpStdout(stdout) })
	pumps.Go(func() { c.log.pump(stderr) })
	<-proc.Done()
	soon := time.Now().Add(c.pipes)
	_ = stdout.SetReadDeadline(soon)
	_ = stderr.SetReadDeadline(soon)
	_ = c.lineEnd.Close()
	pumps.Wait()
	closeAll(stdout, stderr, c.guard)
	_ = c.endIt.Close()
	close(c.gone)
}

// pumpStdout hands on the handshake line and throws the rest away.
func (c *child) pumpStdout(stdout io.Reader) {
	r := bufio.NewReaderSize(stdout, maxHandshake)
	line, err := r.ReadSlice('\n')
	if err == nil {
		_, _ = c.lineEnd.Write(line)
	}
	_ = c.lineEnd.Close()
	_, _ = io.Copy(io.Discard, r)
}

// Stdout implements runner.Runner.
func (c *child) Stdout() io.ReadCloser { return c.line }

// Stderr implements runner.Runner.
func (c *child) Stderr() io.ReadCloser { return c.silence }

// Name implements runner.Runner.
func (c *child) Name() string { return filepath.Base(c.spec.Path) }

// Diagnose implements runner.Runner.
func (c *child) Diagnose(context.Context) string { return "" }

// ID implements runner.Runner; empty before the start.
func (c *child) ID() string {
	if pid := c.pid(); pid != 0 {
		return strconv.Itoa(pid)
	}
	return ""
}

func (c *child) pid() int {
	if p := c.process(); p != nil {
		return p.PID()
	}
	return 0
}

func (c *child) process() *sandbox.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proc
}

// Wait implements runner.Runner: it returns when the process is dead.
func (c *child) Wait(context.Context) error {
	p := c.process()
	if p == nil {
		return nil
	}
	<-c.gone
	if st := p.Wait(); st.Code != 0 {
		return errors.New(st.String())
	}
	return nil
}

// Kill implements runner.Runner: the process, its group and its PID namespace.
func (c *child) Kill(context.Context) error {
	c.kill()
	return nil
}

func (c *child) kill() {
	c.mu.Lock()
	c.killed = true
	p := c.proc
	c.mu.Unlock()
	if p != nil {
		p.Kill()
	}
}

// PluginToHost implements runner.Runner: a plugin may listen in its own
// directory and nowhere else.
func (c *child) PluginToHost(network, addr string) (string, string, error) {
	if network != "unix" || filepath.Dir(filepath.Clean(addr)) != c.socket || strings.ContainsRune(addr, 0) {
		return "", "", fmt.Errorf("%w: it listens at %q, not in the directory that it was given", errMistrust, clip(network+" "+addr, maxLogValue))
	}
	return network, addr, nil
}

// HostToPlugin implements runner.Runner.
func (c *child) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
