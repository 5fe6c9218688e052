package wire

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// sdkVersion is what a plugin built with this package names as its kit.
const sdkVersion = "go/1.0"

// server is the plugin's half of the contract around one executor.
type server struct {
	executorpb.UnimplementedExecutorServer
	exec  executor.Executor
	about executor.Description
	log   hclog.Logger

	mu         sync.Mutex
	configured bool
	draining   atomic.Bool
	counters   *counters
	turns      turns
}

// newServer asks e what it is. A panic of Describe's passes through: a plugin
// that cannot say what it is cannot start.
func newServer(e executor.Executor, log hclog.Logger) *server {
	return &server{exec: e, about: about(e), log: log, counters: newCounters()}
}

// grpcServer makes the server behind the connection; opts carry go-plugin's TLS.
func (s *server) grpcServer(opts []grpc.ServerOption) *grpc.Server {
	return grpc.NewServer(append(opts,
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxSendMsgSize(maxMessageBytes),
		grpc.MaxConcurrentStreams(streams(s.about.Capacity)),
		grpc.InitialWindowSize(streamWindowBytes),
		grpc.InitialConnWindowSize(connWindowBytes),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
	)...)
}

// streams leaves room for submissions that are refused and for calls beside
// them.
func streams(c executor.Capacity) uint32 {
	const most = 4096
	if c.MaxConcurrent == 0 || c.MaxConcurrent > most/2 {
		return most
	}
	return 2*c.MaxConcurrent + 16
}

// protect calls an author's method and turns its panic, or its goroutine's end,
// into an error. What was panicked with may hold a submission's text and is not
// logged, unless it is the language's own error.
func (s *server) protect(where string, do func() error) (err error) {
	done := false
	defer func() {
		if done {
			return
		}
		what := recover()
		text := fmt.Sprintf("%T", what)
		var fault interface {
			error
			RuntimeError()
		}
		if e, ok := what.(error); ok && errors.As(e, &fault) {
			text = fault.Error()
		}
		s.log.Error("panic", "where", where, "panic", text, "stack", string(debug.Stack()))
		err = errPanic
	}()
	err = do()
	done = true
	return err
}

var errPanic = errors.New("panic")

// Describe implements the contract.
func (s *server) Describe(_ context.Context, req *executorpb.DescribeRequest) (*executorpb.DescribeResponse, error) {
	samples := false
	for _, f := range req.GetHostFeatures() {
		samples = samples || f == "samples"
	}
	return descriptionToWire(s.about, samples), nil
}

// Configure implements the contract.
func (s *server) Configure(ctx context.Context, req *executorpb.ConfigureRequest) (*executorpb.ConfigureResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.configured {
		return nil, status.Error(codes.FailedPrecondition, "configured already")
	}
	if level := hclog.LevelFromString(req.GetLogLevel()); level != hclog.NoLevel {
		s.log.SetLevel(level)
	}
	warnings, err := s.configure(ctx, configFromWire(req))
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, clip(err.Error(), maxText))
	}
	s.configured = true
	return &executorpb.ConfigureResponse{Warnings: clipAll(warnings, maxText)}, nil
}

func (s *server) configure(ctx context.Context, c executor.Config) (warnings []string, err error) {
	configurer, ok := s.exec.(executor.Configurer)
	if !ok {
		if text := string(c.JSON); text != "" && text != "{}" {
			return nil, errors.New("this plugin takes no settings")
		}
		return nil, nil
	}
	err = s.protect("configure", func() (err error) {
		warnings, err = configurer.Configure(ctx, c)
		return err
	})
	return warnings, err
}

// ready says whether Submit may be served: settings come first.
func (s *server) ready() bool {
	if _, ok := s.exec.(executor.Configurer); !ok {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.configured
}

// Health implements the contract.
func (s *server) Health(ctx context.Context, req *executorpb.HealthRequest) (*executorpb.HealthResponse, error) {
	if s.draining.Load() {
		return &executorpb.HealthResponse{State: executorpb.HealthResponse_DRAINING}, nil
	}
	if !s.ready() {
		return &executorpb.HealthResponse{State: executorpb.HealthResponse_STARTING}, nil
	}
	if err := s.checkHealth(ctx, req.GetDeep()); err != nil {
		s.log.Warn("not healthy", "error", err)
		return &executorpb.HealthResponse{
			State: executorpb.HealthResponse_DEGRADED, Detail: clip(err.Error(), maxText),
		}, nil
	}
	return &executorpb.HealthResponse{State: executorpb.HealthResponse_READY}, nil
}

func (s *server) checkHealth(ctx context.Context, deep bool) error {
	checker, ok := s.exec.(executor.HealthChecker)
	switch {
	case ok:
		return s.protect("health", func() error { return checker.CheckHealth(ctx, deep) })
	case deep:
		return s.selfTest(ctx)
	}
	return nil
}

// Stats implements the contract.
func (s *server) Stats(context.Context, *executorpb.StatsRequest) (*executorpb.StatsResponse, error) {
	return s.counters.report(), nil
}

// Drain implements the contract.
func (s *server) Drain(_ context.Context, req *executorpb.DrainRequest) (*executorpb.DrainResponse, error) {
	s.drain(clip(req.GetReason(), maxWord))
	return &executorpb.DrainResponse{Inflight: s.counters.inflightNow()}, nil
}

func (s *server) drain(reason string) {
	if s.draining.CompareAndSwap(false, true) {
		s.log.Info("draining", "reason", reason)
	}
}
