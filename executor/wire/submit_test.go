package wire

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

func TestRunCarriesEverything(t *testing.T) {
	p := serve(t, &stub{})
	src := source("stdin\nprint out\nerr bad\ngrants\nvalue 42\nartifact 10")
	src.Stdin = []byte("in")
	s, err := p.Client.Submit(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Ended() != nil || s.Tree().Schema != "stub/1" || s.Tree().Nodes != 1 || !bytes.Contains(s.Tree().JSON, []byte("stdin")) {
		t.Fatalf("tree %+v, ended %v", s.Tree(), s.Ended())
	}
	var out printed
	grant := executor.Grant{Grants: []string{"import:a", "import:b"}, DecisionID: "d1"}
	res, err := s.Run(t.Context(), grant, out.take)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.stdout.String(); got != "inoutimport:a,import:bd1" {
		t.Errorf("stdout %q", got)
	}
	if got := out.stderr.String(); got != "bad" {
		t.Errorf("stderr %q", got)
	}
	if want := []executor.Stream{executor.Stdout, executor.Stderr, executor.Stdout}; len(out.order) != len(want) {
		t.Errorf("chunks came as %v, want the streams in the order of %v", out.order, want)
	}
	if res.Status != executor.StatusOK || res.Value != "42" || !res.HasValue || len(res.Artifacts) != 1 ||
		res.StdoutBytes != 24 || res.StderrBytes != 3 || res.Usage.Wall == 0 || res.Usage.Parse == 0 {
		t.Errorf("result %+v", res)
	}
	idle(t, p.Client)
}

func TestEndsBeforeVerdict(t *testing.T) {
	t.Parallel()
	cases := map[string]executor.Status{
		"syntax":         executor.StatusCompileError,
		"parsefault":     executor.StatusInternal,
		"parseraise":     executor.StatusInternal,
		"parsenil":       executor.StatusInternal,
		"parsepanic":     executor.StatusInternal,
		"parseexit":      executor.StatusInternal,
		"treepanic":      executor.StatusInternal,
		"badtree":        executor.StatusInternal,
		"tree 2000000":   executor.StatusTreeTooLarge,
		"parsesleep":     executor.StatusWallLimit,
		"parsedeaf 3000": executor.StatusWallLimit,
	}
	e := &stub{capacity: executor.Capacity{MaxTreeBytes: 1 << 20}}
	p := serve(t, e)
	for code, want := range cases {
		t.Run(code, func(t *testing.T) {
			src := source(code)
			src.ParseLimits.Wall = 100 * time.Millisecond
			s, err := p.Client.Submit(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.Ended() == nil || s.Ended().Status != want {
				t.Fatalf("ended %+v, want %s", s.Ended(), want)
			}
			if want == executor.StatusCompileError && (s.Ended().Problem == nil || s.Ended().Problem.Column != 2) {
				t.Errorf("problem %+v", s.Ended().Problem)
			}
			if _, err := s.Run(t.Context(), executor.Grant{}, nil); !errors.Is(err, errJudged) {
				t.Errorf("run of an ended submission: %v", err)
			}
			s.Deny("d", nil)
		})
	}
	idle(t, p.Client)
	eventually(t, "every program's end", func() bool { return e.closed.Load() == 4 })
	if e.ran.Load() != 0 {
		t.Error("something ran")
	}
	if log := p.log.String(); strings.Contains(log, "text of a submission") || !strings.Contains(log, "secret of the plugin") {
		t.Errorf("log is to hold the plugin's fault and no submission's text:\n%s", log)
	}
}

func TestRunOutcomes(t *testing.T) {
	t.Parallel()
	e := &stub{}
	p := serve(t, e)
	cases := []struct {
		code  string
		limit executor.Limits
		want  executor.Status
		fired string
	}{
		{code: "raise no", want: executor.StatusRuntimeError},
		{code: "fault", want: executor.StatusInternal},
		{code: "panic text of a submission", want: executor.StatusInternal},
		{code: "nilpanic", want: executor.StatusInternal},
		{code: "goexit", want: executor.StatusInternal},
		{code: "memory", want: executor.StatusMemoryLimit, fired: "memory"},
		{code: "status 15", want: executor.StatusCrashed},
		{code: "status 16", want: executor.StatusExitNonzero},
		{code: "status 7", want: executor.StatusCPULimit, fired: "cpu"},
		{code: "status 4", want: executor.StatusInternal},
		{code: "status 14", want: executor.StatusInternal},
		{code: "status 99", want: executor.StatusInternal},
		{code: "sleep", limit: wall(50), want: executor.StatusWallLimit, fired: "wall"},
		{code: "cause", limit: wall(50), want: executor.StatusWallLimit, fired: "wall"},
		{code: "finish", limit: wall(50), want: executor.StatusWallLimit, fired: "wall"},
		{code: "deaf 3000", limit: wall(50), want: executor.StatusWallLimit, fired: "wall"},
		{code: "artifact 11", limit: executor.Limits{ArtifactBytes: 10}, want: executor.StatusInternal},
	}
	for _, c := range cases {
		t.Run(c.code, func(t *testing.T) {
			began := time.Now()
			res, _ := runCode(t, p.Client, c.code, c.limit)
			if res.Status != c.want || res.LimitFired != c.fired {
				t.Errorf("%s, limit %q; want %s, %q", res.Status, res.LimitFired, c.want, c.fired)
			}
			if took := time.Since(began); took > 2500*time.Millisecond {
				t.Errorf("took %s", took)
			}
		})
	}
	idle(t, p.Client)
	eventually(t, "every program's end", func() bool { return e.closed.Load() == int64(len(cases)) })
	if got := p.Client.Strikes(); got != (Strikes{}) {
		t.Errorf("strikes %+v", got)
	}
	if log := p.log.String(); strings.Contains(log, "text of a submission") || !strings.Contains(log, "nil pointer") {
		t.Errorf("log is to hold runtime errors and no submission's text:\n%s", log)
	}
}

func wall(ms int) executor.Limits {
	return executor.Limits{Wall: time.Duration(ms) * time.Millisecond}
}

func TestOutputIsKeptToTheLimit(t *testing.T) {
	p := serve(t, &stub{})
	limits := executor.Limits{StdoutBytes: 100_000, StderrBytes: 2}
	res, out := runCode(t, p.Client, "flood 300000\nerr abc", limits)
	if out.stdout.Len() != 100_000 || out.stderr.String() != "ab" {
		t.Errorf("came %d and %q", out.stdout.Len(), out.stderr.String())
	}
	if res.Status != executor.StatusOK || res.StdoutBytes != 300_000 || res.StdoutOmitted != 200_000 ||
		res.StderrOmitted != 1 || res.LimitFired != "stdout_bytes" {
		t.Errorf("result %+v", res)
	}
	if got := stats(t, p.Client).OutputBytes; got != 100_002 {
		t.Errorf("output_bytes is %d", got)
	}
}

func TestOutputCeilingStopsTheProgram(t *testing.T) {
	p := serve(t, &stub{})
	limits := executor.Limits{StdoutBytes: 1000, OutputCeilingBytes: 1 << 20}
	res, out := runCode(t, p.Client, "forever", limits)
	if res.Status != executor.StatusOutputLimit || res.LimitFired != "output_ceiling_bytes" || out.stdout.Len() != 1000 {
		t.Errorf("result %+v, came %d", res, out.stdout.Len())
	}
}

func TestOutputLeavesWhileTheProgramRuns(t *testing.T) {
	p := serve(t, &stub{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := submit(t, p.Client, "print early\nsleep").Run(ctx, executor.Grant{}, func(executor.Stream, []byte) { cancel() })
	if err != nil || res.Status != executor.StatusCancelled || res.StdoutBytes != 5 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestDeny(t *testing.T) {
	e := &stub{}
	p := serve(t, e)
	s := submit(t, p.Client, "print no")
	s.Deny("d1", []string{"because"})
	s.Deny("d1", nil) // a second one is nothing
	if _, err := s.Run(t.Context(), executor.Grant{}, nil); !errors.Is(err, errJudged) {
		t.Errorf("run after a refusal: %v", err)
	}
	idle(t, p.Client)
	if got := stats(t, p.Client).Results["DENIED"]; got != 1 || e.ran.Load() != 0 || e.closed.Load() != 1 {
		t.Errorf("denied %d, ran %d, closed %d", got, e.ran.Load(), e.closed.Load())
	}
	if got := p.Client.Strikes(); got != (Strikes{}) {
		t.Errorf("strikes %+v", got)
	}
}

func TestJudgeOnly(t *testing.T) {
	e := &stub{}
	p := serve(t, e)
	src := source("print no")
	src.JudgeOnly = true
	for _, judge := range []func(s *Submission){
		func(s *Submission) {
			if _, err := s.Run(t.Context(), executor.Grant{}, nil); !errors.Is(err, errShown) {
				t.Errorf("run: %v", err)
			}
		},
		func(s *Submission) { s.Deny("", nil) },
	} {
		s, err := p.Client.Submit(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		judge(s)
	}
	idle(t, p.Client)
	if got := p.Client.Strikes(); e.ran.Load() != 0 || got != (Strikes{}) {
		t.Errorf("ran %d, strikes %+v", e.ran.Load(), got)
	}
}

func TestNoVerdictInTime(t *testing.T) {
	p := serve(t, &stub{})
	src := source("print x")
	src.VerdictWait = 20 * time.Millisecond
	s, err := p.Client.Submit(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	eventually(t, "the end of the wait", func() bool { return stats(t, p.Client).Results["CANCELLED"] == 1 })
	res, err := s.Run(t.Context(), executor.Grant{}, func(executor.Stream, []byte) { t.Error("output") })
	if err != nil || res.Status != executor.StatusCancelled {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestCancelSoft(t *testing.T) {
	t.Parallel()
	e := &stub{}
	p := serve(t, e)
	for _, code := range []string{"print a\nsleep", "print a\nfinish"} {
		cancelled(t, p.Client, code)
	}
	if got := p.Client.Strikes(); got != (Strikes{}) {
		t.Errorf("strikes %+v", got)
	}
	cancelled(t, p.Client, "print a\ndeaf 3000")
	idle(t, p.Client)
	eventually(t, "every program's end", func() bool { return e.closed.Load() == 3 })
}

// cancelled runs code, which prints "a", and cancels it then.
func cancelled(t *testing.T, c *Client, code string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out printed
	began := time.Now()
	res, err := submit(t, c, code).Run(ctx, executor.Grant{}, func(s executor.Stream, b []byte) {
		out.take(s, b)
		cancel()
	})
	if err != nil || res.Status != executor.StatusCancelled || out.stdout.String() != "a" || res.StdoutBytes != 1 {
		t.Errorf("%q: %+v, %v", code, res, err)
	}
	if took := time.Since(began); took > 2500*time.Millisecond {
		t.Errorf("%q took %s", code, took)
	}
}

func TestRunOfACallerThatIsGone(t *testing.T) {
	e := &stub{}
	p := serve(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := submit(t, p.Client, "print x").Run(ctx, executor.Grant{}, func(executor.Stream, []byte) { t.Error("output") })
	if err != nil || res.Status != executor.StatusCancelled {
		t.Errorf("%+v, %v", res, err)
	}
	idle(t, p.Client)
	if e.ran.Load() != 0 {
		t.Error("it ran")
	}
}

func TestSubmitEndsWithItsContext(t *testing.T) {
	p := serve(t, &stub{})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := p.Client.Submit(ctx, source("parsesleep")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	idle(t, p.Client)
	if got := p.Client.Strikes(); got != (Strikes{}) {
		t.Errorf("strikes %+v", got)
	}
}

func TestClientGoneFreesTheSlot(t *testing.T) {
	e := &stub{capacity: executor.Capacity{MaxConcurrent: 1}}
	p := serve(t, e)
	submit(t, p.Client, "print waiting").Close()
	idle(t, p.Client)

	running := submit(t, p.Client, "print x\nsleep")
	done := make(chan error, 1)
	go func() {
		_, err := running.Run(context.Background(), executor.Grant{}, func(executor.Stream, []byte) { running.Close() })
		done <- err
	}()
	if err := <-done; !errors.Is(err, errClosed) {
		t.Errorf("run of a closed submission: %v", err)
	}
	idle(t, p.Client)
	if res, _ := runCode(t, p.Client, "print free", executor.Limits{}); res.Status != executor.StatusOK {
		t.Errorf("slot is not free: %s", res.Status)
	}
	if e.closed.Load() != 3 {
		t.Errorf("%d programs were closed, want 3", e.closed.Load())
	}
}

func TestOverloaded(t *testing.T) {
	p := serve(t, &stub{capacity: executor.Capacity{MaxConcurrent: 2}})
	first, second := submit(t, p.Client, "print 1"), submit(t, p.Client, "print 2")
	third := submit(t, p.Client, "print 3")
	if third.Ended() == nil || third.Ended().Status != executor.StatusOverloaded {
		t.Fatalf("third ended %+v", third.Ended())
	}
	for _, s := range []*Submission{first, second} {
		if res, err := s.Run(t.Context(), executor.Grant{}, new(printed).take); err != nil || res.Status != executor.StatusOK {
			t.Errorf("%+v, %v", res, err)
		}
	}
	if res, _ := runCode(t, p.Client, "print 4", executor.Limits{}); res.Status != executor.StatusOK {
		t.Errorf("after the others: %s", res.Status)
	}
}

// A run that does not stop keeps its slot until it is over, though its caller
// has an answer.
func TestDeafRunKeepsItsSlot(t *testing.T) {
	t.Parallel()
	p := serve(t, &stub{capacity: executor.Capacity{MaxConcurrent: 1}})
	if res, _ := runCode(t, p.Client, "deaf 3000", wall(10)); res.Status != executor.StatusWallLimit {
		t.Fatal(res.Status)
	}
	if s := submit(t, p.Client, "print x"); s.Ended() == nil || s.Ended().Status != executor.StatusOverloaded {
		t.Errorf("slot was given away: %+v", s.Ended())
	}
	eventually(t, "a free slot", func() bool { return submit(t, p.Client, "print x").Ended() == nil })
}

func TestLargeTree(t *testing.T) {
	p := serve(t, &stub{})
	s := submit(t, p.Client, "tree 16777216")
	if len(s.Tree().JSON) != MaxTreeBytes {
		t.Fatalf("tree has %d bytes, ended %+v", len(s.Tree().JSON), s.Ended())
	}
	s.Deny("d", nil)
	if s := submit(t, p.Client, "tree 16777217"); s.Ended() == nil || s.Ended().Status != executor.StatusTreeTooLarge {
		t.Errorf("one byte more: %+v", s.Ended())
	}
	src := source("tree 1001")
	src.MaxTreeBytes = 1000
	if s, err := p.Client.Submit(t.Context(), src); err != nil || s.Ended() == nil || s.Ended().Status != executor.StatusTreeTooLarge {
		t.Errorf("more than asked for: %v", err)
	}
}

func TestSourceTooLarge(t *testing.T) {
	e := &stub{capacity: executor.Capacity{MaxSourceBytes: 100}}
	p := serve(t, e)
	long := strings.Repeat("x", 101)
	if s := submit(t, p.Client, long); s.Ended() == nil || s.Ended().Status != executor.StatusTreeTooLarge {
		t.Errorf("host let it pass: %+v", s.Ended())
	}
	p.Client.about.Store(nil) // a host that has forgotten
	if s := submit(t, p.Client, long); s.Ended() == nil || s.Ended().Status != executor.StatusTreeTooLarge {
		t.Errorf("plugin let it pass: %+v", s.Ended())
	}
	if s := submit(t, p.Client, strings.Repeat("x", maxSubmitBytes+1)); s.Ended() == nil {
		t.Error("source that no message holds was sent")
	}
}

func TestUnknownLanguageAndSession(t *testing.T) {
	p := serve(t, &stub{})
	for want, src := range map[executor.Status]executor.Source{
		executor.StatusInternal:    {Language: "other"},
		executor.StatusSessionLost: {Language: stubLanguage, SessionID: "s"},
	} {
		s, err := p.Client.Submit(t.Context(), src)
		if err != nil || s.Ended() == nil || s.Ended().Status != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
