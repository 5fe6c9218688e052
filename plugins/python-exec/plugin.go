package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// plugin implements executor.Executor, Configurer, HealthChecker and SessionKeeper.
type plugin struct {
	less lessened     // for tests
	log  *slog.Logger // nil until Configure, which takes the default

	mu   sync.Mutex
	cfg  settings
	pool *pool
	kept *sessions
}

func newPlugin() *plugin { return &plugin{} }

// Configure implements executor.Configurer. It starts the interpreter and does
// not wait until it is warm: CheckHealth tells when.
func (p *plugin) Configure(ctx context.Context, c executor.Config) ([]string, error) {
	cfg, err := parseSettings(c.JSON)
	if err != nil {
		return nil, err
	}
	ground, warnings, err := newGround(ctx, cfg, p.less)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pool != nil {
		return nil, errors.New("configure: called twice")
	}
	if p.log == nil {
		p.log = slog.Default()
	}
	pool, err := newPool(ground, p.log)
	if err != nil {
		return nil, err
	}
	p.cfg, p.pool, p.kept = cfg, pool, newSessions(pool)
	return warnings, nil
}

func (p *plugin) running() (*pool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pool == nil {
		return nil, errors.New("not configured")
	}
	return p.pool, nil
}

// mostTries bounds how often a submission is handed to another child because
// the interpreter died under it.
const mostTries = 8

var errNoChild = fmt.Errorf("%w: no interpreter came free in time", executor.ErrOverloaded)

// Parse implements executor.Executor.
func (p *plugin) Parse(ctx context.Context, src executor.Source) (executor.Program, error) {
	if src.SessionID != "" {
		return p.parseCell(ctx, src)
	}
	if src.JudgeOnly {
		return p.read(ctx, src)
	}
	program, err := p.parse(ctx, src, place{})
	if err != nil {
		return nil, err
	}
	return program, nil
}

// place is where in a session a text stands; the zero place is in none.
type place struct {
	cell  uint64 // from 1
	known map[string][]string
}

func (p *plugin) parse(ctx context.Context, src executor.Source, at place) (*program, error) {
	pool, err := p.running()
	if err != nil {
		return nil, err
	}
	patience, cancel := context.WithTimeoutCause(ctx, executor.ParseWait, errNoChild)
	defer cancel()
	for range mostTries {
		c, err := pool.acquire(patience)
		if err != nil {
			return nil, err
		}
		program, err := p.parseIn(ctx, c, src, at)
		if err == nil {
			return program, nil
		}
		c.discard()
		if !errors.Is(err, errLost) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: %w", executor.ErrOverloaded, errLost)
}

// parseIn hands src to c, within the parse limit: waiting for a child is not
// the submission's time.
func (p *plugin) parseIn(ctx context.Context, c *child, src executor.Source, at place) (*program, error) {
	wall := src.ParseLimits.Wall
	if wall <= 0 {
		wall = time.Duration(p.cfg.ParseSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wall, executor.ErrWall)
	defer cancel()
	begin := time.Now()
	tree, err := c.parse(ctx, p.question(src, at), src.Code)
	if err != nil {
		return nil, err
	}
	return &program{plugin: p, src: src, tree: tree, child: c, took: time.Since(begin), place: at}, nil
}

// question is what a child is asked about src.
func (p *plugin) question(src executor.Source, at place) ask {
	what := ask{
		Sections: src.Sections, MaxTreeBytes: src.MaxTreeBytes, Memory: src.ParseLimits.MemoryBytes,
		Cell: at.cell, Known: at.known,
	}
	if what.MaxTreeBytes == 0 || what.MaxTreeBytes > maxTreeBytes {
		what.MaxTreeBytes = maxTreeBytes
	}
	fill(&what.Memory, p.cfg.MemoryBytes)
	return what
}

// CheckHealth implements executor.HealthChecker. A deep check parses a constant
// and waits for the interpreter to be warm.
func (p *plugin) CheckHealth(ctx context.Context, deep bool) error {
	pool, err := p.running()
	if err != nil {
		return err
	}
	if !deep {
		return pool.ready()
	}
	program, err := p.parse(ctx, executor.Source{Language: languageID, Code: []byte("1\n")}, place{})
	if err != nil {
		return fmt.Errorf("self test: %w", errors.Join(err, pool.ready()))
	}
	return program.Close()
}

// keeper keeps the sessions.
func (p *plugin) keeper() (*sessions, error) {
	if _, err := p.running(); err != nil {
		return nil, err
	}
	return p.kept, nil
}

// close ends the interpreter and all its children.
func (p *plugin) close() {
	if pool, err := p.running(); err == nil {
		p.kept.close()
		pool.close()
	}
}
