package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// SessionLimits are the operator's bounds on sessions.
type SessionLimits struct {
	Max         int           // at once; 0: sessions are off
	MaxPerOwner int           // of one caller; 0: as Max
	Idle        time.Duration // an idle session ends after; also what a caller may ask for at most
	MemoryTotal uint64        // of all sessions together, past which none is opened; 0: not bounded
}

// maxWaiters bounds the cells that wait for one session.
const maxWaiters = 64

// registry holds every session: who owns it, in which order its cells run, when
// it ends. Its lock is held for looking and counting, never over a call.
type registry struct {
	limits SessionLimits
	now    func() time.Time

	mu       sync.Mutex
	byID     map[string]*session
	defaults map[ownerKey]*session
	expired  map[ownerKey]bool // default sessions whose end by idleness nobody was told of
	memory   map[string]memory // by plugin
}

// ownerKey names a caller's default session of one language.
type ownerKey struct{ owner, language string }

// memory is what a plugin's sessions took when it was last looked at.
type memory struct {
	at    time.Time
	total uint64
}

// session is one session of one caller's. Who has its turn may read what is
// changed with the turn and the registry's lock both held.
type session struct {
	id      string
	key     ownerKey
	keeper  Keeper
	tool    string
	ttl     time.Duration
	created time.Time
	turn    chan struct{} // holds one token while nobody has the turn
	ended   chan struct{} // closed when the session is deleted or expires

	// Changed with both held.
	kept Kept // nil: not opened yet, or gone
	lost bool // what it held is gone, and nobody has been told

	// Of the registry, under its lock.
	lastUsed  time.Time
	running   *cellRun
	waiting   int
	cells     uint64
	isDefault bool
	over      bool
	timer     *time.Timer
}

// cellRun is the cell that has a session's turn.
type cellRun struct {
	cancel      context.CancelFunc
	done        chan struct{}
	inPlugin    bool // Run was called
	interrupted bool
}

func newRegistry(limits SessionLimits, now func() time.Time) *registry {
	if limits.MaxPerOwner <= 0 {
		limits.MaxPerOwner = limits.Max
	}
	return &registry{
		limits: limits, now: now, byID: map[string]*session{},
		defaults: map[ownerKey]*session{}, expired: map[ownerKey]bool{}, memory: map[string]memory{},
	}
}

// newSessionID makes what a caller names a session by: 128 bits that cannot be
// guessed.
func newSessionID() string { return "s_" + strings.ToLower(rand.Text()) }

// add makes a session if the caps allow it. It has its turn, and no state yet.
func (r *registry) add(key ownerKey, keeper Keeper, ttl time.Duration, isDefault bool) (*session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if have := r.defaults[key]; isDefault && have != nil {
		return have, nil
	}
	own := 0
	for _, s := range r.byID {
		if s.key.owner == key.owner {
			own++
		}
	}
	switch {
	case len(r.byID) >= r.limits.Max:
		return nil, ErrSessionsFull
	case own >= r.limits.MaxPerOwner:
		return nil, ErrSessionLimit
	}
	if ttl <= 0 || (r.limits.Idle > 0 && ttl > r.limits.Idle) {
		ttl = r.limits.Idle
	}
	now := r.now()
	s := &session{
		id: newSessionID(), key: key, keeper: keeper, tool: keeper.Tool().Name, ttl: ttl, created: now, lastUsed: now,
		turn: make(chan struct{}, 1), ended: make(chan struct{}), isDefault: isDefault,
	}
	s.turn <- struct{}{}
	r.byID[s.id] = s
	if isDefault {
		r.defaults[key] = s
		s.lost = r.expired[key]
		delete(r.expired, key)
	}
	if ttl > 0 {
		s.timer = time.AfterFunc(ttl, func() { r.expire(s) })
	}
	return s, nil
}

// find gives a caller's own session. Whoever else's it is, it does not exist.
func (r *registry) find(owner, id string) (*session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.byID[id]
	if s == nil || s.key.owner != owner {
		return nil, ErrSessionUnknown
	}
	return s, nil
}

// defaultOf gives a caller's default session, made if there is none.
func (r *registry) defaultOf(owner string, keeper Keeper) (*session, error) {
	return r.add(ownerKey{owner, keeper.Language().ID}, keeper, 0, true)
}

// enter waits for the session's turn, in the order of asking.
func (r *registry) enter(ctx context.Context, s *session, wait time.Duration) error {
	r.mu.Lock()
	if s.over {
		r.mu.Unlock()
		return ErrSessionUnknown
	}
	select {
	case <-s.turn:
		r.mu.Unlock()
		return nil
	default:
	}
	if wait <= 0 || s.waiting >= maxWaiters {
		r.mu.Unlock()
		return ErrSessionBusy
	}
	s.waiting++
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		s.waiting--
		r.mu.Unlock()
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-s.turn:
		return r.entered(s)
	case <-s.ended:
		return ErrSessionUnknown
	case <-timer.C:
		return ErrSessionBusy
	case <-ctx.Done():
		return ErrGone
	}
}

// entered gives the turn of a session back that ended while it was waited for.
func (r *registry) entered(s *session) error {
	r.mu.Lock()
	over := s.over
	r.mu.Unlock()
	if over {
		s.turn <- struct{}{}
		return ErrSessionUnknown
	}
	return nil
}

// leave gives the turn on; used says that the session's time begins anew.
func (r *registry) leave(s *session) {
	r.mu.Lock()
	s.lastUsed = r.now()
	s.running = nil
	if s.timer != nil && !s.over {
		s.timer.Reset(s.ttl)
	}
	r.mu.Unlock()
	s.turn <- struct{}{}
}

// begin notes the cell that has the turn, so that it can be interrupted.
func (r *registry) begin(s *session, run *cellRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.running = run
}

// setKept notes where a session's state is.
func (r *registry) setKept(s *session, kept Kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.kept = kept
}

// setLost notes whether it is to be told that what the session held is gone.
func (r *registry) setLost(s *session, lost bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.lost = lost
}

// expire ends a session that nobody has used for its time. A busy one is not
// idle: leave sets its timer again.
func (r *registry) expire(s *session) {
	select {
	case <-s.turn:
	default:
		return
	}
	if !r.idle(s) {
		s.turn <- struct{}{}
		return
	}
	r.end(s)
	s.turn <- struct{}{}
	s.close()
}

// idle says whether s has been at rest for its time, and sets its timer again if
// not. A default session whose state goes is remembered.
func (r *registry) idle(s *session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rest := s.ttl - r.now().Sub(s.lastUsed); rest > 0 {
		s.timer.Reset(rest)
		return false
	}
	if s.isDefault && s.kept != nil && len(r.expired) < r.limits.Max*expiredPerSession {
		r.expired[s.key] = true
	}
	return true
}

// expiredPerSession bounds, per session that may be, the ends that are
// remembered.
const expiredPerSession = 16

// end takes a session out of the registry. Its state is closed by the caller.
func (r *registry) end(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.over {
		return
	}
	s.over = true
	close(s.ended)
	if s.timer != nil {
		s.timer.Stop()
	}
	delete(r.byID, s.id)
	if r.defaults[s.key] == s {
		delete(r.defaults, s.key)
	}
}

// ended says whether the session is over.
func (r *registry) ended(s *session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.over
}

// keptNow is where the session's state is now; nil: nowhere.
func (r *registry) keptNow(s *session) Kept {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.kept
}

// closeTime bounds the ending of a session, which no caller waits for.
const closeTime = 5 * time.Second

// close ends the session's state in its plugin, whoever has left.
func (s *session) close() { closeKept(s.kept) }

func closeKept(kept Kept) {
	if kept == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = kept.Close(ctx) // the plugin ends it by its own clock too
}

// ofOwner lists a caller's sessions, oldest first.
func (r *registry) ofOwner(owner string) []*session {
	r.mu.Lock()
	defer r.mu.Unlock()
	var own []*session
	for _, s := range r.byID {
		if s.key.owner == owner {
			own = append(own, s)
		}
	}
	slices.SortFunc(own, func(a, b *session) int {
		return cmp.Or(a.created.Compare(b.created), strings.Compare(a.id, b.id))
	})
	return own
}

// memoryFresh is how old a figure may be that decides whether there is room.
const memoryFresh = 2 * time.Second

// room says whether the sessions' memory leaves room for another one. What a
// plugin does not tell is not counted.
func (r *registry) room(ctx context.Context, keeper Keeper) error {
	if r.limits.MemoryTotal == 0 {
		return nil
	}
	plugin := keeper.Plugin().Name
	r.mu.Lock()
	stale := r.now().Sub(r.memory[plugin].at) > memoryFresh
	r.mu.Unlock()
	if stale {
		if list, err := keeper.Sessions(ctx); err == nil { // else opening a session tells what is wrong
			r.look(plugin, list)
		}
	}
	if r.memoryNow() >= r.limits.MemoryTotal {
		return ErrSessionMemory
	}
	return nil
}

func (r *registry) look(plugin string, list []executor.SessionInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memory[plugin] = memory{at: r.now(), total: totalMemory(list)}
}

func (r *registry) memoryNow() (total uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.memory {
		total += m.total
	}
	return total
}

func totalMemory(list []executor.SessionInfo) (total uint64) {
	for _, i := range list {
		total += i.MemoryBytes
	}
	return total
}

// OpenSessions counts the sessions of all callers.
func (g *Gateway) OpenSessions() int {
	g.sessions.mu.Lock()
	defer g.sessions.mu.Unlock()
	return len(g.sessions.byID)
}
