package pluginhost

import (
	"math/rand/v2"
	"time"
)

// timing are the figures of the life cycle.
type timing struct {
	handshake time.Duration // from exec to the handshake line
	down      time.Duration // a request waits for a process: long enough for an interpreter with its libraries to come back
	busy      time.Duration // a request waits for a slot of a process
	startPoll time.Duration // between two looks at a plugin that warms up

	health time.Duration // between two looks at a plugin
	missed int           // looks without an answer until DEGRADED
	hung   int           // further ones until it is ended
	good   int           // answers until HEALTHY again

	shutdown time.Duration // from the polite word to SIGKILL
	stack    time.Duration // from SIGABRT to SIGKILL
	pipes    time.Duration // reading what a dead process wrote

	backoff, backoffCap time.Duration
	settled             time.Duration // healthy so long: the failures are forgotten

	exitWindow time.Duration
	exits      int // within exitWindow: QUARANTINED
	hangs      int // of those, by a process that had to be killed since it hung
	trial      time.Duration
	overruns   int // within exitWindow: the process is ended

	poisonWindow time.Duration
	poison       int // crashes within poisonWindow until a text is refused

	traced func(pid int) bool // a debugger holds the process
}

func contractTiming() timing {
	return timing{
		handshake: 5 * time.Second, down: 8 * time.Second, busy: 10 * time.Second, startPoll: 25 * time.Millisecond,
		health: 3 * time.Second, missed: 2, hung: 3, good: 3,
		shutdown: 2 * time.Second, stack: 200 * time.Millisecond, pipes: 100 * time.Millisecond,
		backoff: 100 * time.Millisecond, backoffCap: 30 * time.Second, settled: time.Minute,
		exitWindow: time.Minute, exits: 5, hangs: 3, trial: 5 * time.Minute, overruns: 3,
		poisonWindow: 10 * time.Minute, poison: 2, traced: traced,
	}
}

// restartDelay is the wait before restart number n, from 0: the first at once,
// then doubling, each 20 % more or less.
func (t timing) restartDelay(n int) time.Duration {
	if n <= 0 {
		return 0
	}
	d := t.backoffCap
	if shift := n - 1; shift < 20 {
		d = min(d, t.backoff<<shift)
	}
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// window counts events of the last while.
type window struct {
	length time.Duration
	times  []time.Time
}

// count tells how many events lie within the window.
func (w *window) count(now time.Time) int {
	kept := w.times[:0]
	for _, t := range w.times {
		if now.Sub(t) < w.length {
			kept = append(kept, t)
		}
	}
	w.times = kept
	return len(kept)
}

// add notes an event, and counts.
func (w *window) add(now time.Time) int {
	n := w.count(now)
	w.times = append(w.times, now)
	return n + 1
}
