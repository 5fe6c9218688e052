package main

import "golang.org/x/sys/unix"

// heaviest is how much memory a spent child may hold on to, in bytes.
const heaviest = 256 << 20

// lay takes a child that is done with. To end it takes the kernel some
// milliseconds of the time in which its replacement is made, so it is stopped,
// and ended when that stands: there are as many processes after an answer as
// before the request. Stopped it runs nothing, and only who can have left no
// other process behind is kept so.
func (p *pool) lay(c *child) {
	if !c.rest() {
		c.discard()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || c.z != p.current {
		c.discard()
		return
	}
	c.closeFiles()
	p.spent = append(p.spent, c)
	p.unlay()
}

// unlay ends spent children beyond those whose replacement is still to be made.
// Called locked.
func (p *pool) unlay() {
	pending := 0
	if !p.closed && p.current != nil {
		pending = p.making + max(p.wanted(), 0)
	}
	for len(p.spent) > pending {
		p.spent[0].discard()
		p.spent = p.spent[1:]
	}
}

// rest stops the child if it is one that may be kept so.
func (c *child) rest() bool {
	if c.z.ground.plan.Calls == nil || c.forbade() != "" || !c.alive() {
		return false
	}
	if used, ok := c.measure(); !ok || used.rss > heaviest {
		return false
	}
	c.signal(unix.SIGSTOP)
	return true
}
