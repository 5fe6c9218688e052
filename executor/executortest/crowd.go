package executortest

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
)

func checkCrowd(r reporter, s *suite) {
	const more = 4
	code := s.sample(r, "ok").Code
	ctx, cancel := checkContext()
	defer cancel()
	var wg sync.WaitGroup
	for range min(s.about.Capacity.MaxConcurrent, mostSlots) + more {
		wg.Go(func() {
			sub, err := s.host.Submit(ctx, s.source(code))
			if err != nil {
				r.Errorf("submit: %v", err)
				return
			}
			defer sub.Close()
			if sub.Ended() != nil {
				if sub.Ended().Status != executor.StatusOverloaded {
					r.Errorf("ended %s", sub.Ended().Status)
				}
				return
			}
			if res, err := sub.Run(ctx, everything(executor.Limits{}), new(outcome).take); err != nil || res.Status != executor.StatusOK {
				r.Errorf("status %s, error %v", res.Status, err)
			}
		})
	}
	wg.Wait()
	s.free(ctx, r)
}

// checkMixed sends two hundred submissions of all kinds that are short, and
// leaves some of them in every state.
func checkMixed(r reporter, s *suite) {
	const total, atOnce = 200, 8
	ctx, cancel := checkContext()
	defer cancel()
	codes := [][]byte{s.sample(r, "ok").Code}
	for _, kind := range []string{"syntax_error", "runtime_error", "canary"} {
		for _, sample := range s.samples(kind) {
			codes = append(codes, sample.Code)
		}
	}
	before, err := s.host.Stats(ctx)
	if err != nil {
		r.Fatalf("%v", err)
	}
	var wg sync.WaitGroup
	for worker := range atOnce {
		wg.Go(func() {
			dice := rand.New(rand.NewPCG(1, uint64(worker)))
			for range total / atOnce {
				s.oneOfMany(ctx, r, codes[dice.IntN(len(codes))], dice.IntN(4))
			}
		})
	}
	wg.Wait()
	s.idle(ctx, r)
	s.addUp(ctx, r, before)
}

// oneOfMany submits code and then leaves, denies, or runs it.
func (s *suite) oneOfMany(ctx context.Context, r reporter, code []byte, fate int) {
	if fate == 0 {
		var leave context.CancelFunc
		ctx, leave = context.WithTimeout(ctx, time.Millisecond)
		defer leave()
	}
	sub, err := s.host.Submit(ctx, s.source(code))
	if err != nil {
		if ctx.Err() == nil {
			r.Errorf("submit: %v", err)
		}
		return
	}
	defer sub.Close()
	if sub.Ended() != nil || fate == 1 {
		return
	}
	if fate == 2 {
		sub.Deny("conformance", nil)
		return
	}
	if _, err := sub.Run(ctx, everything(executor.Limits{}), new(outcome).take); err != nil {
		r.Errorf("run: %v", err)
	}
}

// addUp demands that every submission has ended in one result, and that no
// counter has fallen.
func (s *suite) addUp(ctx context.Context, r reporter, before wire.Stats) {
	var after wire.Stats
	var sum uint64
	if !within(slotTime+tolerance, func() bool {
		var err error
		if after, err = s.host.Stats(ctx); err != nil {
			return false
		}
		sum = 0
		for _, n := range after.Results {
			sum += n
		}
		return sum == after.Submissions
	}) {
		r.Errorf("%d submissions and %d results", after.Submissions, sum)
	}
	for name, n := range before.Results {
		if after.Results[name] < n {
			r.Errorf("counter %q fell", name)
		}
	}
	if after.Submissions < before.Submissions || after.OutputBytes < before.OutputBytes || after.CPU < before.CPU {
		r.Errorf("a counter fell: %+v, then %+v", before, after)
	}
}

func checkRefusedEffect(r reporter, s *suite) {
	effect, probe := s.sample(r, "effect"), s.sample(r, "probe")
	ctx, cancel := checkContext()
	defer cancel()
	s.parsed(ctx, r, effect.Code).Deny("conformance", nil)
	hold(r, probe, s.run(ctx, r, probe.Code, executor.Limits{}))
}

func checkNoState(r reporter, s *suite) {
	effect, probe := s.sample(r, "effect"), s.sample(r, "probe")
	ctx, cancel := checkContext()
	defer cancel()
	s.run(ctx, r, effect.Code, executor.Limits{})
	hold(r, probe, s.run(ctx, r, probe.Code, executor.Limits{}))
}

func checkMemory(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	o := s.run(ctx, r, s.sample(r, "alloc").Code, executor.Limits{MemoryBytes: 64 << 20})
	if o.Status != executor.StatusMemoryLimit {
		r.Errorf("status %s, %s", o.Status, problemText(o.Problem))
	}
	s.idle(ctx, r)
}

func lastChecks() []check {
	return []check{{"O02", "draining refuses new work and ends running work", checkDrain, false}}
}

// checkDrain leaves the executor draining.
func checkDrain(r reporter, s *suite) {
	i := slices.IndexFunc(s.about.Languages, func(l executor.Language) bool {
		s.lang = l
		return len(s.samples("ok")) > 0
	})
	if i < 0 {
		r.Skipf("no language has a sample of kind %q", "ok")
	}
	ctx, cancel := checkContext()
	defer cancel()
	code := s.sample(r, "ok").Code
	running := s.parsed(ctx, r, code)
	defer running.Close()
	if n, err := s.host.Drain(ctx, "conformance"); err != nil || n != 1 {
		r.Errorf("drain with one in flight: %d, %v", n, err)
	}
	fresh := s.submit(ctx, r, code)
	defer fresh.Close()
	if end := fresh.Ended(); end == nil || end.Status != executor.StatusOverloaded {
		r.Errorf("new work ended %+v", end)
	}
	if h, err := s.host.Health(ctx, false); err != nil || h.State != wire.HealthDraining {
		r.Errorf("health is %s, %v", h.State, err)
	}
	if res, err := running.Run(ctx, everything(executor.Limits{}), new(outcome).take); err != nil || res.Status != executor.StatusOK {
		r.Errorf("running work: %s, %v", res.Status, err)
	}
}
