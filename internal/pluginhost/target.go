package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// target is a tool of a plugin. It implements gateway.Target.
type target struct {
	pool     *pool
	tool     executor.Tool
	language executor.Language
}

var _ gateway.Target = (*target)(nil)

// Tool implements gateway.Target.
func (t *target) Tool() executor.Tool { return t.tool }

// Language implements gateway.Target.
func (t *target) Language() executor.Language { return t.language }

// Plugin implements gateway.Target.
func (t *target) Plugin() gateway.PluginInfo {
	info := gateway.PluginInfo{Name: t.pool.name, LanguageVersion: t.language.Version}
	if about := t.pool.about.Load(); about != nil {
		info.Name, info.Version = about.Name, about.Version
	}
	return info
}

// Submit implements gateway.Target.
func (t *target) Submit(ctx context.Context, src executor.Source) (gateway.Submission, error) {
	return t.pool.submit(ctx, src)
}

// submit sends a text, and once more when the process died before the verdict.
func (p *pool) submit(ctx context.Context, src executor.Source) (gateway.Submission, error) {
	text := src.Digest()
	for attempt := 0; ; attempt++ {
		sub, err := p.submitOnce(ctx, src, text, nil)
		if err == nil || attempt > 0 || !errors.Is(err, errRetry) {
			return sub, err
		}
		p.log.Debug("a process died before the verdict; the program goes to another", "request", src.ID)
	}
}

// errRetry marks the death of a process that had nothing run yet.
var errRetry = errors.New("nothing has run")

// submitOnce sends a text to the process named, or to any if there is none.
func (p *pool) submitOnce(ctx context.Context, src executor.Source, text digest, to *generation) (gateway.Submission, error) {
	leave, err := p.enterLane(ctx, text)
	if err != nil {
		return nil, err
	}
	var l *lease
	if to != nil {
		l, err = p.acquireIn(ctx, to, text)
	} else {
		l, err = p.acquire(ctx, text)
	}
	if err != nil {
		leave()
		return nil, err
	}
	sub, err := l.gen.client.Submit(ctx, src)
	l.opened()
	if err != nil {
		lost := errors.Is(err, wire.ErrLost) && !errors.Is(err, wire.ErrOverrun)
		err = p.fault(l.gen, err)
		l.release()
		leave()
		if lost {
			err = fmt.Errorf("%w (%w)", err, errRetry)
		}
		return nil, err
	}
	if sub.Ended() != nil {
		p.poison.clear(text)
	}
	return &submission{Submission: sub, lease: l, leave: leave}, nil
}

// enterLane refuses a text that took the plugin down twice, and lets suspects
// pass one at a time.
func (p *pool) enterLane(ctx context.Context, text digest) (leave func(), err error) {
	suspect, refused := p.poison.judge(text, time.Now())
	if refused {
		return nil, fmt.Errorf("this program was with plugin %q when it crashed, more than once, and is refused for a while: %w", p.name, gateway.ErrPluginDied)
	}
	if !suspect {
		return func() {}, nil
	}
	timer := time.NewTimer(p.times.busy)
	defer timer.Stop()
	select {
	case p.lane <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, fmt.Errorf("plugin %q crashed with this program; its turn did not come: %w", p.name, gateway.ErrPluginBusy)
	}
	leave = func() { <-p.lane }
	if _, refused = p.poison.judge(text, time.Now()); refused {
		leave()
		return p.enterLane(ctx, text)
	}
	return leave, nil
}

// fault maps an error of the package wire, and tells the keeper.
func (p *pool) fault(g *generation, err error) error {
	switch {
	case errors.Is(err, wire.ErrProtocol), errors.Is(err, wire.ErrRefused):
		p.mistrust(g, err)
		return fmt.Errorf("plugin %q: %w: %w", p.name, gateway.ErrPluginFault, err)
	case errors.Is(err, wire.ErrOverrun):
		p.overran(g, time.Now())
		return fmt.Errorf("plugin %q: %w: %w", p.name, gateway.ErrPluginDied, err)
	case errors.Is(err, wire.ErrLost):
		p.lost(g)
		p.awaitDeath(g)
		return fmt.Errorf("plugin %q: %w: %w", p.name, gateway.ErrPluginDied, err)
	}
	return err // ctx's own
}

// awaitDeath gives the keeper a moment to see the death of a process and blame
// those that were with it, before they leave.
func (p *pool) awaitDeath(g *generation) {
	timer := time.NewTimer(p.times.down)
	defer timer.Stop()
	select {
	case <-g.blamed:
	case <-timer.C:
	}
}

// submission is a text that is with a process. It implements
// gateway.Submission; the embedded one gives Tree and Ended.
type submission struct {
	*wire.Submission
	lease *lease
	leave func()
	over  bool
}

var _ gateway.Submission = (*submission)(nil)

// Run implements gateway.Submission.
func (s *submission) Run(ctx context.Context, g executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
	res, err := s.Submission.Run(ctx, g, out)
	if err != nil {
		return res, s.lease.pool.fault(s.lease.gen, err)
	}
	s.lease.pool.poison.clear(s.lease.text)
	if len(res.Walls) == 0 {
		res.Walls = standing(s.lease.gen.child.process().Walls())
	}
	return res, nil
}

// standing names the walls around a plugin: those around its programs too, where
// it says nothing of others.
func standing(walls []sandbox.Wall) (names []string) {
	for _, w := range walls {
		if w.InForce {
			names = append(names, w.Name)
		}
	}
	return names
}

// Deny implements gateway.Submission.
func (s *submission) Deny(decisionID string, reasons []string) {
	s.Submission.Deny(decisionID, reasons)
	if gen := s.lease.gen; gen.client.Strikes().Breaches > 0 {
		s.lease.pool.mistrust(gen, errors.New("wrong answer to a refusal"))
	}
}

// Close implements gateway.Submission.
func (s *submission) Close() {
	if s.over {
		return
	}
	s.over = true
	s.Submission.Close()
	s.lease.release()
	s.leave()
}
