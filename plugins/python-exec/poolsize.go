package main

import "github.com/prometheus/procfs"

// size is how many children wait: between least and most, by what was asked for. Its
// methods are called with the pool locked.
type size struct {
	least, most int
	want        int
	fewest      int  // that waited at any time since the last look
	pressed     bool // memory is short: none is made ahead
}

// waitingBytes is what one waiting child holds for itself, rounded up.
const waitingBytes = 4 << 20

// newSize keeps most within what waiting children may hold together.
func newSize(s settings) size {
	most := max(s.WaitingChildren, min(s.MostWaiting, int(s.WaitingBytes/waitingBytes))) //nolint:gosec // validated
	return size{least: s.WaitingChildren, most: most, want: s.WaitingChildren, fewest: s.WaitingChildren}
}

// taken notes that one was taken, and how many are left.
func (s *size) taken(left int) { s.fewest = min(s.fewest, left) }

// missed notes that one was wanted and none waited.
func (s *size) missed() {
	s.fewest = 0
	if !s.pressed {
		s.want = min(s.want+1, s.most)
	}
}

// look gives up what nobody had use for since the last time, and all of it while memory
// is short. It says whether that has changed.
func (s *size) look(pressed bool) (changed bool) {
	changed = pressed != s.pressed
	s.pressed = pressed
	switch {
	case pressed:
		s.want = 0
	default:
		s.want = max(s.least, s.want-s.fewest)
	}
	s.fewest = s.want
	return changed
}

// Memory is short when the kernel says that somebody had to wait for some in so many
// percent of the last ten seconds, or when so little of it is available.
const (
	shortWait    = 10.0
	shortOfTotal = 5 // percent
	enoughAnyway = 1 << 30
)

// shortOfMemory asks the kernel, whose files lie in proc. What it does not tell, in a
// container or without CONFIG_PSI, counts for nothing.
func shortOfMemory(proc string) bool {
	fs, err := procfs.NewFS(proc)
	if err != nil {
		return false
	}
	if wait, err := fs.PSIStatsForResource("memory"); err == nil && wait.Some != nil && wait.Some.Avg10 >= shortWait {
		return true
	}
	info, err := fs.Meminfo()
	if err != nil || info.MemAvailableBytes == nil || info.MemTotalBytes == nil {
		return false
	}
	left, all := *info.MemAvailableBytes, *info.MemTotalBytes
	return left < enoughAnyway && left < all/100*shortOfTotal
}

// look fits the number of waiting children to what was asked for and to memory.
func (p *pool) look(short bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch changed := p.size.look(short); {
	case changed && short:
		p.log.Warn("memory is short: no children are made ahead, each program waits for its own")
	case changed:
		p.log.Info("memory is there again: children are made ahead")
	}
	for len(p.idle) > p.size.want {
		p.idle[0].discard()
		p.idle = p.idle[1:]
	}
	p.unlay()
	p.hasten()
}
