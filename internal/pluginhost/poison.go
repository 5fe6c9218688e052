package pluginhost

import (
	"crypto/sha256"
	"sync"
	"time"
)

// poison remembers which texts were with a plugin when it crashed. A text that
// was there once is a suspect: suspects go one at a time (see pool.lane), so a
// second crash has one culprit, and a text that ends well is a suspect no
// longer. A text that was there at two crashes is refused.
type poison struct {
	window time.Duration
	limit  int

	mu   sync.Mutex
	seen map[digest]*window
}

type digest = [sha256.Size]byte

// maxSuspects bounds the list; beyond it the whole list is forgotten.
const maxSuspects = 4096

func newPoison(t timing) *poison {
	return &poison{window: t.poisonWindow, limit: t.poison, seen: map[digest]*window{}}
}

// blame counts one crash against each text.
func (p *poison) blame(texts []digest, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen)+len(texts) > maxSuspects {
		clear(p.seen)
	}
	for _, d := range texts {
		if p.seen[d] == nil {
			p.seen[d] = &window{length: p.window}
		}
		p.seen[d].add(now)
	}
}

// clear acquits a text.
func (p *poison) clear(d digest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.seen, d)
}

// judge says how to treat a text.
func (p *poison) judge(d digest, now time.Time) (suspect, refused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.seen[d]
	if w == nil {
		return false, false
	}
	n := w.count(now)
	if n == 0 {
		delete(p.seen, d)
	}
	return n > 0, n >= p.limit
}
