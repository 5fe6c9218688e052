package gateway

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// Shadower is a Policy whose profiles can name one that is asked beside them.
type Shadower interface {
	// Shadow returns the profile that is asked beside profile, and about which
	// share of the decisions, up to 1; 0: none is.
	Shadow(profile string) (name string, share float64)
}

// Shadow is what a profile that is not in force says of a program. It is written
// down beside the decision and reaches no caller.
type Shadow struct {
	Profile  string
	Decision *Decision // nil: it ended in Fault
	Fault    string    // class of the error, never its text
}

// The ways in which a shadow differs from what is in force.
const (
	ShadowSame      = "same"
	ShadowRefuses   = "newly_refused"
	ShadowAllows    = "newly_allowed"
	ShadowChanges   = "changed_reasons"
	ShadowUndecided = "undecided"
)

// Outcome says how the shadow differs from the decision that was in force.
func (s Shadow) Outcome(inForce Decision) string {
	switch d := s.Decision; {
	case d == nil:
		return ShadowUndecided
	case inForce.Allow && !d.Allow:
		return ShadowRefuses
	case !inForce.Allow && d.Allow:
		return ShadowAllows
	case !sameReasons(inForce.Violations, d.Violations):
		return ShadowChanges
	}
	return ShadowSame
}

// sameReasons says whether the same rules are broken, at the same places and
// levels.
func sameReasons(one, other []Violation) bool {
	type reason struct {
		rule, level  string
		line, column int
	}
	seen := map[reason]int{}
	for list, violations := range [][]Violation{one, other} {
		for _, v := range violations {
			seen[reason{v.Rule, v.Level, v.Line, v.Column}] |= 1 << list
		}
	}
	for _, lists := range seen {
		if lists != 3 {
			return false
		}
	}
	return true
}

// Bounds of the shadows that wait: a further one is left out, and counted.
const (
	mostShadows     = 64
	mostShadowBytes = 32 << 20 // of trees and texts
)

// shadows asks the profiles that are not in force, one program at a time, when
// the program has had its answer.
type shadows struct {
	journal Journal
	turn    chan struct{} // holds one token while nobody asks
	missed  atomic.Uint64
	all     sync.WaitGroup

	mu      sync.Mutex
	waiting int
	bytes   int
	closed  bool
}

func newShadows(journal Journal) *shadows {
	s := &shadows{journal: journal, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// shaded is a question that is to be asked of a shadow.
type shaded struct {
	policy   Policy
	question Question // its profile is the shadow's
}

// shade notes that the profile which decided has a shadow, and that this is one
// of the decisions that it is asked about.
func (w *walk) shade(q Question) {
	policy, ok := w.policy.(Shadower)
	if !ok {
		return
	}
	name, share := policy.Shadow(q.Profile)
	if share <= 0 || share < 1 && rand.Float64() >= share { //nolint:gosec // which decisions are looked at need not be kept secret
		return
	}
	q.Profile = name
	w.shaded = &shaded{w.policy, q}
}

// record writes an entry down, with what the shadow says where one is asked.
// The entry then waits for that, the caller does not.
func (s *shadows) record(e Entry, asked *shaded) {
	if asked == nil || e.Decision == nil || !s.begin(asked.size()) {
		s.journal.Record(e)
		return
	}
	go func() {
		defer s.end(asked.size())
		<-s.turn
		e.Shadow = asked.ask()
		s.turn <- struct{}{}
		s.journal.Record(e)
	}()
}

func (a *shaded) size() int { return len(a.question.Tree.JSON) + len(a.question.Source.Code) }

// ask lets the policy's own deadline bound the time.
func (a *shaded) ask() *Shadow {
	found := &Shadow{Profile: a.question.Profile}
	d, err := a.policy.Decide(context.Background(), a.question)
	if err != nil {
		found.Fault = FaultClass(err)
		return found
	}
	found.Decision = &d
	return found
}

func (s *shadows) begin(size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.waiting >= mostShadows || s.bytes+size > mostShadowBytes {
		s.missed.Add(1)
		return false
	}
	s.waiting++
	s.bytes += size
	s.all.Add(1)
	return true
}

func (s *shadows) end(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
	s.bytes -= size
	s.all.Done()
}

// ShadowsMissed counts decisions that a shadow was to be asked about and was not,
// because too many waited.
func (g *Gateway) ShadowsMissed() uint64 { return g.shadows.missed.Load() }

// Settle waits until every shadow has been asked and written down, or ctx ends.
// It is for the end: later decisions are written down without theirs.
func (g *Gateway) Settle(ctx context.Context) {
	g.shadows.mu.Lock()
	g.shadows.closed = true
	g.shadows.mu.Unlock()
	done := make(chan struct{})
	go func() {
		g.shadows.all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
