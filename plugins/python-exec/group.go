package main

import (
	"fmt"
	"sync"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// defaultThreads is how many a program has where a limit does not say.
const defaultThreads = 16

// groupSlack is what a child may take beyond its limit and the interpreter's
// own memory: page tables and buffers, which its limit of address space, met
// first by a program that only allocates, does not count.
const (
	groupSlack = 96 << 20
	groupStep  = 32 << 20
	// mostLeft is what the kernel may still hold for those who were in a group (names
	// that were looked up, files that were read) when it is used again: the next one
	// would have to wait until that is taken back.
	mostLeft = 16 << 20
)

// folds are the control groups of children, one each. A group is used again
// when it is empty: to make and to remove one costs more than all else that is
// done for a child. Its methods may be called from several goroutines.
type folds struct {
	groups *sandbox.Groups

	mu   sync.Mutex
	made int
	free []*fold
}

// fold is one control group and what it was last told and seen to count.
type fold struct {
	group  *sandbox.Group
	limits sandbox.GroupLimits
	kills  uint64 // for memory, before the present child

	charged uint64 // bytes, by those before the present child
	once    bool   // it is not for a child again
}

func openFolds() (*folds, error) {
	groups, err := sandbox.OpenGroups("python")
	if err != nil {
		return nil, err
	}
	return &folds{groups: groups}, nil
}

// take gives an empty group with these limits.
func (f *folds) take(l sandbox.GroupLimits) (*fold, error) {
	f.mu.Lock()
	if last := len(f.free) - 1; last >= 0 {
		one := f.free[last]
		f.free = f.free[:last]
		f.mu.Unlock()
		return one, one.ready(l)
	}
	f.made++
	name := fmt.Sprintf("child-%d", f.made)
	f.mu.Unlock()
	group, err := f.groups.New(name, l)
	if err != nil {
		return nil, err
	}
	return &fold{group: group, limits: l}, nil
}

func (o *fold) ready(l sandbox.GroupLimits) (err error) {
	if o.kills, err = o.group.Kills(); err != nil {
		return err
	}
	return o.limit(l)
}

func (o *fold) limit(l sandbox.GroupLimits) error {
	if l == o.limits {
		return nil
	}
	if err := o.group.Limit(l); err != nil {
		return err
	}
	o.limits = l
	return nil
}

// give takes a group back; what is left in it is ended.
func (f *folds) give(o *fold) error {
	if o.once {
		return o.group.Remove()
	}
	if err := o.group.Kill(); err != nil {
		return err
	}
	if left, err := o.group.Memory(); err != nil || left > mostLeft {
		return o.group.Remove()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free = append(f.free, o)
	return nil
}

func (f *folds) close() error { return f.groups.Close() }

// groupLimits are a child's limits as its control group counts: with the pages
// that it shares with the interpreter until it writes to them.
func (z *zygote) groupLimits(l executor.Limits) sandbox.GroupLimits {
	fill(&l.MemoryBytes, z.ground.cfg.MemoryBytes)
	fill(&l.Threads, defaultThreads)
	return sandbox.GroupLimits{
		Memory: l.MemoryBytes + min(z.about.RSSBytes, 1<<30)&^(groupStep-1) + groupSlack, // in steps: two interpreters hardly differ
		Tasks:  1 + uint64(l.Threads) + uint64(l.Processes),
	}
}

// enfold puts a child that was just forked into a control group of its own,
// where there are any. It waits for a word before it does anything.
func (c *child) enfold() (err error) {
	if c.z.ground.folds == nil {
		return nil
	}
	if c.fold, err = c.z.ground.folds.take(c.z.groupLimits(executor.Limits{})); err != nil {
		return err
	}
	if c.keeper { // what it is charged is told its caller
		if c.fold.charged, err = c.fold.group.Memory(); err != nil {
			return err
		}
	}
	return c.fold.group.AddPIDFD(c.pidfd)
}

// tighten gives the control group the limits of this run.
func (c *child) tighten(l executor.Limits) error {
	c.threads.bound(l)
	if c.fold == nil {
		return nil
	}
	return c.fold.limit(c.z.groupLimits(l))
}

// outOfMemory says whether the kernel ended something of the child for memory.
func (c *child) outOfMemory() bool {
	if c.fold == nil {
		return false
	}
	n, err := c.fold.group.Kills()
	return err == nil && n > c.fold.kills
}

// unfold gives the control group back when the child has ended.
func (c *child) unfold() {
	<-c.ended
	if err := c.z.ground.folds.give(c.fold); err != nil {
		c.z.log.Warn("a control group is not used again", "error", err)
	}
}
