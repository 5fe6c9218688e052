package wire

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// villain is a plugin without the kit: it does on a stream what it is told.
type villain struct {
	executorpb.UnimplementedExecutorServer
	submit   func(*villainStream) error
	describe func() *executorpb.DescribeResponse
	health   *executorpb.HealthResponse
	stats    *executorpb.StatsResponse
	warnings []string
	fail     error
}

type villainStream struct {
	grpc.BidiStreamingServer[executorpb.HostMessage, executorpb.PluginMessage]
	src *executorpb.Source
}

func (v *villain) Submit(stream grpc.BidiStreamingServer[executorpb.HostMessage, executorpb.PluginMessage]) error {
	m, err := stream.Recv()
	if err != nil {
		return err
	}
	return v.submit(&villainStream{BidiStreamingServer: stream, src: m.GetSource()})
}

func (v *villain) Describe(context.Context, *executorpb.DescribeRequest) (*executorpb.DescribeResponse, error) {
	return v.describe(), v.fail
}

func (v *villain) Configure(context.Context, *executorpb.ConfigureRequest) (*executorpb.ConfigureResponse, error) {
	return &executorpb.ConfigureResponse{Warnings: v.warnings}, v.fail
}

func (v *villain) Health(context.Context, *executorpb.HealthRequest) (*executorpb.HealthResponse, error) {
	return v.health, v.fail
}

func (v *villain) Stats(context.Context, *executorpb.StatsRequest) (*executorpb.StatsResponse, error) {
	return v.stats, v.fail
}

// tree sends doc as an honest plugin would, changed by edit.
func (s *villainStream) tree(doc string, edit func(*executorpb.TreePart)) {
	digest := executor.Tree{JSON: []byte(doc)}.Digest()
	source := executor.Source{Code: s.src.GetCode()}.Digest()
	part := &executorpb.TreePart{Data: []byte(doc), Trailer: &executorpb.TreeTrailer{
		TreeSchema: "stub/1", SourceSha256: source[:], TreeSha256: digest[:], TreeBytes: uint64(len(doc)),
	}}
	if edit != nil {
		edit(part)
	}
	_ = s.Send(&executorpb.PluginMessage{Kind: &executorpb.PluginMessage_Tree{Tree: part}})
}

func (s *villainStream) output(stream executorpb.Output_Stream, data string) {
	_ = s.Send(&executorpb.PluginMessage{Kind: &executorpb.PluginMessage_Output{
		Output: &executorpb.Output{Stream: stream, Data: []byte(data)},
	}})
}

func (s *villainStream) result(r *executorpb.Result) {
	_ = s.Send(&executorpb.PluginMessage{Kind: &executorpb.PluginMessage_Result{Result: r}})
}

func (s *villainStream) verdict() { _, _ = s.Recv() }

func face(t *testing.T, v *villain) *Client {
	t.Helper()
	g := grpc.NewServer(grpc.MaxSendMsgSize(1 << 30))
	executorpb.RegisterExecutorServer(g, v)
	p, err := serveInProcess(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p.Client
}

func ok() *executorpb.Result { return &executorpb.Result{Status: executorpb.Result_OK} }

type act func(*villainStream) error

// actsInsteadOfATree are what a plugin may not do after the source.
func actsInsteadOfATree() map[string]act {
	long := strings.Repeat("x", maxLongText+1)
	return map[string]act{
		"output first":   func(s *villainStream) error { s.output(executorpb.Output_STDOUT, "x"); return nil },
		"nothing at all": func(*villainStream) error { return nil },
		"empty message":  func(s *villainStream) error { return s.Send(&executorpb.PluginMessage{}) },
		"own gRPC error": func(*villainStream) error { return errors.New("the program failed") },
		"refusal":        func(*villainStream) error { return status.Error(codes.InvalidArgument, "x") },
		"success":        func(s *villainStream) error { s.result(ok()); return nil },
		"no status":      func(s *villainStream) error { s.result(&executorpb.Result{}); return nil },
		"two results": func(s *villainStream) error {
			s.result(&executorpb.Result{Status: executorpb.Result_COMPILE_ERROR})
			s.result(&executorpb.Result{Status: executorpb.Result_COMPILE_ERROR})
			return nil
		},
		"long problem": func(s *villainStream) error {
			s.result(&executorpb.Result{Status: executorpb.Result_COMPILE_ERROR, Problem: &executorpb.Problem{Message: long}})
			return nil
		},
		"output of a text that does not parse": func(s *villainStream) error {
			s.result(&executorpb.Result{Status: executorpb.Result_COMPILE_ERROR, StdoutBytes: 1})
			return nil
		},
	}
}

// badTrees are trees that a plugin may not send.
func badTrees() map[string]act {
	long := strings.Repeat("x", maxLongText+1)
	return map[string]act{
		"result in a tree": func(s *villainStream) error {
			s.tree(`{`, func(p *executorpb.TreePart) { p.Trailer = nil })
			s.result(&executorpb.Result{Status: executorpb.Result_COMPILE_ERROR})
			return nil
		},
		"empty part": func(s *villainStream) error {
			s.tree("", func(p *executorpb.TreePart) { p.Trailer = nil })
			return nil
		},
		"large part":    func(s *villainStream) error { s.tree("{"+strings.Repeat(" ", treePartBytes)+"}", nil); return nil },
		"large message": func(s *villainStream) error { s.tree(strings.Repeat(" ", maxMessageBytes+1), nil); return nil },
		"endless tree": func(s *villainStream) error {
			for s.Context().Err() == nil {
				s.tree(strings.Repeat(" ", treePartBytes), func(p *executorpb.TreePart) { p.Trailer = nil })
			}
			return nil
		},
		"wrong digest of the tree": func(s *villainStream) error {
			s.tree(`{}`, func(p *executorpb.TreePart) { p.Trailer.TreeSha256[0]++ })
			return nil
		},
		"wrong digest of the source": func(s *villainStream) error {
			s.tree(`{}`, func(p *executorpb.TreePart) { p.Trailer.SourceSha256 = nil })
			return nil
		},
		"wrong size": func(s *villainStream) error {
			s.tree(`{}`, func(p *executorpb.TreePart) { p.Trailer.TreeBytes = 3 })
			return nil
		},
		"no schema": func(s *villainStream) error {
			s.tree(`{}`, func(p *executorpb.TreePart) { p.Trailer.TreeSchema = "" })
			return nil
		},
		"long schema": func(s *villainStream) error {
			s.tree(`{}`, func(p *executorpb.TreePart) { p.Trailer.TreeSchema = long })
			return nil
		},
		"array":    func(s *villainStream) error { s.tree(`[]`, nil); return nil },
		"no UTF-8": func(s *villainStream) error { s.tree("{\"\xff\":1}", nil); return nil },
	}
}

func TestHostileBeforeTheVerdict(t *testing.T) {
	cases := actsInsteadOfATree()
	maps.Copy(cases, badTrees())
	for name, do := range cases {
		t.Run(name, func(t *testing.T) {
			c := face(t, &villain{submit: do})
			src := source("print x")
			src.MaxTreeBytes = 1 << 20
			if s, err := c.Submit(background(t), src); !errors.Is(err, ErrProtocol) || errors.Is(err, ErrLost) {
				t.Errorf("got %v, %v", s, err)
			}
			if got := c.Strikes(); got.Breaches != 1 {
				t.Errorf("strikes %+v", got)
			}
		})
	}
}

func TestTreeOfAnotherSchema(t *testing.T) {
	about := descriptionToWire((&stub{}).Describe(), false)
	about.Languages[0].TreeSchema = "stub/2"
	c := face(t, &villain{
		describe: func() *executorpb.DescribeResponse { return about },
		submit:   func(s *villainStream) error { s.tree(`{}`, nil); return nil },
	})
	if _, err := c.Describe(t.Context(), "v"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Submit(background(t), source("print x")); !errors.Is(err, ErrProtocol) {
		t.Errorf("got %v", err)
	}
}

// badResults are results that a plugin may not give after an approval.
func badResults() map[string]*executorpb.Result {
	long := strings.Repeat("x", maxText+1)
	manyNotes := make([]string, maxFew+1)
	return map[string]*executorpb.Result{
		"no status":        {},
		"denied":           {Status: executorpb.Result_DENIED},
		"long value":       {Status: executorpb.Result_OK, Value: strings.Repeat("x", maxValue+1)},
		"long note":        {Status: executorpb.Result_OK, Notes: []string{long}},
		"many notes":       {Status: executorpb.Result_OK, Notes: manyNotes},
		"many walls":       {Status: executorpb.Result_OK, Walls: manyNotes},
		"long signal":      {Status: executorpb.Result_OK, Signal: long},
		"long call":        {Status: executorpb.Result_OK, ForbiddenCall: long},
		"long limit":       {Status: executorpb.Result_OK, LimitFired: long},
		"session state":    {Status: executorpb.Result_OK, SessionState: "happy"},
		"omitted more":     {Status: executorpb.Result_OK, StdoutOmitted: 1},
		"counts output":    {Status: executorpb.Result_OK, StdoutBytes: 5},
		"counts errors":    {Status: executorpb.Result_OK, StderrBytes: 5, StderrOmitted: 1},
		"long type":        {Status: executorpb.Result_OK, Problem: &executorpb.Problem{Type: long}},
		"long trace":       {Status: executorpb.Result_OK, Problem: &executorpb.Problem{Trace: strings.Repeat("x", maxLongText+1)}},
		"artifact of none": {Status: executorpb.Result_OK, Artifacts: []*executorpb.Artifact{{}}},
		"many artifacts":   {Status: executorpb.Result_OK, Artifacts: make([]*executorpb.Artifact, maxFew+1)},
		"large artifact": {Status: executorpb.Result_OK, Artifacts: []*executorpb.Artifact{
			{MediaType: "x", Data: make([]byte, MaxArtifactBytes+1)},
		}},
	}
}

// actsAfterApproval are what else it may not do.
func actsAfterApproval() map[string]act {
	stdout := executorpb.Output_STDOUT
	return map[string]act{
		"nothing":         func(*villainStream) error { return nil },
		"own gRPC error":  func(*villainStream) error { return status.Error(codes.Internal, "x") },
		"empty message":   func(s *villainStream) error { return s.Send(&executorpb.PluginMessage{}) },
		"another tree":    func(s *villainStream) error { s.tree(`{}`, nil); return nil },
		"two results":     func(s *villainStream) error { s.result(ok()); s.result(ok()); return nil },
		"output at last":  func(s *villainStream) error { s.result(ok()); s.output(stdout, "x"); return nil },
		"no stream":       func(s *villainStream) error { s.output(0, "x"); return nil },
		"unknown stream":  func(s *villainStream) error { s.output(9, "x"); return nil },
		"empty chunk":     func(s *villainStream) error { s.output(stdout, ""); return nil },
		"large chunk":     func(s *villainStream) error { s.output(stdout, strings.Repeat("x", outputChunkBytes+1)); return nil },
		"over the limit":  func(s *villainStream) error { s.output(stdout, strings.Repeat("x", 11)); return nil },
		"errors too many": func(s *villainStream) error { s.output(executorpb.Output_STDERR, strings.Repeat("x", 12)); return nil },
	}
}

func TestHostileAfterTheVerdict(t *testing.T) {
	cases := actsAfterApproval()
	for name, r := range badResults() {
		cases["result "+name] = func(s *villainStream) error { s.result(r); return nil }
	}
	for name, do := range cases {
		t.Run(name, func(t *testing.T) {
			c := face(t, &villain{submit: func(s *villainStream) error {
				s.tree(`{}`, nil)
				s.verdict()
				return do(s)
			}})
			s := submit(t, c, "print x")
			grant := executor.Grant{Limits: executor.Limits{StdoutBytes: 10, StderrBytes: 11}}
			res, err := s.Run(background(t), grant, new(printed).take)
			if !errors.Is(err, ErrProtocol) || errors.Is(err, ErrLost) {
				t.Errorf("got %+v, %v", res, err)
			}
			if got := c.Strikes(); got.Breaches != 1 {
				t.Errorf("strikes %+v", got)
			}
		})
	}
}

// What a plugin sends after its tree and before the verdict is seen, though the
// host reads it later.
func TestHostileBetweenTreeAndVerdict(t *testing.T) {
	cases := map[string]func(*villainStream){
		"output":  func(s *villainStream) { s.output(executorpb.Output_STDOUT, "x"); s.verdict(); s.result(ok()) },
		"success": func(s *villainStream) { s.result(ok()); s.verdict() },
		"tree":    func(s *villainStream) { s.tree(`{}`, nil); s.verdict() },
		"notes": func(s *villainStream) {
			s.result(&executorpb.Result{Status: executorpb.Result_CANCELLED, Signal: strings.Repeat("x", maxWord+1)})
		},
		"end": func(*villainStream) {},
	}
	for name, do := range cases {
		t.Run(name, func(t *testing.T) {
			c := face(t, &villain{submit: func(s *villainStream) error {
				s.tree(`{}`, nil)
				do(s)
				return nil
			}})
			s := submit(t, c, "print x")
			eventually(t, "something early", func() bool { return len(s.in) == 1 })
			out := func(executor.Stream, []byte) { t.Error("output") }
			if _, err := s.Run(background(t), executor.Grant{}, out); !errors.Is(err, ErrProtocol) {
				t.Errorf("got %v", err)
			}
			// The same, had it come while the verdict was on its way.
			late := submit(t, c, "print x")
			eventually(t, "something early", func() bool { return len(late.in) == 1 })
			if _, err := (&run{s: late, out: out}).collect(background(t)); !errors.Is(err, ErrProtocol) {
				t.Errorf("while the verdict was on its way: %v", err)
			}
		})
	}
}

// A plugin may end a submission whose verdict is on its way.
func TestEndedWhileTheVerdictIsOnItsWay(t *testing.T) {
	c := face(t, &villain{submit: func(s *villainStream) error {
		s.tree(`{}`, nil)
		s.result(&executorpb.Result{Status: executorpb.Result_CANCELLED})
		return nil
	}})
	s := submit(t, c, "print x")
	eventually(t, "the result", func() bool { return len(s.in) == 1 })
	if res, err := (&run{s: s}).collect(background(t)); err != nil || res.Status != executor.StatusCancelled {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestHostileAfterARefusal(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		do   func(*villainStream)
		want Strikes
	}{
		"output":  {func(s *villainStream) { s.output(executorpb.Output_STDOUT, "x") }, Strikes{Breaches: 1}},
		"success": {func(s *villainStream) { s.result(ok()) }, Strikes{Breaches: 1}},
		"nothing": {func(*villainStream) {}, Strikes{Breaches: 1}},
		"silence": {func(s *villainStream) { <-s.Context().Done() }, Strikes{Overruns: 1}},
		"honest":  {func(s *villainStream) { s.result(&executorpb.Result{Status: executorpb.Result_DENIED}) }, Strikes{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := face(t, &villain{submit: func(s *villainStream) error {
				s.tree(`{}`, nil)
				s.verdict()
				tc.do(s)
				return nil
			}})
			submit(t, c, "print x").Deny("d", []string{"r"})
			if got := c.Strikes(); got != tc.want {
				t.Errorf("strikes %+v, want %+v", got, tc.want)
			}
		})
	}
}

func hang(s *villainStream) error {
	<-s.Context().Done()
	return nil
}

// printAndHang runs, and then neither ends nor heeds a Cancel.
func printAndHang(s *villainStream) error {
	s.tree(`{}`, nil)
	s.verdict()
	s.output(executorpb.Output_STDOUT, "x")
	return hang(s)
}

func TestOverrunWhileParsing(t *testing.T) {
	t.Parallel()
	c := face(t, &villain{submit: hang})
	src := source("print x")
	src.ParseLimits.Wall = time.Millisecond
	if _, err := c.Submit(background(t), src); !errors.Is(err, ErrOverrun) || !errors.Is(err, ErrLost) || c.Strikes().Overruns != 1 {
		t.Errorf("%v, %+v", err, c.Strikes())
	}
}

func TestOverrunWhileRunning(t *testing.T) {
	t.Parallel()
	c := face(t, &villain{submit: printAndHang})
	var out printed
	_, err := submit(t, c, "print x").Run(background(t), executor.Grant{Limits: wall(1)}, out.take)
	if !errors.Is(err, ErrOverrun) || c.Strikes().Overruns != 1 || out.stdout.String() != "x" {
		t.Errorf("%v, %+v", err, c.Strikes())
	}
}

func TestCancelThatIsNotHeeded(t *testing.T) {
	t.Parallel()
	c := face(t, &villain{submit: printAndHang})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out printed
	res, err := submit(t, c, "print x").Run(ctx, executor.Grant{}, func(s executor.Stream, b []byte) {
		out.take(s, b)
		cancel()
	})
	if err != nil || res.Status != executor.StatusCancelled || res.StdoutBytes != 1 || c.Strikes().Overruns != 1 {
		t.Errorf("%+v, %v, %+v", res, err, c.Strikes())
	}
}

func TestStreamThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	c := face(t, &villain{submit: func(s *villainStream) error {
		s.tree(`{}`, nil)
		s.verdict()
		s.result(ok())
		return hang(s)
	}})
	res, err := submit(t, c, "print x").Run(background(t), executor.Grant{}, new(printed).take)
	if err != nil || res.Status != executor.StatusOK || c.Strikes().Overruns != 1 {
		t.Errorf("%+v, %v, %+v", res, err, c.Strikes())
	}
	early := face(t, &villain{submit: func(s *villainStream) error {
		s.result(&executorpb.Result{Status: executorpb.Result_COMPILE_ERROR})
		return hang(s)
	}})
	if s := submit(t, early, "print x"); s.Ended() == nil || early.Strikes().Overruns != 1 {
		t.Errorf("ended %+v, %+v", s.Ended(), early.Strikes())
	}
}

func TestUnknownStatusIsInternal(t *testing.T) {
	c := face(t, &villain{submit: func(s *villainStream) error {
		s.tree(`{}`, nil)
		s.verdict()
		s.result(&executorpb.Result{Status: 77})
		return nil
	}})
	if res, _ := runCode(t, c, "print x", executor.Limits{}); res.Status != executor.StatusInternal {
		t.Error(res.Status)
	}
}

func TestHostileAnswersBesideSubmit(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	health := []*executorpb.HealthResponse{{}, {State: 1, Detail: long}}
	for _, h := range health {
		if _, err := face(t, &villain{health: h}).Health(t.Context(), false); !errors.Is(err, ErrProtocol) {
			t.Errorf("%.60s: %v", h, err)
		}
	}
	if h, err := face(t, &villain{health: &executorpb.HealthResponse{State: 9}}).Health(t.Context(), false); err != nil || h.State != HealthUnknown {
		t.Errorf("unknown state: %+v, %v", h, err)
	}
	stats := []*executorpb.StatsResponse{{Results: map[string]uint64{long: 1}}, {PrometheusText: make([]byte, maxMetrics+1)}}
	for _, s := range stats {
		if _, err := face(t, &villain{stats: s}).Stats(t.Context()); !errors.Is(err, ErrProtocol) {
			t.Errorf("%.60s: %v", s, err)
		}
	}
	if _, err := face(t, &villain{warnings: []string{long}}).Configure(t.Context(), executor.Config{}); !errors.Is(err, ErrProtocol) {
		t.Errorf("warnings: %v", err)
	}
	for code, want := range map[codes.Code]error{
		codes.Unavailable: ErrLost, codes.Canceled: ErrLost, codes.ResourceExhausted: ErrProtocol, codes.Internal: ErrProtocol,
		codes.Unknown: ErrProtocol, codes.DeadlineExceeded: ErrOverrun, codes.FailedPrecondition: ErrRefused, codes.Unimplemented: ErrRefused,
	} {
		if _, err := face(t, &villain{fail: status.Error(code, "x")}).Stats(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", code, err, want)
		}
	}
}
