package gateway

import (
	"slices"
	"time"
)

// ticket is one submission's place in the line.
type ticket struct {
	caller string
	turn   chan struct{} // closed when a slot is its own, or its place is taken away

	// Read after turn is closed.
	lost  bool      // its place was taken away
	begun time.Time // since when it holds a slot
}

// line is the order in which waiting submissions are served: fair between
// callers, by the time that each holds slots, and in the order of coming among
// one caller's own. It is start-time fair queueing: each caller has a clock that
// runs once for each slot it holds, and who is furthest behind is next. A caller
// who comes anew starts where the line is now; what it saved up counts for
// nothing, what it overdrew does.
//
// The slots call it under their lock.
type line struct {
	shares map[string]*share
	now    time.Duration // the clock at which the last one was started
	soon   time.Duration // what counts as coming back at once
	turns  uint64
	queued int
}

// share is what the line knows of one caller who waits, holds a slot, or is ahead
// of the others.
type share struct {
	tickets []*ticket
	holds   []time.Time   // since when it holds each of its slots
	used    time.Duration // its clock without those
	served  uint64        // the turn in which it was served last: among equals, who waited longer is next
	left    time.Time     // when it had nothing inside any more
	quick   bool          // it came back soon after that, last time
}

func (s *share) inside() int { return len(s.tickets) + len(s.holds) }

// clock is what a caller has used.
func (s *share) clock(at time.Time) time.Duration {
	clock := s.used
	for _, since := range s.holds {
		clock += at.Sub(since)
	}
	return clock
}

func newLine() line { return line{shares: map[string]*share{}} }

// of gives a caller's share, made if there is none, and not behind the line.
func (l *line) of(caller string, at time.Time) *share {
	s := l.shares[caller]
	if s == nil {
		s = &share{}
		l.shares[caller] = s
	}
	s.used += max(0, l.now-s.clock(at))
	return s
}

// arrives notes that a caller asks for one more.
func (l *line) arrives(caller string, at time.Time) {
	if s := l.of(caller, at); s.inside() == 0 {
		s.quick = at.Sub(s.left) <= l.soon
	}
}

func (l *line) len() int { return l.queued }

// inside is how many submissions of a caller wait or hold a slot.
func (l *line) inside(caller string) int {
	if s := l.shares[caller]; s != nil {
		return s.inside()
	}
	return 0
}

// ahead is how many would be served before one more of a caller's, when all take
// about as long.
func (l *line) ahead(caller string) int {
	own := 0
	if s := l.shares[caller]; s != nil {
		own = len(s.tickets)
	}
	count := own
	for name, s := range l.shares {
		if name != caller {
			count += min(len(s.tickets), own+1)
		}
	}
	return count
}

func (l *line) push(t *ticket, at time.Time) {
	s := l.of(t.caller, at)
	s.tickets = append(s.tickets, t)
	l.queued++
}

// pop takes out who is next, who holds a slot from then on; nil: nobody waits.
func (l *line) pop(at time.Time) *ticket {
	var next *share
	var nextClock time.Duration
	for _, s := range l.shares {
		if len(s.tickets) == 0 {
			continue
		}
		clock := s.clock(at)
		if next == nil || clock < nextClock || (clock == nextClock && s.served < next.served) {
			next, nextClock = s, clock
		}
	}
	if next == nil {
		return nil
	}
	t := next.tickets[0]
	next.tickets = slices.Delete(next.tickets, 0, 1)
	l.queued--
	l.start(t.caller, at)
	return t
}

// start notes that a caller holds one more slot.
func (l *line) start(caller string, at time.Time) {
	s := l.of(caller, at)
	l.now = max(l.now, s.clock(at))
	l.turns++
	s.served = l.turns
	s.holds = append(s.holds, at)
}

// done notes that a caller gave the slot back that it held since then.
func (l *line) done(caller string, since, at time.Time) {
	s := l.shares[caller]
	held := slices.Index(s.holds, since)
	s.holds = slices.Delete(s.holds, held, held+1)
	s.used += at.Sub(since)
	s.left = at
	for name, one := range l.shares { // who is not ahead, and was not here just now, needs no memory
		if one.inside() == 0 && one.used <= l.now && at.Sub(one.left) > l.soon {
			delete(l.shares, name)
		}
	}
}

// worthAwaiting says whether a slot that a caller has given back is better kept
// for it a moment than given to who is next: when it is furthest behind, or by
// little ahead, has nothing more inside, and came back at once last time. One who asks for one
// thing after the other would else find every slot taken each time.
func (l *line) worthAwaiting(caller string, at time.Time) bool {
	s := l.shares[caller]
	if s == nil || !s.quick || s.inside() > 0 || l.queued == 0 {
		return false
	}
	for _, o := range l.shares {
		if len(o.tickets) > 0 && o.clock(at)+2*l.soon < s.used {
			return false
		}
	}
	return true
}

// remove takes out who stopped waiting; false: it is not there.
func (l *line) remove(t *ticket) bool {
	s := l.shares[t.caller]
	if s == nil {
		return false
	}
	at := slices.Index(s.tickets, t)
	if at < 0 {
		return false
	}
	s.tickets = slices.Delete(s.tickets, at, at+1)
	l.queued--
	return true
}

// yield takes the last place of the caller who has most of them, for one of
// caller's own; false: caller itself has as many.
func (l *line) yield(caller string) bool {
	own := 0
	if s := l.shares[caller]; s != nil {
		own = len(s.tickets)
	}
	var most *share
	for _, s := range l.shares {
		if most == nil || len(s.tickets) > len(most.tickets) {
			most = s
		}
	}
	if most == nil || len(most.tickets) <= own+1 {
		return false
	}
	last := most.tickets[len(most.tickets)-1]
	l.remove(last)
	last.lost = true
	close(last.turn)
	return true
}
