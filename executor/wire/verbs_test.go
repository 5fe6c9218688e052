package wire

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

func TestDescribe(t *testing.T) {
	e := &stub{capacity: executor.Capacity{MaxConcurrent: 3, MaxSessions: 1, MaxSourceBytes: 5, MaxTreeBytes: 6}}
	p := serve(t, e)
	with, err := p.Client.Describe(t.Context(), "v", "samples", "other")
	if err != nil {
		t.Fatal(err)
	}
	want := e.Describe()
	sameJSON(t, with, want)
	without, err := p.Client.Describe(t.Context(), "v")
	if err != nil {
		t.Fatal(err)
	}
	want.Languages[0].Samples = nil
	sameJSON(t, without, want)
}

func TestConfigure(t *testing.T) {
	var got executor.Config
	e := &stub{configure: func(c executor.Config) ([]string, error) {
		if len(c.JSON) == 0 {
			return nil, errors.New("where are my settings?")
		}
		if string(c.JSON) == "panic" {
			panic("x")
		}
		got = c
		return []string{"old key"}, nil
	}}
	p, err := ServeInProcess(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)

	if h, err := p.Client.Health(t.Context(), false); err != nil || h.State != HealthStarting {
		t.Errorf("before: %+v, %v", h, err)
	}
	if _, err := p.Client.Submit(t.Context(), source("print x")); !errors.Is(err, ErrProtocol) {
		t.Errorf("submission before the settings: %v", err)
	}
	for _, bad := range []string{"", "panic"} {
		if _, err := p.Client.Configure(t.Context(), executor.Config{JSON: []byte(bad)}); !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	want := executor.Config{JSON: []byte(`{"a":1}`), StateDir: "/state", LogLevel: "debug", Secrets: map[string][]byte{"k": []byte("v")}}
	warnings, err := p.Client.Configure(t.Context(), want)
	if err != nil || len(warnings) != 1 || warnings[0] != "old key" {
		t.Errorf("%v, %v", warnings, err)
	}
	sameJSON(t, got, want)
	if _, err := p.Client.Configure(t.Context(), want); !errors.Is(err, ErrRefused) {
		t.Errorf("a second time: %v", err)
	}
	if h, err := p.Client.Health(t.Context(), true); err != nil || h.State != HealthReady {
		t.Errorf("after: %+v, %v", h, err)
	}
}

// plain has none of the optional methods.
type plain struct{ executor.Executor }

func TestPlainExecutorTakesNoSettings(t *testing.T) {
	p, err := ServeInProcess(plain{&stub{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if _, err := p.Client.Configure(t.Context(), executor.Config{JSON: []byte(`{"a":1}`)}); !errors.Is(err, ErrRefused) {
		t.Errorf("settings: %v", err)
	}
	if h, err := p.Client.Health(t.Context(), true); err != nil || h.State != HealthReady || h.State.String() != "READY" {
		t.Errorf("%+v, %v", h, err)
	}
	if res, _ := runCode(t, p.Client, "print x", executor.Limits{}); res.Status != executor.StatusOK {
		t.Error(res.Status)
	}
}

func TestHealthTellsOfFaults(t *testing.T) {
	e := &stub{health: errors.New("no interpreter")}
	p := serve(t, e)
	if h, err := p.Client.Health(t.Context(), true); err != nil || h.State != HealthDegraded || h.Detail != "no interpreter" {
		t.Errorf("%+v, %v", h, err)
	}
	if HealthUnknown.String() != "UNKNOWN" || HealthState(99).String() != "UNKNOWN" {
		t.Error("states without a name")
	}
}

// sampled is an executor without a check of its own, and with one sample.
type sampled struct {
	plain
	sample executor.Sample
}

func (s sampled) Describe() executor.Description {
	d := s.plain.Describe()
	d.Languages[0].Samples = []executor.Sample{s.sample}
	return d
}

func TestSelfTest(t *testing.T) {
	for want, samples := range map[HealthState][]executor.Sample{
		HealthReady: {
			{Kind: "ok", Code: []byte("print a\nerr b\nvalue c"), WantStdout: []byte("a"), WantValue: "c"},
			{Kind: "syntax_error", Code: []byte("syntax")},
		},
		HealthDegraded: {
			{Kind: "ok", Code: []byte("print a"), WantStdout: []byte("b")},
			{Kind: "ok", Code: []byte("value a"), WantValue: "b"},
			{Kind: "ok", Code: []byte("syntax")}, {Kind: "ok", Code: []byte("raise x")},
			{Kind: "ok", Code: []byte("status 15")}, {Kind: "ok", Code: []byte("panic x")}, {Kind: "ok", Code: []byte("parsepanic")},
		},
	} {
		for _, sample := range samples {
			p, err := ServeInProcess(sampled{plain{&stub{}}, sample}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			if h, err := p.Client.Health(t.Context(), true); err != nil || h.State != want {
				t.Errorf("%q: %+v, %v", sample.Code, h, err)
			}
			if h, err := p.Client.Health(t.Context(), false); err != nil || h.State != HealthReady {
				t.Errorf("%q, not deep: %+v, %v", sample.Code, h, err)
			}
		}
	}
}

func TestDrain(t *testing.T) {
	p := serve(t, &stub{})
	running := submit(t, p.Client, "print done")
	n, err := p.Client.Drain(t.Context(), "swap")
	if err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if s := submit(t, p.Client, "print new"); s.Ended() == nil || s.Ended().Status != executor.StatusOverloaded {
		t.Errorf("new work: %+v", s.Ended())
	}
	if h, err := p.Client.Health(t.Context(), false); err != nil || h.State != HealthDraining {
		t.Errorf("%+v, %v", h, err)
	}
	if res, err := running.Run(t.Context(), executor.Grant{}, new(printed).take); err != nil || res.Status != executor.StatusOK {
		t.Errorf("running work: %+v, %v", res, err)
	}
	if n, err := p.Client.Drain(t.Context(), "again"); err != nil || n != 0 {
		t.Errorf("again: %d, %v", n, err)
	}
}

func TestStats(t *testing.T) {
	p := serve(t, &stub{})
	waiting := submit(t, p.Client, "print x")
	eventually(t, "a submission that waits", func() bool { return stats(t, p.Client).WaitingVerdict == 1 })
	waiting.Deny("d", nil)
	runCode(t, p.Client, "print abc", executor.Limits{})
	submit(t, p.Client, "syntax")
	idle(t, p.Client)
	s := stats(t, p.Client)
	want := map[string]uint64{"OK": 1, "DENIED": 1, "COMPILE_ERROR": 1}
	if !maps.Equal(s.Results, want) || s.Submissions != 3 || s.OutputBytes != 3 || s.RSSBytes == 0 || s.CPU == 0 || s.Uptime == 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestCallsEndWithTheirContext(t *testing.T) {
	p := serve(t, &stub{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, describe := p.Client.Describe(ctx, "v")
	_, health := p.Client.Health(ctx, false)
	_, submit := p.Client.Submit(ctx, source("print x"))
	_, drain := p.Client.Drain(ctx, "x")
	for verb, err := range map[string]error{"describe": describe, "health": health, "submit": submit, "drain": drain} {
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrLost) || errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if got := p.Client.Strikes(); got != (Strikes{}) {
		t.Errorf("strikes %+v", got)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	p := serve(t, &stub{})
	long := strings.Repeat("é", maxValue)
	res, _ := runCode(t, p.Client, "value "+long, executor.Limits{})
	if len(res.Value) > maxValue || len(res.Value) < maxValue-4 || len(res.Notes) != 1 {
		t.Errorf("value of %d bytes, notes %q", len(res.Value), res.Notes)
	}
	res, _ = runCode(t, p.Client, "raise \xff"+long, executor.Limits{})
	if res.Status != executor.StatusRuntimeError || len(res.Problem.Message) > maxLongText || res.Problem.Message[:3] != "\uFFFD" {
		t.Errorf("result %s", res.Status)
	}
}

func TestStatusesAgreeWithTheWire(t *testing.T) {
	for _, s := range executor.Statuses() {
		if name := executorpb.Result_Status(s).String(); name != s.String() {
			t.Errorf("%s is %s on the wire", s, name)
		}
		if statusFromWire(executorpb.Result_Status(s)) != s {
			t.Errorf("%s does not come back", s)
		}
	}
	if got, want := len(executorpb.Result_Status_name), len(executor.Statuses())+1; got != want {
		t.Errorf("the wire has %d statuses, want %d", got, want)
	}
	for _, s := range []executorpb.Result_Status{-1, 17, 1 << 20} {
		if statusFromWire(s) != executor.StatusInternal {
			t.Errorf("unknown status %d is not INTERNAL", s)
		}
	}
}

func TestUnits(t *testing.T) {
	cases := []struct {
		d    time.Duration
		want uint64
	}{{0, 0}, {-time.Second, 0}, {1, 1}, {time.Millisecond, 1}, {time.Millisecond + 1, 2}, {time.Second, 1000}}
	for _, c := range cases {
		if got := toUnits(c.d, time.Millisecond); got != c.want {
			t.Errorf("%d is %d ms, want %d", c.d, got, c.want)
		}
	}
	if got := fromUnits(1<<63, time.Millisecond); got != 1<<63-1 {
		t.Errorf("too large a time is %d", got)
	}
}
