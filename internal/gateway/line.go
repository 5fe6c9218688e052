package gateway

import "slices"

// ticket is one submission's place in the line.
type ticket struct {
	caller string
	turn   chan struct{} // closed when a slot is its own
}

// line is the order in which waiting submissions are served. The slots call it
// under their lock.
type line interface {
	push(t *ticket)
	pop() *ticket          // who is next; nil: nobody waits
	remove(t *ticket) bool // who stopped waiting; false: it is not there
	len() int
}

// fifo serves in the order of coming.
type fifo struct{ tickets []*ticket }

func (f *fifo) push(t *ticket) { f.tickets = append(f.tickets, t) }

func (f *fifo) pop() *ticket {
	if len(f.tickets) == 0 {
		return nil
	}
	next := f.tickets[0]
	f.tickets = slices.Delete(f.tickets, 0, 1)
	return next
}

func (f *fifo) remove(t *ticket) bool {
	at := slices.Index(f.tickets, t)
	if at >= 0 {
		f.tickets = slices.Delete(f.tickets, at, at+1)
	}
	return at >= 0
}

func (f *fifo) len() int { return len(f.tickets) }
