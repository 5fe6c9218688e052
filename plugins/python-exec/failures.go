package main

import (
	"errors"
	"time"
)

// failures are children that did not start, one after another.
type failures struct {
	row     int
	pausing bool // none is tried now
}

// mostFailures is after how many in a row the interpreter is thought to be at
// fault, and another is started beside it.
const mostFailures = 8

// pause is how long to wait before the next try.
func (f failures) pause() time.Duration {
	return min(50*time.Millisecond<<min(f.row-1, 8), 3*time.Second)
}

// failed draws the conclusion from a child that did not start. An interpreter
// that lives is kept: sessions hang on it, and what one child lacked, memory or
// a descriptor, the next may have. Called locked.
func (p *pool) failed(z *zygote, err error) {
	p.log.Warn("no child", "error", err)
	defer p.wake.Broadcast()
	switch {
	case z != p.current:
	case errors.Is(err, errZygote):
		p.current = nil // the tender starts another
	case errors.Is(err, errSilent):
		p.current = nil
		z.kill()
	default:
		p.failures.row++
		p.failures.pausing = true
		time.AfterFunc(p.failures.pause(), func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.failures.pausing = false
			p.wake.Broadcast()
		})
		if p.failures.row%mostFailures == 0 {
			z.wear()
		}
	}
}

// wear has the interpreter replaced; children and sessions of it go on.
func (z *zygote) wear() {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.worn = true
}
