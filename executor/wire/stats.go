package wire

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// invalid is the counter of submissions that a message out of order ended.
const invalid = "INVALID"

// counters are a plugin's numbers and its slots. Safe for concurrent use.
type counters struct {
	started time.Time

	mu          sync.Mutex
	inflight    uint32
	waiting     uint32
	busy        uint32 // slots in use; a run that does not stop keeps its own
	submissions uint64
	outputBytes uint64
	results     map[string]uint64
}

func newCounters() *counters {
	return &counters{started: time.Now(), results: map[string]uint64{}}
}

func (c *counters) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inflight++
	c.submissions++
}

func (c *counters) end(result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inflight--
	c.results[result]++
}

// take gets a slot of limit; 0 is no limit.
func (c *counters) take(limit uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if limit > 0 && c.busy >= limit {
		return false
	}
	c.busy++
	return true
}

func (c *counters) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
}

func (c *counters) wait(delta int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = uint32(int(c.waiting) + delta)
}

func (c *counters) wrote(n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outputBytes += n
}

func (c *counters) inflightNow() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inflight
}

func (c *counters) report() *executorpb.StatsResponse {
	c.mu.Lock()
	defer c.mu.Unlock()
	results := make(map[string]uint64, len(c.results))
	for name, n := range c.results {
		results[name] = n
	}
	return &executorpb.StatsResponse{
		UptimeMs: toUnits(time.Since(c.started), time.Millisecond),
		Inflight: c.inflight, WaitingVerdict: c.waiting, Submissions: c.submissions,
		Results: results, OutputBytes: c.outputBytes,
		RssBytes: Resident(os.Getpid()), CpuUs: toUnits(cpuTime(), time.Microsecond),
	}
}

// Resident is a process's resident memory in bytes, as it is counted against a
// submission's bound and told by Stats; 0 where the kernel does not say.
func Resident(pid int) uint64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

// cpuTime is this process's processor time with that of ended children.
func cpuTime() time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var use syscall.Rusage
		if syscall.Getrusage(who, &use) == nil {
			total += time.Duration(use.Utime.Nano() + use.Stime.Nano())
		}
	}
	return total
}
