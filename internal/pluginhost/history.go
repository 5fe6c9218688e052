package pluginhost

import (
	"errors"
	"time"
)

// outcome is how one generation's time ended.
type outcome struct {
	err     error         // nil: it was stopped
	healthy time.Duration // how long it was in service
}

// history is what a keeper remembers of the generations before: it decides
// whether, and when, there is another.
type history struct {
	times    timing
	exits    window
	hangs    window
	restarts int  // since it was last well for a while
	trial    bool // the last start was one out of quarantine
}

func newHistory(t timing) *history {
	return &history{times: t, exits: window{length: t.exitWindow}, hangs: window{length: t.exitWindow}}
}

// next says what follows an end: quarantine, or a restart after delay.
func (h *history) next(end outcome, now time.Time) (quarantine bool, delay time.Duration) {
	if end.healthy >= h.times.settled {
		h.restarts, h.trial = 0, false
	}
	looped := h.exits.add(now) >= h.times.exits
	if errors.Is(end.err, errHung) {
		looped = h.hangs.add(now) >= h.times.hangs || looped
	}
	if errors.Is(end.err, errMistrust) || looped || h.trial {
		h.restarts, h.trial, h.exits.times, h.hangs.times = 0, false, nil, nil
		return true, 0
	}
	delay = h.times.restartDelay(h.restarts)
	h.restarts++
	return false, delay
}
