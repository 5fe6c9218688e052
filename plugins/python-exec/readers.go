package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// A reader is a child that parses one text after another and runs none: a fork
// and its warming cost many times what parsing does. It is for texts that were
// submitted to be judged only. What it says is believed where a child of the
// text's own would say the same; for anything else the text gets one.
type reader struct {
	*child
	texts int // that it was given
}

const (
	// mostTexts bounds what one reader is given: what a text could do to the
	// interpreter that parses it, it could do to so many after it.
	mostTexts = 128
	// readWithin is how long a reader may take with one text.
	readWithin = 2 * time.Second
	// readerIdle is how long readers wait for the next text.
	readerIdle = 5 * time.Second
)

// read parses a text of which nothing will be run.
func (p *plugin) read(ctx context.Context, src executor.Source) (executor.Program, error) {
	pool, err := p.running()
	if err != nil {
		return nil, err
	}
	patience, cancel := context.WithTimeoutCause(ctx, executor.ParseWait, errNoChild)
	defer cancel()
	r, err := pool.reader(patience)
	if err != nil {
		return nil, err
	}
	within, stop := context.WithTimeoutCause(ctx, readWithin, executor.ErrWall)
	defer stop()
	what := p.question(src, place{})
	what.Stays = true
	tree, err := r.parse(within, what, src.Code)
	switch {
	case err == nil:
		pool.giveBack(r)
		return shown{tree}, nil
	case alike(err):
		pool.giveBack(r)
		return nil, err
	}
	r.discard()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	program, err := p.parse(ctx, src, place{})
	if err != nil {
		return nil, err
	}
	return program, nil
}

// alike says whether a child that had parsed nothing before would say the same
// of the text: whatever depends on memory, depth or time is not alike.
func alike(err error) bool {
	var compile *executor.CompileError
	return errors.As(err, &compile) && compile.Type != "MemoryError" && compile.Type != "RecursionError"
}

// shown is a program of which the tree alone is there.
type shown struct{ tree executor.Tree }

// Tree implements executor.Program.
func (s shown) Tree() executor.Tree { return s.tree }

// Run implements executor.Program.
func (shown) Run(context.Context, executor.Grant, executor.Output) (executor.Result, error) {
	return executor.Result{}, fmt.Errorf("run: the text was submitted to be judged only")
}

// Close implements executor.Program.
func (shown) Close() error { return nil }

// reader takes a reader that waits, or makes one of a ready child.
func (p *pool) reader(ctx context.Context) (*reader, error) {
	p.mu.Lock()
	for n := len(p.readers); n > 0; n = len(p.readers) {
		r := p.readers[n-1]
		p.readers = p.readers[:n-1]
		if r.alive() {
			p.mu.Unlock()
			r.texts++
			return r, nil
		}
		r.discard()
	}
	p.mu.Unlock()
	c, err := p.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &reader{child: c, texts: 1}, nil
}

// giveBack lets a reader wait for another text, if it may have one.
func (p *pool) giveBack(r *reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || r.z != p.current || r.texts >= mostTexts || len(p.readers) >= p.cfg.WaitingChildren {
		r.discard()
		return
	}
	p.readers = append(p.readers, r)
	p.resting.Reset(readerIdle)
}

// rest ends the readers when nobody has wanted one for a while.
func (p *pool) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dismiss()
}

// dismiss ends all readers that wait. Called locked.
func (p *pool) dismiss() {
	for _, r := range p.readers {
		r.discard()
	}
	p.readers = nil
}
