package executortest

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// mustBeProcess ends a check that looks at a plugin's process from outside,
// where there is none.
func (s *suite) mustBeProcess(r reporter) {
	r.Helper()
	if s.proc == nil {
		r.Absentf("it is seen at a process of its own, by gateway plugin verify")
	}
	if !canLook() {
		r.Skipf("there is no /proc to look at")
	}
}

func checkNothingStays(r reporter, s *suite) {
	s.mustBeProcess(r)
	code := s.sample(r, "spawn").Code
	ctx, cancel := checkContext()
	defer cancel()
	s.run(ctx, r, s.harmless(), executor.Limits{})
	before := s.settled()
	s.run(ctx, r, code, executor.Limits{Wall: 2 * time.Second})
	if !within(3*time.Second+tolerance, func() bool { return len(descendants(s.proc.pid)) <= before }) {
		r.Errorf("%d processes below the plugin, before it were %d", len(descendants(s.proc.pid)), before)
	}
	s.idle(ctx, r)
}

// settled is the number of the plugin's processes when it has come to rest.
func (s *suite) settled() int {
	last, same := -1, 0
	within(3*time.Second, func() bool {
		time.Sleep(50 * time.Millisecond)
		n := len(descendants(s.proc.pid))
		if n != last {
			last, same = n, 0
		}
		same++
		return same >= 8
	})
	return last
}

// checkLargeTree reads the parts themselves; their order and size is what the
// host's half would have refused.
func checkLargeTree(r reporter, s *suite) {
	const part = 256 << 10
	ctx, cancel := checkContext()
	defer cancel()
	code := s.sample(r, "large").Code
	st := s.open(ctx, r, sourceMessage(s, code))
	size, parts := 0, 0
	for {
		m, err := st.Recv()
		if err != nil {
			r.Fatalf("%v", err)
		}
		if res := m.GetResult(); res != nil {
			r.Fatalf("ended %s before the verdict", res.GetStatus())
		}
		n := len(m.GetTree().GetData())
		size, parts = size+n, parts+1
		if n > part {
			r.Errorf("part %d has %d bytes, more than %d", parts, n, part)
		}
		if t := m.GetTree().GetTrailer(); t != nil {
			if t.GetTreeBytes() != uint64(size) {
				r.Errorf("the trailer tells of %d bytes, %d came", t.GetTreeBytes(), size)
			}
			break
		}
	}
	cancel()
	r.Notef("%d bytes in %d parts", size, parts)
	if size <= part {
		r.Errorf("the tree of the sample has %d bytes: more than %d are needed to see parts", size, part)
	}
	s.tooLarge(r, code, uint64(size/2))
}

// tooLarge demands that a tree over the limit is refused.
func (s *suite) tooLarge(r reporter, code []byte, limit uint64) {
	r.Helper()
	ctx, cancel := checkContext()
	defer cancel()
	src := s.source(code)
	src.MaxTreeBytes = limit
	sub, err := s.host.Submit(ctx, src)
	if err != nil {
		r.Fatalf("submit: %v", err)
	}
	defer sub.Close()
	if end := sub.Ended(); end == nil || end.Status != executor.StatusTreeTooLarge {
		r.Errorf("at a limit of %d bytes it ended %+v", limit, end)
	}
}

// checkSleepingReader takes nothing of a flood for a while.
func checkSleepingReader(r reporter, s *suite) {
	const sleep, most = 1200 * time.Millisecond, 96 << 20
	s.mustBeProcess(r)
	code := s.sample(r, "flood").Code
	ctx, cancel := checkContext()
	defer cancel()
	s.run(ctx, r, s.harmless(), executor.Limits{})
	st := s.open(ctx, r, sourceMessage(s, code))
	approve := approveMessage(digest(r, st))
	approve.GetVerdict().GetApprove().Limits = &executorpb.Limits{WallMs: 5000, StdoutBytes: 64 << 20, StderrBytes: 64 << 20}
	before := wire.Resident(s.proc.pid) // of the process itself: its workers have limits of their own
	send(r, st, approve)
	peak := before
	within(sleep, func() bool { peak = max(peak, wire.Resident(s.proc.pid)); return false })
	cancel()
	if peak > before+most {
		r.Errorf("it took %d MiB more while nobody read", (peak-before)>>20)
	}
	again, end := checkContext()
	defer end()
	s.idle(again, r)
}

// Bounds of what many runs may leave in the plugin's own process.
const (
	runsWanted   = 500
	runsAtLeast  = 100
	runsTime     = 6 * time.Second
	moreMemory   = 16 << 20
	moreFiles    = 8
	moreThreads  = 16
	runsAtOnce   = 4
	shortOfRuns  = 60
	settlingTime = 3 * time.Second
)

func checkManyRuns(r reporter, s *suite) {
	s.mustBeProcess(r)
	s.sample(r, "ok")
	s.manyRuns(r, runsAtLeast/2)
	before := look(s.proc.pid)
	wanted := runsWanted
	if s.short {
		wanted = shortOfRuns
	}
	n := s.manyRuns(r, wanted)
	r.Notef("%d runs", n)
	var after footprint
	if !within(settlingTime, func() bool {
		after = look(s.proc.pid)
		return after.memory <= before.memory+max(before.memory/10, moreMemory) &&
			after.files <= before.files+moreFiles && after.threads <= before.threads+moreThreads
	}) {
		r.Errorf("after %d runs: %s; before: %s", n, after, before)
	}
}

// manyRuns runs an ok sample up to n times, less when time is short.
func (s *suite) manyRuns(r reporter, n int) int {
	ctx, cancel := checkContext()
	defer cancel()
	code := s.harmless()
	deadline := time.Now().Add(runsTime)
	var begun, done atomic.Int64
	var wg sync.WaitGroup
	for range runsAtOnce {
		wg.Go(func() {
			for begun.Add(1) <= int64(n) && (time.Now().Before(deadline) || done.Load() < runsAtLeast && n >= runsAtLeast) {
				if s.oneRun(ctx, r, code) {
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return int(done.Load())
}

// oneRun says whether it ended as it should.
func (s *suite) oneRun(ctx context.Context, r reporter, code []byte) bool {
	sub, err := s.host.Submit(ctx, s.source(code))
	if err != nil {
		r.Errorf("submit: %v", err)
		return false
	}
	defer sub.Close()
	if end := sub.Ended(); end != nil {
		if !slices.Contains([]executor.Status{executor.StatusOverloaded, executor.StatusCompileError}, end.Status) {
			r.Errorf("ended %s", end.Status)
		}
		return false
	}
	if _, err := sub.Run(ctx, everything(executor.Limits{}), new(outcome).take); err != nil {
		r.Errorf("run: %v", err)
		return false
	}
	return true
}
