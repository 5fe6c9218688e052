package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// mostSessions bounds the sessions that are open at once.
const mostSessions = mostChildren / 2

// sessions are a plugin's open sessions.
type sessions struct {
	pool *pool
	end  context.CancelFunc

	mu     sync.Mutex
	open   map[string]*session
	coming int // sessions that are being opened
	closed bool
}

// session is a state that cells work on, one after the other.
type session struct {
	id, language string
	idle         time.Duration
	memory       uint64 // bytes beyond the runtime's own
	born         time.Time
	turn         chan struct{} // holds one value while a cell or a verb has the session

	mu      sync.Mutex
	house   *house
	at      *image // what the session holds; stopped while nobody has the turn
	next    *ahead // the copy that the next cell is to run in
	running *image // the cell's, while one runs
	stop    *interrupt
	cells   uint64
	used    time.Time
	known   map[string][]string // what names stand for, by the judged trees of the cells that were kept
	over    bool
}

func newSessions(p *pool) *sessions {
	ctx, end := context.WithCancel(context.Background())
	s := &sessions{pool: p, open: map[string]*session{}, end: end}
	go s.expire(ctx)
	return s
}

// OpenSession implements executor.SessionKeeper.
func (p *plugin) OpenSession(ctx context.Context, o executor.SessionOptions) (executor.SessionInfo, error) {
	keeper, err := p.keeper()
	if err != nil {
		return executor.SessionInfo{}, err
	}
	if o.Language != languageID || o.ID == "" {
		return executor.SessionInfo{}, fmt.Errorf("open a session: no language %q here", o.Language)
	}
	s := &session{id: o.ID, language: o.Language, idle: o.Idle, memory: o.Limits.MemoryBytes}
	fill(&s.memory, p.cfg.MemoryBytes)
	return keeper.add(s, func() error { return s.begin(ctx, keeper.pool) })
}

// add opens a session with what open does, if there is room.
func (k *sessions) add(s *session, open func() error) (executor.SessionInfo, error) {
	s.turn, s.born, s.used = make(chan struct{}, 1), time.Now(), time.Now()
	k.mu.Lock()
	_, exists := k.open[s.id]
	switch {
	case k.closed:
		k.mu.Unlock()
		return executor.SessionInfo{}, executor.ErrOverloaded
	case exists:
		k.mu.Unlock()
		return executor.SessionInfo{}, errors.New("open a session: its id is taken")
	case len(k.open)+k.coming >= mostSessions:
		k.mu.Unlock()
		return executor.SessionInfo{}, executor.ErrTooManySessions
	}
	k.coming++
	k.mu.Unlock()
	err := open()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.coming--
	switch {
	case err != nil:
		return executor.SessionInfo{}, err
	case k.closed:
		s.close()
		return executor.SessionInfo{}, executor.ErrOverloaded
	}
	k.open[s.id] = s
	s.goAhead(nil)
	return s.info(), nil
}

// build starts an empty state. Processes that were ended on the way, or an
// interpreter that was, are no reason to fail: nothing is in them yet.
func (s *session) build(ctx context.Context, p *pool) (*house, *image, error) {
	for try := 1; ; try++ {
		h, img, err := s.buildOnce(ctx, p)
		switch {
		case err == nil:
			return h, img, nil
		case ctx.Err() != nil, errors.Is(err, executor.ErrTooManySessions), errors.Is(err, executor.ErrOverloaded):
			return nil, nil, err
		case try == mostRuns:
			return nil, nil, fmt.Errorf("%w: %w", executor.ErrOverloaded, err)
		}
		p.log.Warn("a session did not start", "error", err)
	}
}

func (s *session) buildOnce(ctx context.Context, p *pool) (*house, *image, error) {
	h, err := p.newHouse(ctx)
	if err != nil {
		return nil, nil, err
	}
	img, err := h.first(ctx, s.memory)
	if err != nil {
		h.leave()
		return nil, nil, err
	}
	return h, img, nil
}

// begin gives a new session its empty state.
func (s *session) begin(ctx context.Context, p *pool) error {
	h, img, err := s.build(ctx, p)
	s.house, s.at = h, img
	return err
}

// CloseSession implements executor.SessionKeeper.
func (p *plugin) CloseSession(_ context.Context, id string) (bool, error) {
	keeper, err := p.keeper()
	if err != nil {
		return false, err
	}
	s := keeper.remove(id)
	if s == nil {
		return false, nil
	}
	s.close()
	return true, nil
}

func (k *sessions) remove(id string) *session {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.open[id]
	delete(k.open, id)
	return s
}

// lose forgets a session that is gone.
func (k *sessions) lose(s *session) {
	k.mu.Lock()
	if k.open[s.id] == s {
		delete(k.open, s.id)
	}
	k.mu.Unlock()
	s.close()
}

// close ends all processes of a session, a running cell's too.
func (s *session) close() {
	s.mu.Lock()
	over, h, images := s.over, s.house, []*image{s.running, s.at}
	s.over = true
	s.mu.Unlock()
	if over || h == nil {
		return
	}
	for _, img := range images {
		if img != nil {
			img.kill()
		}
	}
	h.leave()
	go func() {
		s.turn <- struct{}{} // for good: the cell that has it is ending
		s.ready().discard()
		s.at.discard()
	}()
}

// ListSessions implements executor.SessionKeeper.
func (p *plugin) ListSessions(context.Context) ([]executor.SessionInfo, error) {
	keeper, err := p.keeper()
	if err != nil {
		return nil, err
	}
	list := []executor.SessionInfo{}
	for _, s := range keeper.all() {
		list = append(list, s.info())
	}
	return list, nil
}

func (k *sessions) all() []*session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.open))
}

func (s *session) info() executor.SessionInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	return executor.SessionInfo{
		ID: s.id, Language: s.language, Age: now.Sub(s.born), Idle: now.Sub(s.used), Cells: s.cells,
		MemoryBytes: s.memoryBytes(), Busy: s.running != nil,
	}
}

// ForkSession implements executor.SessionKeeper.
func (p *plugin) ForkSession(ctx context.Context, id, newID string) (executor.SessionInfo, error) {
	keeper, s, err := p.session(id)
	if err != nil {
		return executor.SessionInfo{}, err
	}
	if err := s.take(ctx); err != nil {
		return executor.SessionInfo{}, err
	}
	defer s.give()
	next := &session{id: newID, language: s.language, idle: s.idle, memory: s.memory}
	return keeper.add(next, func() error { return keeper.split(ctx, s, next) })
}

// split gives next a copy of what s holds. The caller has the turn.
func (k *sessions) split(ctx context.Context, s, next *session) error {
	at, h := s.state()
	if at == nil || !h.alive() {
		k.lose(s)
		return executor.ErrSessionUnknown
	}
	if err := s.settled(); err != nil {
		k.lose(s)
		return fmt.Errorf("fork a session: %w: %w", executor.ErrSessionLost, err)
	}
	img, _, err := at.step(ctx, command{Only: true, Fork: true})
	if errors.Is(err, errNotAtRest) {
		return err
	}
	if err == nil {
		err = img.rest()
	}
	if err != nil {
		k.lose(s)
		return fmt.Errorf("fork a session: %w: %w", executor.ErrSessionLost, err)
	}
	if err := h.enter(); err != nil {
		img.discard()
		h.leave()
		return fmt.Errorf("fork a session: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next.house, next.at, next.known, next.cells = h, img, maps.Clone(s.known), s.cells
	s.used = time.Now()
	return nil
}

// state is what a session holds and where, or nothing when it is over.
func (s *session) state() (*image, *house) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, nil
	}
	return s.at, s.house
}

// ResetSession implements executor.SessionKeeper.
func (p *plugin) ResetSession(ctx context.Context, id string) error {
	keeper, s, err := p.session(id)
	if err != nil {
		return err
	}
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.give()
	h, img, err := s.build(ctx, keeper.pool)
	if err != nil {
		return fmt.Errorf("reset a session: %w", err)
	}
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		img.discard()
		h.leave()
		return executor.ErrSessionUnknown
	}
	h, s.house = s.house, h
	img, s.at = s.at, img
	next := s.next
	s.known, s.next, s.used = nil, nil, time.Now()
	s.mu.Unlock()
	next.discard()
	img.discard()
	h.leave()
	s.goAhead(nil)
	return nil
}

// InterruptSession implements executor.SessionKeeper.
func (p *plugin) InterruptSession(_ context.Context, id string) error {
	_, s, err := p.session(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	stop := s.stop
	s.mu.Unlock()
	if stop != nil {
		stop.ask(executor.ErrCancelled)
	}
	return nil
}

func (p *plugin) session(id string) (*sessions, *session, error) {
	keeper, err := p.keeper()
	if err != nil {
		return nil, nil, err
	}
	keeper.mu.Lock()
	defer keeper.mu.Unlock()
	s := keeper.open[id]
	if s == nil {
		return nil, nil, executor.ErrSessionUnknown
	}
	return keeper, s, nil
}

// take waits for the session's turn.
func (s *session) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return executor.ErrSessionBusy
	}
}

func (s *session) give() { <-s.turn }

// expire closes sessions that were idle for too long.
func (k *sessions) expire(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, s := range k.all() {
			if s.expired() && k.remove(s.id) == s {
				s.close()
			}
		}
	}
}

func (s *session) expired() bool {
	select {
	case s.turn <- struct{}{}:
		defer s.give()
	default:
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle > 0 && time.Since(s.used) > s.idle
}

// close ends all sessions.
func (k *sessions) close() {
	k.end()
	k.mu.Lock()
	k.closed = true
	open := k.open
	k.open = map[string]*session{}
	k.mu.Unlock()
	for _, s := range open {
		s.close()
	}
}
