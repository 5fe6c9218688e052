package executortest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// reporter is where a check says what it saw. Fatalf, Skipf and Absentf end the
// check.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)   // what it needs is missing: a sample, say
	Absentf(format string, args ...any) // it does not apply, for a reason that the plugin gives
	Notef(format string, args ...any)   // how far it went, for a reader
}

// check is one rule of the contract.
type check struct {
	id, rule string
	do       func(reporter, *suite)
	alone    bool // it starts the processes that it needs
}

// suite is an executor under test: in this process (exec), or as a process of
// its own (proc).
type suite struct {
	exec  executor.Executor
	raw   executorpb.ExecutorClient
	host  *wire.Client
	about executor.Description
	lang  executor.Language // the one whose turn it is
	early time.Duration     // that Describe took before there were settings

	program  Program
	verifier *host
	proc     *process
	short    bool // be content with less where many rounds are run

	sessions atomic.Int64 // ids that were used
}

func newSuite(p *wire.InProcess, e executor.Executor) *suite {
	s := &suite{exec: e, raw: p.Raw, host: p.Client}
	began := time.Now()
	s.about = e.Describe()
	s.early = time.Since(began)
	s.speak(0)
	return s
}

// speak chooses the language whose turn it is.
func (s *suite) speak(i int) {
	if i < len(s.about.Languages) {
		s.lang = s.about.Languages[i]
	}
}

// Times that checks allow. tolerance is for a busy machine.
const (
	checkTime  = 60 * time.Second
	parseLimit = 20 * time.Second
	runLimit   = 30 * time.Second
	tolerance  = 500 * time.Millisecond
	slotTime   = time.Second
)

// sample gives the first sample of a kind, or ends the check.
func (s *suite) sample(r reporter, kind string) executor.Sample {
	r.Helper()
	if why := s.lang.Lacks[kind]; why != "" {
		r.Absentf("%s: %s", kind, why)
	}
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

// free demands that nothing is in flight and that every slot is free, soon.
func (s *suite) free(ctx context.Context, r reporter) {
	r.Helper()
	s.idle(ctx, r)
	if !within(slotTime+tolerance, func() bool { return s.slotsAreFree(ctx, r) }) {
		r.Errorf("a slot is taken still, %s after its submission ended", slotTime)
	}
	s.idle(ctx, r)
}

// idle demands that nothing is in flight, soon.
func (s *suite) idle(ctx context.Context, r reporter) {
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
