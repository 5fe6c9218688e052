package executortest

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
)

// Run holds e against the contract, one subtest a check: what e says of itself,
// every language's submissions, and then draining. settings are as for Start. A
// check whose sample e does not describe is skipped and says so.
//
// Checks of a process of its own (its start, its signals, what it leaves
// behind) are not among them.
func Run(t *testing.T, e executor.Executor, settings ...executor.Config) {
	t.Helper()
	s := newSuite(serve(t, e), e)
	for _, c := range describeChecks() {
		t.Run(c.id+" "+c.name, func(t *testing.T) { c.do(t, s) })
	}
	if _, err := s.host.Describe(context.Background(), "test", "samples"); err != nil {
		t.Fatal(err)
	}
	configure(t, s.wire, settings)
	for _, l := range s.about.Languages {
		s.lang = l
		for _, c := range slices.Concat(submitChecks(), sessionChecks()) {
			t.Run(l.ID+"/"+c.id+" "+c.name, func(t *testing.T) { c.do(t, s) })
		}
	}
	for _, c := range lastChecks() {
		t.Run(c.id+" "+c.name, func(t *testing.T) { c.do(t, s) })
	}
}

// reporter is the part of *testing.T that checks use, so that the checks
// themselves can be tested.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// check is one rule of the contract.
type check struct {
	id, name string
	do       func(reporter, *suite)
}

// suite is an executor under test.
type suite struct {
	exec  executor.Executor
	wire  *wire.InProcess
	host  *wire.Client
	about executor.Description
	lang  executor.Language // the one whose turn it is

	sessions atomic.Int64 // ids that were used
}

func newSuite(p *wire.InProcess, e executor.Executor) *suite {
	s := &suite{exec: e, wire: p, host: p.Client, about: e.Describe()}
	if len(s.about.Languages) > 0 {
		s.lang = s.about.Languages[0]
	}
	return s
}

// Times that checks allow. tolerance is for a busy machine.
const (
	checkTime  = 60 * time.Second
	parseLimit = 20 * time.Second
	runLimit   = 30 * time.Second
	tolerance  = 500 * time.Millisecond
	slotTime   = time.Second
)

// sample gives the first sample of a kind, or skips the check.
func (s *suite) sample(r reporter, kind string) executor.Sample {
	r.Helper()
	for _, sample := range s.lang.Samples {
		if sample.Kind == kind {
			return sample
		}
	}
	r.Skipf("language %q has no sample of kind %q", s.lang.ID, kind)
	return executor.Sample{}
}

func (s *suite) samples(kind string) (list []executor.Sample) {
	for _, sample := range s.lang.Samples {
		if sample.Kind == kind {
			list = append(list, sample)
		}
	}
	return list
}

func (s *suite) source(code []byte) executor.Source {
	return executor.Source{
		ID: "conformance", Language: s.lang.ID, Tool: s.lang.ID, Code: code, ValueWanted: true,
		ParseLimits: executor.Limits{Wall: parseLimit},
	}
}

// everything is a grant that a sample can want no more than.
func everything(l executor.Limits) executor.Grant {
	if l.Wall == 0 {
		l.Wall = runLimit
	}
	return executor.Grant{Limits: l, Grants: []string{"import:*", "builtin:*"}, DecisionID: "conformance"}
}

// submit sends code and gives up the check on an error.
func (s *suite) submit(ctx context.Context, r reporter, code []byte) *wire.Submission {
	r.Helper()
	sub, err := s.host.Submit(ctx, s.source(code))
	if err != nil {
		r.Fatalf("submit: %v", err)
	}
	return sub
}

// parsed is submit for code that must wait for a verdict.
func (s *suite) parsed(ctx context.Context, r reporter, code []byte) *wire.Submission {
	r.Helper()
	sub := s.submit(ctx, r, code)
	if end := sub.Ended(); end != nil {
		r.Fatalf("ended %s before the verdict: %s", end.Status, problemText(end.Problem))
	}
	return sub
}

// outcome is a result and what was printed.
type outcome struct {
	executor.Result
	stdout, stderr []byte
}

func (o *outcome) take(stream executor.Stream, chunk []byte) {
	if stream == executor.Stdout {
		o.stdout = append(o.stdout, chunk...)
		return
	}
	o.stderr = append(o.stderr, chunk...)
}

// run submits code, approves it within l, and gives up the check on an error.
func (s *suite) run(ctx context.Context, r reporter, code []byte, l executor.Limits) outcome {
	r.Helper()
	sub := s.parsed(ctx, r, code)
	defer sub.Close()
	var o outcome
	var err error
	if o.Result, err = sub.Run(ctx, everything(l), o.take); err != nil {
		r.Fatalf("run: %v", err)
	}
	return o
}

func problemText(p *executor.Problem) string {
	if p == nil {
		return "no problem told"
	}
	return p.Type + ": " + p.Message
}

// within says whether ok comes true in time.
func within(limit time.Duration, ok func() bool) bool {
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// idle demands that nothing is in flight and that every slot is free, soon.
func (s *suite) idle(ctx context.Context, r reporter) {
	r.Helper()
	s.nothingInFlight(ctx, r)
	if !within(slotTime+tolerance, func() bool { return s.slotsAreFree(ctx, r) }) {
		r.Errorf("a slot is taken still, %s after its submission ended", slotTime)
	}
	s.nothingInFlight(ctx, r)
}

func (s *suite) nothingInFlight(ctx context.Context, r reporter) {
	r.Helper()
	if !within(slotTime+tolerance, func() bool {
		stats, err := s.host.Stats(ctx)
		return err == nil && stats.Inflight == 0
	}) {
		r.Errorf("a submission is in flight still")
	}
}

// mostSlots bounds the slots that are tried.
const mostSlots = 64

// slotsAreFree fills every slot once.
func (s *suite) slotsAreFree(ctx context.Context, r reporter) bool {
	code := s.harmless()
	for range min(max(s.about.Capacity.MaxConcurrent, 1), mostSlots) {
		sub := s.submit(ctx, r, code)
		defer sub.Close()
		if end := sub.Ended(); end != nil && end.Status == executor.StatusOverloaded {
			return false
		}
	}
	return true
}

// harmless is a text to submit where any will do.
func (s *suite) harmless() []byte {
	for _, kind := range []string{"ok", "canary", "runtime_error"} {
		if list := s.samples(kind); len(list) > 0 {
			return list[0].Code
		}
	}
	return nil
}
