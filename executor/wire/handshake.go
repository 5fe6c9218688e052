package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// PluginName is the name under which a plugin process serves its executor and
// under which the host dispenses it.
const PluginName = "executor"

// ContractMinor is the minor version of executor.proto that this package was
// built to.
const ContractMinor = 2

// Errors of the host's half.
var (
	// ErrProtocol says that the plugin broke the contract: a wrong digest,
	// output before the verdict, a second Result, a text that is too long. The
	// process is not to be trusted any further.
	ErrProtocol = errors.New("plugin broke the contract")
	// ErrLost says that the process is gone or that the call was cut.
	ErrLost = errors.New("plugin is lost")
	// ErrOverrun says that an answer did not come by the host's own deadline,
	// which lies beyond the plugin's. It is also ErrLost.
	ErrOverrun = fmt.Errorf("deadline has passed without an answer: %w", ErrLost)
	// ErrRefused says that the plugin refused what it was asked, for a reason
	// of its own: its settings, say, or a verb that it does not know.
	ErrRefused = errors.New("plugin refused")
	// ErrInternal says that a session verb failed by the plugin's own fault,
	// whose log says why. The process goes on.
	ErrInternal = errors.New("plugin failed")
)

// Handshake is what both halves agree on before they speak: the cookie, and
// the contract's major version.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		ProtocolVersion:  1,
		MagicCookieKey:   "GATEWAY_EXECUTOR_PLUGIN",
		MagicCookieValue: "gateway.executor.v1",
	}
}

// HostPlugins is the host's plugin set: dispensing [PluginName] from it gives a
// *Client.
func HostPlugins() plugin.PluginSet {
	return plugin.PluginSet{PluginName: &grpcPlugin{}}
}

// HostDialOptions bounds what the host takes from a plugin in one message. They
// belong into go-plugin's ClientConfig, whose own bound is 2 GiB.
func HostDialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(maxMessageBytes),
			grpc.MaxCallSendMsgSize(maxMessageBytes)),
		grpc.WithMaxHeaderListSize(maxHeaderBytes),
		grpc.WithInitialWindowSize(streamWindowBytes),
		grpc.WithInitialConnWindowSize(connWindowBytes),
	}
}

// grpcPlugin is both halves as go-plugin wants them. server is nil on the
// host's side.
type grpcPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	server *server
}

// GRPCServer implements plugin.GRPCPlugin.
func (p *grpcPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	executorpb.RegisterExecutorServer(s, p.server)
	return nil
}

// GRPCClient implements plugin.GRPCPlugin.
func (*grpcPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return NewClient(conn), nil
}

func pluginSet(s *server) plugin.PluginSet {
	return plugin.PluginSet{PluginName: &grpcPlugin{server: s}}
}
