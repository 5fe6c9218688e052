package main

import (
	"fmt"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// defaultThreads is how many a program has where a limit does not say.
const defaultThreads = 16

// groupSlack is what a child may take beyond its limit and the interpreter's
// own memory: page tables and buffers, which its limit of address space, met
// first by a program that only allocates, does not count.
const groupSlack = 64 << 20

// groupLimits are a child's limits as its control group counts: with the pages
// that it shares with the interpreter until it writes to them.
func (z *zygote) groupLimits(l executor.Limits) sandbox.GroupLimits {
	fill(&l.MemoryBytes, z.ground.cfg.MemoryBytes)
	fill(&l.Threads, defaultThreads)
	return sandbox.GroupLimits{
		Memory: l.MemoryBytes + min(z.about.RSSBytes, 1<<30) + groupSlack,
		Tasks:  1 + uint64(l.Threads) + uint64(l.Processes),
	}
}

// fold puts a child that was just forked into a control group of its own, where
// there are any. It waits for a word before it does anything.
func (c *child) fold() error {
	groups := c.z.ground.groups
	if groups == nil {
		return nil
	}
	c.limits = c.z.groupLimits(executor.Limits{})
	group, err := groups.New(fmt.Sprintf("%s-%d", c.z.name, c.number), c.limits)
	if err != nil {
		return err
	}
	c.group = group
	return group.AddPIDFD(c.pidfd)
}

// tighten gives the control group the limits of this run.
func (c *child) tighten(l executor.Limits) error {
	want := c.z.groupLimits(l)
	if c.group == nil || want == c.limits {
		return nil
	}
	c.limits = want
	return c.group.Limit(want)
}

// outOfMemory says whether the kernel ended the child for memory.
func (c *child) outOfMemory() bool {
	if c.group == nil {
		return false
	}
	used, err := c.group.Usage()
	return err == nil && used.OOMKills > 0
}

// disband removes the control group, and ends what may be left in it.
func (c *child) disband() {
	if c.group == nil {
		return
	}
	if err := c.group.Remove(); err != nil {
		c.z.log.Warn("a control group stays", "error", err)
	}
}
