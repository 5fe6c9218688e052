package wire

import (
	"context"
	"fmt"
	"net"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// InProcess is an executor behind real gRPC in the process at hand, for tests:
// all of both halves, without go-plugin, a process or a socket.
type InProcess struct {
	Client *Client                   // the host's half
	Raw    executorpb.ExecutorClient // the bare contract, for tests that break it

	conn   *grpc.ClientConn
	server *grpc.Server
	done   chan struct{}
}

// ServeInProcess serves e. The caller must Close what it gets. log may be nil.
func ServeInProcess(e executor.Executor, log hclog.Logger) (*InProcess, error) {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	s := newServer(e, log)
	g := s.grpcServer(nil)
	executorpb.RegisterExecutorServer(g, s)
	return serveInProcess(g)
}

func serveInProcess(g *grpc.Server) (*InProcess, error) {
	lis := bufconn.Listen(streamWindowBytes)
	dial := append(HostDialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	conn, err := grpc.NewClient("passthrough:///in-process", dial...)
	if err != nil {
		return nil, fmt.Errorf("dial in process: %w", err)
	}
	p := &InProcess{
		Client: NewClient(conn), Raw: executorpb.NewExecutorClient(conn),
		conn: conn, server: g, done: make(chan struct{}),
	}
	go func() {
		defer close(p.done)
		_ = g.Serve(lis) // ends by Close alone
	}()
	return p, nil
}

// Close ends both halves and what still runs.
func (p *InProcess) Close() {
	_ = p.conn.Close()
	p.server.Stop()
	<-p.done
}
