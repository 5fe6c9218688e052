package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// aMoment is what an answer takes to its caller: all that can wait does until then.
const aMoment = 2 * time.Millisecond

// heavier is by how much more memory than the interpreter has a spent child may
// hold on to, in bytes.
const heavier = 64 << 20

// retire is done with a child that has not run, or not said how it ended.
func (p *pool) retire(c *child) {
	if used, ok := c.measure(); !ok || !c.light(used) {
		c.discard()
		return
	}
	c.signal(unix.SIGSTOP)
	p.lay(c)
}

// lay takes a light child that is done with, and stopped. To end it takes the
// kernel some milliseconds of the time in which its replacement is made, so it
// is ended when that stands: there are as many processes after an answer as
// before the request. Stopped it runs nothing.
func (p *pool) lay(c *child) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || c.z != p.current {
		c.discard()
		return
	}
	c.closeFiles()
	p.spent = append(p.spent, c)
	p.replace(aMoment)
	p.unlay()
}

// unlay ends spent children beyond those whose replacement is still to be made,
// and beyond what a full pool of them is. Called locked.
func (p *pool) unlay() {
	pending := 0
	if !p.closed && p.current != nil && len(p.slots) > 0 {
		pending = max(p.making, p.size.want-len(p.idle))
	}
	for len(p.spent) > pending {
		p.spent[0].discard()
		p.spent = p.spent[1:]
	}
}

// light says whether the child may be kept stopped: it has little memory, and
// can have made no other process.
func (c *child) light(used exit) bool {
	return c.z.ground.plan.Calls != nil && c.forbade() == "" && c.alive() && used.rss <= c.z.about.RSSBytes+heavier
}

// replaceWithin bounds the time that a program which had to be ended waits for
// its answer while the pool is filled up.
const replaceWithin = 300 * time.Millisecond

// refill waits until the pool is full again, for a while. Who had its child
// killed pays for the next one: crashes in a row cannot empty the pool faster
// than it is filled.
func (p *pool) refill() {
	late := false
	timer := time.AfterFunc(replaceWithin, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		late = true
		p.wake.Broadcast()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !late && !p.closed && len(p.idle) < min(p.cfg.WaitingChildren, p.size.want) {
		p.wake.Wait()
	}
}
