package gateway

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// SessionView is what a caller is told of a session of its own.
type SessionView struct {
	ID          string
	Language    string
	Tool        string
	Default     bool
	Created     time.Time
	LastUsed    time.Time
	Expires     time.Time // if it is not used before; zero: it does not
	Cells       uint64
	MemoryBytes uint64 // 0: not known
	State       SessionState
}

// SessionState says what a session does now.
type SessionState string

// The states of a session.
const (
	SessionIdle    SessionState = "idle"    // its next cell runs at once
	SessionRunning SessionState = "running" // a cell runs
	SessionGone    SessionState = "lost"    // what it held is gone; its next cell starts it afresh
)

// OpenSession starts an empty session for caller. tool names the language; ttl,
// at most the operator's idle time, ends it when it is not used for so long; 0:
// the operator's. Errors: ErrSessionLimit, ErrSessionsFull, ErrSessionMemory,
// ErrUnsupported, those of Solve.
func (g *Gateway) OpenSession(ctx context.Context, caller Caller, tool string, ttl time.Duration) (SessionView, error) {
	keeper, err := g.keeper(tool)
	if err != nil {
		return SessionView{}, err
	}
	s, err := g.sessions.add(ownerKey{caller.Name, keeper.Language().ID}, keeper, ttl, false)
	if err != nil {
		return SessionView{}, err
	}
	if err := g.inTurn(ctx, s, func() error { return g.open(ctx, s) }); err != nil {
		g.sessions.end(s)
		return SessionView{}, callerGone(ctx, err)
	}
	return g.view(s, nil), nil
}

// Sessions lists caller's own sessions, oldest first.
func (g *Gateway) Sessions(ctx context.Context, caller Caller) ([]SessionView, error) {
	own := g.sessions.ofOwner(caller.Name)
	known := g.infos(ctx, own)
	views := make([]SessionView, 0, len(own))
	for _, s := range own {
		views = append(views, g.view(s, known))
	}
	return views, nil
}

// Session tells of one session of caller's own, or gives ErrSessionUnknown.
func (g *Gateway) Session(ctx context.Context, caller Caller, id string) (SessionView, error) {
	s, err := g.sessions.find(caller.Name, id)
	if err != nil {
		return SessionView{}, err
	}
	return g.view(s, g.infos(ctx, []*session{s})), nil
}

// ForkSession makes a second session that starts from the state of id; neither
// sees the other's later cells. It waits for the running cell as a cell would.
func (g *Gateway) ForkSession(ctx context.Context, caller Caller, id string, wait *time.Duration) (SessionView, error) {
	from, err := g.sessions.find(caller.Name, id)
	if err != nil {
		return SessionView{}, err
	}
	to, err := g.sessions.add(from.key, from.keeper, from.ttl, false)
	if err != nil {
		return SessionView{}, err
	}
	err = g.enter(ctx, from, wait)
	if err == nil {
		err = g.inTurn(ctx, to, func() error { return g.fork(ctx, from, to) })
		g.sessions.leave(from)
	}
	if err != nil {
		g.sessions.end(to)
		return SessionView{}, callerGone(ctx, err)
	}
	return g.view(to, nil), nil
}

// fork gives to a copy of from's state, with both turns held. A session whose
// state is gone is not forked silently: it is told.
func (g *Gateway) fork(ctx context.Context, from, to *session) error {
	if g.goneNow(from); from.lost {
		return ErrSessionLost
	}
	if err := g.ensure(ctx, from); err != nil {
		return err
	}
	if err := g.sessions.room(ctx, from.keeper); err != nil {
		return err
	}
	kept, err := from.kept.Fork(ctx, newKeptID())
	if errors.Is(err, executor.ErrSessionLost) {
		g.lose(from)
		return ErrSessionLost
	}
	if err == nil {
		g.sessions.setKept(to, kept)
	}
	return err
}

// ResetSession gives a session of caller's own its first, empty state back.
func (g *Gateway) ResetSession(ctx context.Context, caller Caller, id string, wait *time.Duration) (SessionView, error) {
	s, err := g.sessions.find(caller.Name, id)
	if err != nil {
		return SessionView{}, err
	}
	if err := g.enter(ctx, s, wait); err != nil {
		return SessionView{}, err
	}
	err = g.reset(ctx, s)
	g.sessions.leave(s)
	if err != nil {
		return SessionView{}, callerGone(ctx, err)
	}
	return g.view(s, nil), nil
}

// reset has nothing to tell of what was lost: it was to go anyway.
func (g *Gateway) reset(ctx context.Context, s *session) error {
	g.sessions.setLost(s, false)
	if s.kept == nil {
		return nil
	}
	err := s.kept.Reset(ctx)
	if errors.Is(err, executor.ErrSessionLost) {
		g.sessions.setKept(s, nil)
		return nil
	}
	return err
}

// interruptGrace is how long a cell may go on after it was interrupted, before
// it is ended.
const interruptGrace = 250 * time.Millisecond

// interruptWait bounds how long InterruptSession waits for the cell's end.
const interruptWait = 3 * time.Second

// InterruptSession stops the running cell of a session of caller's own as Ctrl-C
// would, or ends it when that does not help, and waits for its end. The cell's
// own answer says what became of the state. It tells whether a cell ran.
func (g *Gateway) InterruptSession(ctx context.Context, caller Caller, id string) (bool, error) {
	s, err := g.sessions.find(caller.Name, id)
	if err != nil {
		return false, err
	}
	run, kept := g.sessions.interrupt(s)
	if run == nil {
		return false, nil
	}
	if kept == nil || kept.Interrupt(ctx) != nil {
		run.cancel() // it has not begun, or the plugin does not answer
	}
	timer := time.NewTimer(interruptGrace)
	defer timer.Stop()
	select {
	case <-run.done:
		return true, nil
	case <-timer.C:
	}
	run.cancel()
	timer.Reset(interruptWait)
	select {
	case <-run.done:
	case <-timer.C:
	case <-ctx.Done():
		return true, ErrGone
	}
	return true, nil
}

// interrupt marks the running cell and tells where it runs; kept is nil while it
// is not in its plugin.
func (r *registry) interrupt(s *session) (run *cellRun, kept Kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.running == nil {
		return nil, nil
	}
	s.running.interrupted = true
	if s.running.inPlugin {
		kept = s.kept
	}
	return s.running, kept
}

// DeleteSession ends a session of caller's own, and its running cell with it.
func (g *Gateway) DeleteSession(ctx context.Context, caller Caller, id string) error {
	s, err := g.sessions.find(caller.Name, id)
	if err != nil {
		return err
	}
	g.sessions.end(s)
	if run, _ := g.sessions.interrupt(s); run != nil {
		run.cancel()
	}
	if kept := g.sessions.keptNow(s); kept != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		_ = kept.Close(ctx) // it is gone for its caller either way; the plugin's own clock ends it
	}
	return nil
}

// KeepsSessions says whether cells of a tool's language can be run.
func (g *Gateway) KeepsSessions(tool string) bool {
	_, err := g.keeper(tool)
	return err == nil
}

func (g *Gateway) keeper(tool string) (Keeper, error) {
	target, err := g.cfg.Executors.Find(tool)
	if err != nil {
		return nil, fmt.Errorf("find tool %q: %w", tool, err)
	}
	keeper, ok := target.(Keeper)
	if !ok || !keeper.KeepsSessions() || g.sessions.limits.Max <= 0 {
		return nil, fmt.Errorf("keep a session of %q: %w", tool, ErrUnsupported)
	}
	return keeper, nil
}

// enter waits for a session's turn as long as the caller asked for.
func (g *Gateway) enter(ctx context.Context, s *session, wait *time.Duration) error {
	patience := g.cfg.Limits.QueueWait
	if wait != nil {
		patience = min(*wait, g.cfg.Limits.WallCeiling)
	}
	return g.sessions.enter(ctx, s, patience)
}

// inTurn does something with a session that was just made: its turn is free.
func (g *Gateway) inTurn(ctx context.Context, s *session, do func() error) error {
	if err := g.enter(ctx, s, nil); err != nil {
		return err
	}
	defer g.sessions.leave(s)
	return do()
}

// ensure has the session hold a state, which is fresh when there was none; then
// s.lost says whether there should have been one.
func (g *Gateway) ensure(ctx context.Context, s *session) error {
	g.goneNow(s)
	if s.kept != nil {
		return nil
	}
	return g.open(ctx, s)
}

// goneNow notes the end of the process that held the session.
func (g *Gateway) goneNow(s *session) {
	if s.kept == nil {
		return
	}
	select {
	case <-s.kept.Gone():
		g.lose(s)
	default:
	}
}

// lose notes that what a session held is gone.
func (g *Gateway) lose(s *session) {
	g.sessions.setKept(s, nil)
	g.sessions.setLost(s, true)
}

func (g *Gateway) open(ctx context.Context, s *session) error {
	if err := g.sessions.room(ctx, s.keeper); err != nil {
		return err
	}
	idle := s.ttl
	if idle > 0 {
		idle += pluginIdleMargin
	}
	kept, err := s.keeper.OpenSession(ctx, executor.SessionOptions{
		ID: newKeptID(), Language: s.key.language, Idle: idle,
		Limits: executor.Limits{MemoryBytes: g.cfg.Limits.Default.MemoryBytes, ScratchBytes: g.cfg.Limits.Default.ScratchBytes},
	})
	if err != nil {
		return err
	}
	g.sessions.setKept(s, kept)
	if g.sessions.isOver(s) { // deleted meanwhile: nobody else closes it
		closeKept(kept)
		return ErrSessionUnknown
	}
	return nil
}

func (r *registry) isOver(s *session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.over
}

// pluginIdleMargin lets a session end by the gateway's clock; the plugin's own is
// for a gateway that does not close it.
const pluginIdleMargin = time.Minute

// newKeptID names a session to its plugin: not by the name that its caller has,
// and by another one each time it is opened.
func newKeptID() string { return "k_" + strings.ToLower(rand.Text()) }

// infos asks the plugins behind sessions what they take; what is not known is
// left out.
func (g *Gateway) infos(ctx context.Context, list []*session) map[string]executor.SessionInfo {
	known := map[string]executor.SessionInfo{}
	asked := map[Keeper]bool{}
	for _, s := range list {
		if asked[s.keeper] || g.sessions.keptNow(s) == nil {
			continue
		}
		asked[s.keeper] = true
		infos, err := s.keeper.Sessions(ctx)
		if err != nil {
			continue
		}
		for _, i := range infos {
			known[i.ID] = i
		}
	}
	return known
}

func (g *Gateway) view(s *session, known map[string]executor.SessionInfo) SessionView {
	r := g.sessions
	r.mu.Lock()
	defer r.mu.Unlock()
	v := SessionView{
		ID: s.id, Language: s.key.language, Tool: s.tool, Default: s.isDefault, Created: s.created, LastUsed: s.lastUsed,
		Cells: s.cells, State: SessionIdle,
	}
	if s.ttl > 0 {
		v.Expires = s.lastUsed.Add(s.ttl)
	}
	if s.running != nil {
		v.State, v.Expires = SessionRunning, time.Time{}
	}
	if s.lost && s.running == nil {
		v.State = SessionGone
	}
	if s.kept == nil {
		return v
	}
	select {
	case <-s.kept.Gone():
		v.State = SessionGone
	default:
		v.MemoryBytes = known[s.kept.ID()].MemoryBytes
	}
	return v
}

// sessionDigest stands for a session in the journal: enough to find its cells,
// too little to use it.
func sessionDigest(id string) string {
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:6])
}
