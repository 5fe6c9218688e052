package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
)

// cell is one submission to a session: parsed, and compiled after the verdict,
// by a fresh child, then run by a copy of the session.
type cell struct {
	*program
	keeper  *sessions
	session *session
	ran     bool   // it was begun
	before  *image // what the session held before, and holds no more
}

// made is a cell's code and what its names stand for.
type made struct {
	code  []byte
	known map[string][]string
}

// Bounds of the code and of the names.
const (
	mostMade  = 16<<20 + 64
	mostKnown = 1 << 20
)

// parseCell is Parse for a source that names a session. The session's turn is
// the cell's until it is closed.
func (p *plugin) parseCell(ctx context.Context, src executor.Source) (executor.Program, error) {
	keeper, s, err := p.session(src.SessionID)
	if err != nil {
		return nil, executor.ErrSessionLost
	}
	if err := s.take(ctx); err != nil {
		return nil, context.Cause(ctx)
	}
	s.hasten()
	at, h := s.state()
	if at == nil || !h.alive() || !at.alive() {
		s.give()
		keeper.lose(s)
		return nil, executor.ErrSessionLost
	}
	prog, err := p.parse(ctx, src, place{cell: s.cells + 1, known: s.known})
	if err != nil {
		s.give()
		return nil, err
	}
	return &cell{program: prog, keeper: keeper, session: s}, nil
}

// Close implements executor.Program.
func (c *cell) Close() error {
	defer c.session.give()
	if c.ran {
		c.session.goAhead(c.before)
	}
	return c.program.Close()
}

// Run implements executor.Program.
func (c *cell) Run(ctx context.Context, g executor.Grant, out executor.Output) (executor.Result, error) {
	begin := time.Now()
	res, err := c.run(ctx, g, out)
	res.Usage.Wall, res.Usage.Parse = time.Since(begin), c.took
	res.Walls = c.child.z.walls()
	c.session.mu.Lock()
	c.session.used = time.Now()
	c.session.mu.Unlock()
	return res, err
}

func (c *cell) run(ctx context.Context, g executor.Grant, out executor.Output) (executor.Result, error) {
	m, err := c.compile(ctx, g)
	if err != nil {
		return c.refused(ctx, err)
	}
	c.laid = true
	go c.plugin.pool.retire(c.child)
	at, _ := c.session.state()
	if at == nil {
		return lostCell(nil)
	}
	img, copied, err := c.stage(ctx, at)
	if err != nil {
		c.keeper.lose(c.session)
		return lostCell(err)
	}
	c.ran = true
	return c.conduct(ctx, &performance{cell: c, at: at, img: img, copied: copied, grant: g, made: m}, out)
}

// stage gives the process that is to run the cell, awake: a copy of at, or at
// itself where there can be none.
func (c *cell) stage(ctx context.Context, at *image) (*image, bool, error) {
	switch a := c.session.ready(); {
	case a == nil || a.err == nil && a.img == nil:
		return c.stageNow(ctx, at)
	case a.err != nil:
		a.discard()
		return nil, false, a.err
	case !a.img.alive():
		a.discard()
		return c.stageNow(ctx, at)
	default:
		a.img.signal(unix.SIGCONT)
		return a.img, true, nil
	}
}

// stageNow is stage where nothing was made ahead.
func (c *cell) stageNow(ctx context.Context, at *image) (*image, bool, error) {
	img, b, err := at.step(ctx, command{})
	if err == nil && !b.Checkpoint {
		c.child.z.log.Debug("a cell runs without a copy to go back to", "why", b.Why)
	}
	return img, b.Checkpoint, err
}

// refused is for a cell that was not made: the session is as it was.
func (c *cell) refused(ctx context.Context, err error) (executor.Result, error) {
	var compile *executor.CompileError
	res := executor.Result{SessionState: executor.SessionKept}
	switch {
	case ctx.Err() != nil:
		res.LimitFired = limitName(context.Cause(ctx))
		return res, context.Cause(ctx)
	case errors.As(err, &compile):
		res.Status, res.Problem = executor.StatusCompileError, &compile.Problem
		return res, nil
	}
	return res, err
}

func lostCell(err error) (executor.Result, error) {
	if err == nil {
		err = executor.ErrSessionLost
	}
	return executor.Result{SessionState: executor.SessionLost}, fmt.Errorf("%w: %w", executor.ErrSessionLost, err)
}

// compile has the child that parsed the cell make it into code.
func (c *cell) compile(ctx context.Context, g executor.Grant) (made, error) {
	for try := 1; ; try++ {
		m, err := c.compileOnce(ctx, g)
		switch {
		case !errors.Is(err, errLost) || ctx.Err() != nil:
			return m, err
		case try == mostRuns:
			return m, fmt.Errorf("%w: %w", executor.ErrOverloaded, err)
		}
		if err := c.revive(ctx); err != nil {
			return made{}, err
		}
	}
}

func (c *cell) compileOnce(ctx context.Context, g executor.Grant) (made, error) {
	header, err := json.Marshal(c.order(g))
	if err != nil {
		return made{}, fmt.Errorf("write the compile frame: %w", err)
	}
	defer context.AfterFunc(ctx, c.child.kill)()
	c.child.send(appendFrame(nil, frameCompile, header))
	names, err := c.child.made(frameAliases, mostKnown)
	if err != nil {
		return made{}, err
	}
	known, err := parseAliases(names)
	if err != nil {
		return made{}, err
	}
	code, err := c.child.made(frameMade, mostMade)
	if err != nil {
		return made{}, err
	}
	return made{known: known}.with(code)
}

// made reads one frame of what a child makes of a cell.
func (c *child) made(want kind, most uint64) ([]byte, error) {
	k, payload, err := readFrame(c.control, map[kind]uint64{want: most, frameCompileError: problemBytes, frameTooLarge: 0})
	switch {
	case errors.Is(err, errFrame):
		return nil, err
	case err != nil:
		return nil, c.parseDeath()
	case k == frameTooLarge:
		return nil, executor.ErrTreeTooLarge
	case k == frameCompileError:
		p, err := parseProblem(payload)
		if err != nil {
			return nil, err
		}
		return nil, &executor.CompileError{Problem: p}
	}
	return payload, nil
}

// with takes the code, whose digest must be right.
func (m made) with(payload []byte) (made, error) {
	if len(payload) < sha256.Size+4 || sha256.Sum256(payload[sha256.Size:]) != [sha256.Size]byte(payload[:sha256.Size]) {
		return m, fmt.Errorf("%w: code with another digest", errFrame)
	}
	m.code = payload
	return m, nil
}

func parseAliases(payload []byte) (map[string][]string, error) {
	known := map[string][]string{}
	if err := json.Unmarshal(payload, &known); err != nil {
		return nil, fmt.Errorf("%w: aliases: %w", errFrame, err)
	}
	return known, nil
}

// performance is one run of a cell.
type performance struct {
	cell   *cell
	at     *image // what the session held before
	img    *image // what runs the cell
	copied bool   // it is a copy of at, not at itself
	grant  executor.Grant
	made   made
	stop   *interrupt
	before time.Duration // processor time that the process had used
	kills  uint64        // for memory, in the house, before the cell
	keep   bool          // the session goes on from what the cell left
}

// conduct runs a cell and settles what becomes of the session.
func (c *cell) conduct(ctx context.Context, p *performance, out executor.Output) (executor.Result, error) {
	s := c.session
	p.stop = &interrupt{img: p.img}
	s.mu.Lock()
	s.running, s.stop, s.cells = p.img, p.stop, s.cells+1
	over := s.over
	s.mu.Unlock()
	if over {
		p.img.kill()
	}
	if !p.copied {
		earlier, _ := p.img.measure()
		p.before = earlier.cpu
	}
	p.kills = p.img.house.kills()
	told, seen, err := p.attend(ctx, out)
	res, verdict := p.judge(ctx, told, seen, err)
	deliver(told, p.grant.Limits.ArtifactBytes, out, &res)
	res.Usage.CPU, res.Usage.MaxRSSBytes = seen.cpu, seen.rss
	p.settle(seen, &res)
	return res, verdict
}

// attend sees the cell to its end.
func (p *performance) attend(ctx context.Context, out executor.Output) (*said, exit, error) {
	img, s := p.img, &said{}
	if err := img.house.tighten(p.grant.Limits); err != nil {
		img.kill()
		return s, img.gone(), err
	}
	defer context.AfterFunc(ctx, func() { p.stop.insist(context.Cause(ctx)) })()
	var streams sync.WaitGroup
	pool := p.cell.plugin.pool
	streams.Go(func() { pool.drain(watch{out.Stdout(), &s.shown}, img.stdout) })
	streams.Go(func() { pool.drain(watch{out.Stderr(), &s.shown}, img.stderr) })
	go feed(img.stdin, p.cell.src.Stdin)
	err := p.hear(s)
	p.stop.over() // whatever comes now is too late
	seen, measured := exit{}, false
	if s.end != nil {
		seen, measured = img.measure()
		seen.forbidden = img.forbade()
		seen.cpu -= p.before
	}
	if p.keep = p.keeps(s); !p.keep {
		img.kill()
		if end := img.gone(); !measured {
			seen = end
			seen.memory = end.status.Signaled() && img.house.kills() > p.kills
		}
	}
	finishReading(img.stdout, img.stderr) // what it printed it flushed
	streams.Wait()
	return s, seen, err
}

// hear sends the cell and listens to what it says, until it has ended or says
// that it has.
func (p *performance) hear(s *said) error {
	order, err := json.Marshal(p.order())
	if err != nil {
		return fmt.Errorf("write the run frame: %w", err)
	}
	heard := make(chan struct{})
	defer close(heard)
	go p.meter(heard)
	p.img.send(appendFrame(appendFrame(nil, frameRun, order), frameMade, p.made.code))
	return p.img.listen(p.grant, s)
}

// keeps says whether the session goes on from what the cell left. It does when
// the cell told of its end, unless a limit fired and there is a state to go back
// to. A stop that the caller wished for is no limit.
func (p *performance) keeps(s *said) bool {
	switch {
	case s.end == nil || p.img.forbade() != "":
		return false
	case !p.copied:
		return true
	}
	return !s.end.Memory && (p.stop.cause() == nil || errors.Is(p.stop.cause(), executor.ErrCancelled))
}

func (p *performance) order() order {
	o := p.cell.order(p.grant)
	if o.Tasks != 0 && o.Tasks != sharedTasks {
		o.Tasks = uint32(p.img.house.tasks(p.grant.Limits)) //nolint:gosec // thousands
	}
	return o
}

// judge decides how the cell ended.
func (p *performance) judge(ctx context.Context, s *said, seen exit, heard error) (executor.Result, error) {
	cause := p.stop.cause()
	switch {
	case s.end == nil && seen.lost:
		return lostCell(errLost)
	case cause == nil:
		return judge(context.WithoutCancel(ctx), p.grant.Limits, s, seen, heard)
	}
	res := executor.Result{LimitFired: limitName(cause)}
	if s.end != nil && s.end.Problem != nil {
		problem := s.end.Problem.problem()
		res.Problem = &problem
	}
	return res, cause
}

// settle makes the session hold what it holds from now on.
func (p *performance) settle(seen exit, res *executor.Result) {
	s := p.cell.session
	keep, copied := p.keep, p.copied
	s.mu.Lock()
	s.running, s.stop = nil, nil
	lost := s.over || seen.lost
	if keep {
		s.at, s.known = p.img, p.made.known
	}
	s.mu.Unlock()
	switch {
	case lost:
		p.at.discard()
		p.img.discard()
		res.SessionState = executor.SessionLost
		p.cell.keeper.lose(s)
	case keep && copied:
		p.cell.before = p.at
		res.SessionState = executor.SessionKept
	case keep:
		p.at.closeFiles()
		p.at.pidfd.Close()
		res.SessionState = executor.SessionKept
	case copied:
		p.img.discard()
		res.SessionState = executor.SessionRolledBack
	default:
		p.img.discard()
		res.SessionState = executor.SessionLost
		p.cell.keeper.lose(s)
	}
}

// meter ends a cell that uses more processor time than it may, on all its
// threads: the kernel's own limit goes by whole seconds, and can be raised. So can
// that of memory, up to the session's own, and the control group's has room for what
// the cell goes back to. It also notices the cell's death: what the cell is a copy of is stopped and may
// hold its socket open.
func (p *performance) meter(done <-chan struct{}) {
	limit, most := p.grant.Limits.CPU, p.mostMemory()
	tick := time.NewTicker(meterEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-p.img.ended:
			_ = p.img.control.SetReadDeadline(time.Unix(1, 0))
			return
		case <-tick.C:
		}
		switch now, ok := p.img.measure(); {
		case !ok:
		case limit > 0 && now.cpu-p.before > limit+meterSlack:
			p.stop.ask(executor.ErrCPU)
			limit = 0
		case now.rss > most:
			p.stop.ask(executor.ErrMemory)
		}
	}
}

// mostMemory is more than a cell within its limit has at once. What a process has had
// is known of a copy alone: others have a past.
func (p *performance) mostMemory() uint64 {
	if !p.copied {
		return math.MaxUint64
	}
	limit := p.grant.Limits.MemoryBytes
	fill(&limit, p.cell.plugin.cfg.MemoryBytes)
	return limit + p.img.z.about.RSSBytes + groupSlack
}

const (
	meterEvery = 200 * time.Millisecond
	meterSlack = 1500 * time.Millisecond
)

// interrupt stops a cell: as Ctrl-C does, and for good when that does not help.
type interrupt struct {
	img *image

	mu    sync.Mutex
	why   error
	ended bool
	timer *time.Timer
}

// heedWithin is how long a cell has to end when it is interrupted. The kit waits
// a little longer.
const heedWithin = 450 * time.Millisecond

// ask stops the cell because of cause. The first cause counts.
func (i *interrupt) ask(cause error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ended || i.why != nil {
		return
	}
	i.why = cause
	if errors.Is(cause, executor.ErrOutput) || errors.Is(cause, executor.ErrMemory) {
		i.img.kill()
		return
	}
	i.img.signal(unix.SIGINT)
	i.timer = time.AfterFunc(heedWithin, i.img.kill)
}

// insist stops the cell because of cause, and for good when it was asked before.
func (i *interrupt) insist(cause error) {
	if i.cause() != nil {
		i.img.kill()
		return
	}
	i.ask(cause)
}

// over says that the cell has ended.
func (i *interrupt) over() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	if i.timer != nil {
		i.timer.Stop()
	}
}

func (i *interrupt) cause() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.why
}
