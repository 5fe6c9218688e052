package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// Client is the host's half of the contract, on one plugin process. Its methods
// may be called from several goroutines. Their errors wrap [ErrProtocol],
// [ErrLost], [ErrOverrun], [ErrRefused] or the context's own error.
type Client struct {
	rpc      executorpb.ExecutorClient
	about    atomic.Pointer[executor.Description]
	breaches atomic.Uint64
	overruns atomic.Uint64
}

// NewClient speaks to the plugin behind conn, which should have been dialled
// with [HostDialOptions].
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: executorpb.NewExecutorClient(conn)}
}

// Strikes counts a plugin's misdeeds.
type Strikes struct {
	Breaches uint64 // of the contract, those in an answer to a refusal included
	Overruns uint64 // answers that did not come in time, those to a Cancel included
}

// Strikes tells what has been counted since the client was made.
func (c *Client) Strikes() Strikes {
	return Strikes{Breaches: c.breaches.Load(), Overruns: c.overruns.Load()}
}

// Deadlines of the calls beside Submit; a shorter one of the caller's holds.
const (
	describeTime  = 2 * time.Second
	configureTime = 5 * time.Second
	healthTime    = time.Second
	deepTime      = 5 * time.Second
	statsTime     = time.Second
)

// Describe asks what the plugin is and remembers it: Submit holds trees against
// the schemas and the capacity that were named here. The feature "samples" asks
// for the languages' samples.
func (c *Client) Describe(ctx context.Context, gatewayVersion string, features ...string) (executor.Description, error) {
	res, err := call(ctx, c, "describe", describeTime, c.rpc.Describe,
		&executorpb.DescribeRequest{GatewayVersion: clean(gatewayVersion), HostFeatures: cleanAll(features)})
	if err != nil {
		return executor.Description{}, err
	}
	d, err := descriptionFromWire(res)
	if err != nil {
		return executor.Description{}, c.fault(ctx, "describe", err)
	}
	c.about.Store(&d)
	return d, nil
}

// Configure hands over the settings, once per process. A plugin that does not
// want them gives ErrRefused with its reason.
func (c *Client) Configure(ctx context.Context, cfg executor.Config) (warnings []string, err error) {
	res, err := call(ctx, c, "configure", configureTime, c.rpc.Configure, configToWire(cfg))
	if err != nil {
		return nil, err
	}
	var bounds check
	bounds.texts("warnings", res.GetWarnings(), maxText)
	return res.GetWarnings(), c.fault(ctx, "configure", bounds.err)
}

// HealthState says whether a submission sent now would run.
type HealthState uint8

// The states of health, in the order of the wire's enumeration.
const (
	HealthUnknown HealthState = iota // of a later contract
	HealthReady
	HealthStarting
	HealthDegraded
	HealthDraining
	HealthFailed
)

// String is the state's name in the contract.
func (s HealthState) String() string {
	if s == HealthUnknown || s > HealthFailed {
		return "UNKNOWN"
	}
	return executorpb.HealthResponse_State(s).String()
}

// Health is a plugin's own word on its state.
type Health struct {
	State  HealthState
	Detail string
}

// Health asks whether a submission sent now would run; deep adds a self test.
func (c *Client) Health(ctx context.Context, deep bool) (Health, error) {
	limit := healthTime
	if deep {
		limit = deepTime
	}
	res, err := call(ctx, c, "health", limit, c.rpc.Health, &executorpb.HealthRequest{Deep: deep})
	if err != nil {
		return Health{}, err
	}
	h, err := healthFromWire(res)
	return h, c.fault(ctx, "health", err)
}

func healthFromWire(r *executorpb.HealthResponse) (Health, error) {
	var bounds check
	bounds.require(r.GetState() != executorpb.HealthResponse_STATE_UNSPECIFIED, "health without a state")
	bounds.text("health.detail", r.GetDetail(), maxText)
	if bounds.err != nil {
		return Health{}, bounds.err
	}
	h := Health{Detail: r.GetDetail()}
	if s := r.GetState(); s > 0 && s <= executorpb.HealthResponse_State(HealthFailed) {
		h.State = HealthState(s)
	}
	return h, nil
}

// Stats are a plugin's counters since its process started.
type Stats struct {
	Uptime         time.Duration
	Inflight       uint32 // submissions that have not ended
	WaitingVerdict uint32 // of those, parsed and not judged
	Sessions       uint32
	Submissions    uint64
	Results        map[string]uint64 // by name of status, and "INVALID"
	OutputBytes    uint64
	RSSBytes       uint64
	CPU            time.Duration
	Prometheus     []byte // the plugin's own metrics, text format
}

// Stats reads the plugin's counters.
func (c *Client) Stats(ctx context.Context) (Stats, error) {
	res, err := call(ctx, c, "stats", statsTime, c.rpc.Stats, &executorpb.StatsRequest{})
	if err != nil {
		return Stats{}, err
	}
	s, err := statsFromWire(res)
	return s, c.fault(ctx, "stats", err)
}

func statsFromWire(r *executorpb.StatsResponse) (Stats, error) {
	var bounds check
	bounds.count("stats.results", len(r.GetResults()), maxFew)
	for name := range r.GetResults() {
		bounds.word("stats.results", name)
	}
	bounds.bytes("stats.prometheus_text", r.GetPrometheusText(), maxMetrics)
	if bounds.err != nil {
		return Stats{}, bounds.err
	}
	return Stats{
		Uptime: fromUnits(r.GetUptimeMs(), time.Millisecond), Inflight: r.GetInflight(),
		WaitingVerdict: r.GetWaitingVerdict(), Sessions: r.GetSessions(), Submissions: r.GetSubmissions(),
		Results: r.GetResults(), OutputBytes: r.GetOutputBytes(), RSSBytes: r.GetRssBytes(),
		CPU: fromUnits(r.GetCpuUs(), time.Microsecond), Prometheus: r.GetPrometheusText(),
	}, nil
}

// Drain tells the plugin that no new work will come, and gives the number of
// submissions that still run. It does not wait for them.
func (c *Client) Drain(ctx context.Context, reason string) (inflight uint32, err error) {
	res, err := call(ctx, c, "drain", statsTime, c.rpc.Drain, &executorpb.DrainRequest{Reason: clean(reason)})
	return res.GetInflight(), err
}

// call is a unary call under a deadline of the host's own.
func call[Req, Res any](ctx context.Context, c *Client, verb string, limit time.Duration,
	do func(context.Context, Req, ...grpc.CallOption) (Res, error), req Req,
) (Res, error) {
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := do(timed, req)
	return res, c.fault(ctx, verb, err)
}

// fault names what went wrong in verb, and counts it against the plugin. ctx is
// the caller's: once that is over, nobody is to blame.
func (c *Client) fault(ctx context.Context, verb string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", verb, ctx.Err())
	}
	err = classify(err)
	switch {
	case errors.Is(err, ErrProtocol):
		c.breaches.Add(1)
	case errors.Is(err, ErrOverrun):
		c.overruns.Add(1)
	}
	return fmt.Errorf("%s: %w", verb, err)
}

// classify turns gRPC's errors into those of this package.
func classify(err error) error {
	for _, known := range []error{ErrProtocol, ErrLost, ErrRefused, errClosed, errSession} {
		if errors.Is(err, known) {
			return err
		}
	}
	if errors.Is(err, io.EOF) {
		return breach("stream ended without a result")
	}
	st, _ := status.FromError(err)
	switch st.Code() {
	case codes.Unavailable, codes.Canceled:
		return fmt.Errorf("%w: %s", ErrLost, clip(st.Message(), maxWord))
	case codes.DeadlineExceeded:
		return ErrOverrun
	case codes.InvalidArgument, codes.FailedPrecondition, codes.Unimplemented:
		return fmt.Errorf("%w: %s", ErrRefused, clip(st.Message(), maxText))
	}
	return breach("%s: %s", st.Code(), clip(st.Message(), maxText))
}
