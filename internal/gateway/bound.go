package gateway

import "time"

// bound says when a line is too long by time. A burst that comes upon an empty
// line may fill it: it ends by itself. A line that stands, because more comes
// than can be served, helps nobody: every caller then waits for its whole
// length. So it is kept as short as serves to keep the slots busy.
//
// Its owner guards it.
type bound struct {
	slots  int
	target time.Duration // 0: not bounded by time
	mean   time.Duration // that a slot is held, of late
	since  time.Time     // since when somebody has waited without a break; zero: nobody waits
}

const (
	// burst is how long a line may stand before its length is bounded by time:
	// longer than the spread of a burst, and short beside what overload would
	// pile up meanwhile.
	burst = 100 * time.Millisecond
	// fairWait is the wait, in times that a slot is held of late, that no
	// target may undercut: slow programs make a slow line, which is no overload.
	fairWait = 3
	// meanOver is over how many submissions the time is smoothed.
	meanOver = 32
)

// held notes how long a slot was held.
func (b *bound) held(d time.Duration) {
	if b.mean == 0 {
		b.mean = d
		return
	}
	b.mean += (d - b.mean) / meanOver
}

// lineIs notes how many wait.
func (b *bound) lineIs(waiting int, now time.Time) {
	switch {
	case waiting == 0:
		b.since = time.Time{}
	case b.since.IsZero():
		b.since = now
	}
}

// wait is how long one more would wait behind so many others.
func (b *bound) wait(ahead int) time.Duration {
	return b.mean * time.Duration(ahead+1) / time.Duration(b.slots)
}

// tooLong says whether one who would wait that long should not.
func (b *bound) tooLong(wait time.Duration, now time.Time) bool {
	if b.target == 0 || b.since.IsZero() || now.Sub(b.since) < burst {
		return false
	}
	return wait > max(b.target, fairWait*b.mean)
}
