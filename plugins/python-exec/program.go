package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
)

// program is one parsed submission, held by the child that parsed it.
type program struct {
	plugin  *plugin
	src     executor.Source
	tree    executor.Tree
	child   *child
	took    time.Duration // parsing
	place   place
	stopped bool // the child has run and said so; it runs nothing more
	laid    bool // and was given to the pool
}

// Tree implements executor.Program.
func (p *program) Tree() executor.Tree { return p.tree }

// Close implements executor.Program.
func (p *program) Close() error {
	if !p.laid {
		p.plugin.pool.retire(p.child)
	}
	return nil
}

// Run implements executor.Program. A run that was lost with its interpreter and
// has shown nothing yet is begun again: it had no effect outside its walls.
func (p *program) Run(ctx context.Context, g executor.Grant, out executor.Output) (executor.Result, error) {
	begin := time.Now()
	for try := 1; ; try++ {
		if !p.child.alive() {
			if err := p.revive(ctx); err != nil {
				return executor.Result{}, err
			}
		}
		header, err := json.Marshal(p.order(g))
		if err != nil {
			return executor.Result{}, fmt.Errorf("write the run frame: %w", err)
		}
		said, seen, err := p.attend(ctx, appendFrame(nil, frameRun, header), g, out)
		if seen.lost && said.end == nil && !said.shown.Load() && try < mostRuns && ctx.Err() == nil {
			continue
		}
		res, verdict := judge(ctx, g.Limits, said, seen, err)
		deliver(said, g.Limits.ArtifactBytes, out, &res)
		res.Usage = executor.Usage{Wall: time.Since(begin), CPU: seen.cpu, Parse: p.took, MaxRSSBytes: seen.rss}
		res.Walls = p.child.z.walls()
		switch p.laid = p.stopped; {
		case p.laid:
			p.plugin.pool.lay(p.child)
		case said.end == nil:
			p.plugin.pool.refill()
		}
		return res, verdict
	}
}

// mostRuns bounds how often a run is begun.
const mostRuns = 3

// revive parses the text again when the child died before anything ran. The
// tree must be the one that was judged.
func (p *program) revive(ctx context.Context) error {
	again, err := p.plugin.parse(ctx, p.src, p.place)
	if err != nil {
		return err
	}
	p.child.discard()
	p.child = again.child
	if again.tree.Digest() != p.tree.Digest() {
		return fmt.Errorf("parse again: %w: another tree", errFrame)
	}
	return nil
}

// order is what the child is told of the verdict.
func (p *program) order(g executor.Grant) order {
	o := order{
		Grants: g.Grants, ValueWanted: p.src.ValueWanted, Memory: g.Limits.MemoryBytes,
		ScratchBytes: g.Limits.ScratchBytes, ArtifactBytes: g.Limits.ArtifactBytes,
	}
	if g.Limits.CPU > 0 {
		o.CPUSeconds = uint64(math.Ceil((g.Limits.CPU + cpuRoom).Seconds()))
	}
	if o.Grants == nil {
		o.Grants = []string{}
	}
	fill(&o.Memory, p.plugin.cfg.MemoryBytes)
	fill(&o.ScratchBytes, p.plugin.cfg.ScratchBytes)
	o.Tasks = p.child.tasks(g.Limits)
	return o
}

// cpuRoom is what a child has used before its program begins, and what the
// kernel's count of ticks runs ahead: with as much processor time as wall-clock
// time, a program of one thread meets the wall-clock limit.
const cpuRoom = 500 * time.Millisecond

// sharedTasks bounds all children together where they share a uid.
const sharedTasks = 1024

// tasks is how many processes and threads the kernel lets the child's uid have.
func (c *child) tasks(l executor.Limits) uint32 {
	switch {
	case c.uid != 0:
		fill(&l.Threads, defaultThreads)
		return 1 + l.Threads + l.Processes
	case c.z.proc.userNS:
		return sharedTasks // counted within the user namespace
	}
	return 0 // it would count the user's other processes
}

// said is what the child told of the run.
type said struct {
	end    *end
	figure []byte
	shown  atomic.Bool // it wrote something, which went to the caller
}

// attend lets the child run, passes its output on, and returns when it has said
// how it ended, or has ended without a word, and all of its output is read.
func (p *program) attend(ctx context.Context, start []byte, g executor.Grant, out executor.Output) (*said, exit, error) {
	c, s := p.child, &said{}
	if err := c.tighten(g.Limits); err != nil {
		return s, exit{}, err
	}
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	var streams sync.WaitGroup
	pool := p.plugin.pool
	streams.Go(func() { pool.drain(watch{out.Stdout(), &s.shown}, c.stdout) })
	streams.Go(func() { pool.drain(watch{out.Stderr(), &s.shown}, c.stderr) })
	if len(p.src.Stdin) == 0 {
		c.stdin.Close()
	} else {
		go feed(c.stdin, p.src.Stdin)
	}
	c.send(start)
	err := c.listen(g, s)
	seen, measured := exit{}, false
	if s.end != nil && c.forbade() == "" {
		seen, measured = c.measure()
	}
	if p.stopped = measured && c.light(seen); p.stopped {
		c.signal(unix.SIGSTOP) // it has said its last word: see pool.lay
	} else {
		c.kill() // or has no more to say
	}
	if measured {
		// What it printed it flushed before its last word. Its end, some
		// milliseconds of freeing memory, is not waited for.
		finishReading(c.stdout, c.stderr)
		streams.Wait()
		return s, seen, err
	}
	seen = c.await()
	// Whatever it wrote is in the pipes; what it left behind is being ended, and
	// may not hold the answer up.
	timer := time.AfterFunc(drainWithin, func() { finishReading(c.stdout, c.stderr) })
	defer timer.Stop()
	streams.Wait()
	return s, seen, err
}

const drainWithin = 300 * time.Millisecond

// watch notes that something is written.
type watch struct {
	to    io.Writer
	shown *atomic.Bool
}

func (w watch) Write(p []byte) (int, error) {
	w.shown.Store(true)
	return w.to.Write(p)
}

// finishReading lets drain return once it has read what is there now.
func finishReading(files ...*os.File) {
	for _, f := range files {
		_ = f.SetReadDeadline(time.Unix(1, 0)) // a pipe has deadlines
	}
}

// drain passes on what a child writes, until its end or finishReading.
func (p *pool) drain(to io.Writer, from *os.File) {
	kept, ok := p.buffers.Get().(*[drainBytes]byte)
	if !ok {
		kept = new([drainBytes]byte)
	}
	defer p.buffers.Put(kept)
	buf := kept[:]
	for {
		n, err := from.Read(buf)
		if n > 0 {
			_, _ = to.Write(buf[:n]) // never fails, says the contract
		}
		if err != nil {
			break
		}
	}
	raw, err := from.SyscallConn()
	if err != nil {
		return
	}
	// The deadline ends a Read without a look at the pipe. At most what fits a
	// pipe is left, whoever else may be writing.
	for left := pipeBytes; left > 0; {
		n := 0
		if err := raw.Control(func(fd uintptr) { n, err = unix.Read(int(fd), buf) }); err != nil || n <= 0 { //nolint:gosec // a descriptor
			return
		}
		_, _ = to.Write(buf[:n])
		left -= n
	}
}

// drainBytes is what a pipe holds.
const drainBytes = 64 << 10

// pipeBytes is more than a pipe holds.
const pipeBytes = 1 << 20

func feed(to *os.File, data []byte) {
	_, _ = to.Write(data) // a program need not read it
	to.Close()
}

// listen reads the child's frames up to its end.
func (c *child) listen(g executor.Grant, s *said) error {
	limits := frameLimits(0, g.Limits.ArtifactBytes)
	if g.Limits.ArtifactBytes == 0 {
		limits[frameFigure] = defaultArtifactBytes
	}
	for {
		k, payload, err := readFrame(c.control, limits)
		switch {
		case err != nil:
			return err
		case k == frameFigure && s.figure == nil:
			s.figure = payload
		case k == frameEnd:
			e, err := parseEnd(payload)
			if err != nil {
				return err
			}
			s.end = &e
			return nil
		default:
			return fmt.Errorf("%w: kind %q after the verdict", errFrame, byte(k))
		}
	}
}

const defaultArtifactBytes = 2 << 20

// signalName is the kernel's name of a signal.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}
