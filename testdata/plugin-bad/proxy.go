package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// proxy hands the contract's calls to a sound server, and spoils them on the way.
type proxy struct {
	executorpb.UnimplementedExecutorServer
	fault fault
	raw   executorpb.ExecutorClient
	log   hclog.Logger

	asked    atomic.Int64
	inside   atomic.Int64
	draining atomic.Bool
}

func (p *proxy) is(name string) bool { return p.fault.is(name) }

// Describe implements the contract.
func (p *proxy) Describe(ctx context.Context, req *executorpb.DescribeRequest) (*executorpb.DescribeResponse, error) {
	res, err := p.raw.Describe(ctx, req)
	n := p.asked.Add(1)
	switch {
	case err == nil && p.is("moody"):
		res.Build = strings.Repeat("x", int(n))
	case p.is("slow-describe"):
		time.Sleep(4 * time.Second)
	}
	return res, err
}

// Configure implements the contract.
func (p *proxy) Configure(ctx context.Context, req *executorpb.ConfigureRequest) (*executorpb.ConfigureResponse, error) {
	return p.raw.Configure(ctx, req)
}

// Health implements the contract.
func (p *proxy) Health(ctx context.Context, req *executorpb.HealthRequest) (*executorpb.HealthResponse, error) {
	if p.is("says-failed") {
		return &executorpb.HealthResponse{State: executorpb.HealthResponse_FAILED, Detail: "out of sorts"}, nil
	}
	return p.raw.Health(ctx, req)
}

// Stats implements the contract.
func (p *proxy) Stats(ctx context.Context, req *executorpb.StatsRequest) (*executorpb.StatsResponse, error) {
	res, err := p.raw.Stats(ctx, req)
	if err != nil {
		return nil, err
	}
	n := p.asked.Add(1)
	switch {
	case p.is("miscounts"):
		res.Submissions += 3
	case p.is("counter-falls"):
		res.OutputBytes = uint64(1_000_000 - n)
	}
	return res, nil
}

// Drain implements the contract.
func (p *proxy) Drain(ctx context.Context, req *executorpb.DrainRequest) (*executorpb.DrainResponse, error) {
	p.draining.Store(true)
	if p.is("takes-work") {
		return &executorpb.DrainResponse{Inflight: uint32(p.inside.Load())}, nil
	}
	return p.raw.Drain(ctx, req)
}

// call is one submission on its way through.
type call struct {
	*proxy
	stream grpc.BidiStreamingServer[executorpb.HostMessage, executorpb.PluginMessage]
	inner  grpc.BidiStreamingClient[executorpb.HostMessage, executorpb.PluginMessage]

	mu      sync.Mutex
	digest  []byte
	code    []byte
	held    []*executorpb.PluginMessage // parts that are sent as one
	verdict chan struct{}
	denied  atomic.Bool
}

// Submit implements the contract.
func (p *proxy) Submit(stream grpc.BidiStreamingServer[executorpb.HostMessage, executorpb.PluginMessage]) error {
	ctx := stream.Context()
	if p.is("slot-of-run") || p.is("slot-of-wait") || p.is("waits-for-ever") { // who leaves is not noticed
		ctx = context.WithoutCancel(ctx)
	}
	if p.is("hangs-when-full") && p.inside.Load() >= 4 {
		<-ctx.Done()
		return ctx.Err()
	}
	p.inside.Add(1)
	defer p.inside.Add(-1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	inner, err := p.raw.Submit(ctx)
	if err != nil {
		return err
	}
	c := &call{proxy: p, stream: stream, inner: inner, verdict: make(chan struct{})}
	if p.is("drain-kills") {
		go func() {
			for ctx.Err() == nil && !p.draining.Load() {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
	}
	go c.up()
	return c.down()
}

// up carries the host's messages.
func (c *call) up() {
	first := true
	for {
		m, err := c.stream.Recv()
		if err != nil {
			if !c.leftIgnored() && errors.Is(err, io.EOF) {
				_ = c.inner.CloseSend()
			}
			return
		}
		if first && m.GetSource() == nil && c.is("any-order") {
			continue
		}
		first = false
		if m = c.spoilUp(m); m != nil {
			_ = c.inner.Send(m)
		}
	}
}

func (c *call) leftIgnored() bool {
	return c.is("slot-of-run") && c.sawVerdict() || c.is("slot-of-wait") && !c.sawVerdict()
}

func (c *call) sawVerdict() bool {
	select {
	case <-c.verdict:
		return true
	default:
		return false
	}
}

func (c *call) spoilUp(m *executorpb.HostMessage) *executorpb.HostMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch kind := m.GetKind().(type) {
	case *executorpb.HostMessage_Source:
		c.source(kind.Source)
	case *executorpb.HostMessage_Verdict:
		if !c.sawVerdict() {
			close(c.verdict)
		}
		c.spoilVerdict(kind.Verdict)
	case *executorpb.HostMessage_Cancel:
		if c.is("deaf-to-cancel") {
			return nil
		}
	}
	return m
}

func (c *call) source(s *executorpb.Source) {
	c.code = s.GetCode()
	switch {
	case c.is("any-size"):
		s.MaxTreeBytes = 0
	case c.is("waits-for-ever"):
		s.VerdictWaitMs = 3_600_000
	case c.is("logs-source"):
		c.log.Info("submission", "text", string(s.GetCode()))
	}
}

func (c *call) spoilVerdict(v *executorpb.Verdict) {
	if v.GetDeny() != nil && (c.is("denied-runs") || c.is("denied-is-ok")) {
		c.denied.Store(true)
		v.Decision = &executorpb.Verdict_Approve{Approve: &executorpb.Approve{Limits: &executorpb.Limits{WallMs: 5000}}}
	}
	if c.is("any-verdict") {
		v.TreeSha256 = c.digest
	}
	if a := v.GetApprove(); a != nil && c.is("uncut") {
		a.Limits = &executorpb.Limits{WallMs: a.GetLimits().GetWallMs()}
	}
	if a := v.GetApprove(); a != nil && c.is("deaf-to-wall") {
		a.Limits.WallMs = 3_600_000
	}
}

// down carries the plugin's messages, and its end.
func (c *call) down() error {
	for {
		m, err := c.inner.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) || c.is("any-order") && status.Code(err) == codes.InvalidArgument {
				return nil
			}
			return err
		}
		for _, m := range c.spoilDown(m) {
			if err := c.stream.Send(m); err != nil && !c.leftIgnored() {
				return err
			}
		}
	}
}

func (c *call) spoilDown(m *executorpb.PluginMessage) []*executorpb.PluginMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch kind := m.GetKind().(type) {
	case *executorpb.PluginMessage_Tree:
		return c.spoilTree(m, kind.Tree)
	case *executorpb.PluginMessage_Output:
		if c.is("mute") || c.is("denied-is-ok") && c.denied.Load() {
			return nil
		}
		if c.is("hoards-output") && strings.HasPrefix(string(c.code), "flood") {
			return c.hoard(m)
		}
	case *executorpb.PluginMessage_Result:
		return c.spoilResult(m, kind.Result)
	}
	return []*executorpb.PluginMessage{m}
}

// hoard takes the output as fast as it comes, and keeps much more of it.
func (c *call) hoard(m *executorpb.PluginMessage) []*executorpb.PluginMessage {
	for range 3 {
		c.held = append(c.held, &executorpb.PluginMessage{Kind: &executorpb.PluginMessage_Output{Output: &executorpb.Output{
			Stream: executorpb.Output_STDOUT, Data: append([]byte(nil), m.GetOutput().GetData()...),
		}}})
	}
	return nil
}

func (c *call) spoilTree(m *executorpb.PluginMessage, part *executorpb.TreePart) []*executorpb.PluginMessage {
	t := part.GetTrailer()
	if c.is("one-part") && !c.join(m, part) {
		return nil
	}
	out := []*executorpb.PluginMessage{m}
	if t == nil {
		return out
	}
	c.digest = append([]byte(nil), t.GetTreeSha256()...)
	switch string(c.fault) {
	case "tree-digest":
		t.TreeSha256[0]++
	case "source-digest":
		t.SourceSha256[0]++
	case "other-schema":
		t.TreeSchema = "toy/2"
	case "early-output":
		out = append(out, &executorpb.PluginMessage{Kind: &executorpb.PluginMessage_Output{Output: &executorpb.Output{Stream: executorpb.Output_STDOUT, Data: []byte("x")}}})
	case "early-result":
		out = append(out, &executorpb.PluginMessage{Kind: &executorpb.PluginMessage_Result{Result: &executorpb.Result{Status: executorpb.Result_OK}}})
	}
	return out
}

// join holds parts back until the last, which gets all of them.
func (c *call) join(m *executorpb.PluginMessage, part *executorpb.TreePart) (last bool) {
	c.held = append(c.held, m)
	if part.GetTrailer() == nil {
		return false
	}
	var all []byte
	for _, h := range c.held {
		all = append(all, h.GetTree().GetData()...)
	}
	part.Data = all
	return true
}

func (c *call) spoilResult(m *executorpb.PluginMessage, r *executorpb.Result) []*executorpb.PluginMessage {
	switch {
	case c.is("other-value"):
		r.Value += "0"
	case c.is("uncounted"):
		r.StdoutOmitted, r.StdoutBytes, r.Truncated = 0, r.GetStdoutBytes()-r.GetStdoutOmitted(), false
	case c.is("denied-is-ok") && c.denied.Load():
		r.StdoutBytes, r.StdoutOmitted = 0, 0
	}
	return []*executorpb.PluginMessage{m}
}
