package main

import (
	"os"
	"strconv"
	"sync/atomic"

	"github.com/sluice-gateway/sluice/executor"
)

// threads bounds the threads of one process where neither a control group nor a
// uid of its own does: there each start of one waits for an answer (see
// sandbox.Call.StartsThread). The zero value is ready. Threads that start at the
// same moment are not seen by one another: once there can be up to twice as many.
type threads struct{ most atomic.Uint32 }

func (t *threads) bound(l executor.Limits) {
	fill(&l.Threads, defaultThreads)
	t.most.Store(l.Threads)
}

// room says whether the process of that thread may have one more, beside its first.
func (t *threads) room(tid int) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return false
	}
	now, err := field(status, "Threads:")
	most := t.most.Load()
	fill(&most, defaultThreads)
	return err == nil && uint32(now) <= most //nolint:gosec // field gives no negative number
}

// kernelCountsTasks says whether each child's processes and threads are bounded
// by the kernel: by its control group, or as its own user's.
func (g *ground) kernelCountsTasks() bool {
	if g.groupWall().InForce && g.offer.GroupsWhy == "" {
		return true
	}
	return g.offer.UID == 0 && g.plan.Apart != byGroup
}
