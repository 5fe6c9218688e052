package wire

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/sluice-gateway/sluice/executor"
)

// Environment variables that the host sets for a plugin.
const (
	EnvLogLevel = "GATEWAY_LOG_LEVEL" // trace, debug, info, warn or error
	EnvGuardFD  = "GATEWAY_GUARD_FD"  // descriptor of a pipe whose other end the host holds open
)

// Options change what Serve does, for tests and for plugins with wishes.
type Options struct {
	Logger hclog.Logger // nil: JSON on Stderr, at the level of EnvLogLevel
	Stderr io.Writer    // nil: the process's
}

// Serve is the whole of a plugin's main: it serves e until the host ends the
// process. It must be called once, from main, before anything was printed.
//
// The process dies with its parent. SIGINT is ignored, and SIGTERM drains: the
// running submissions go on and new ones are refused. What e prints on the
// standard output never reaches the host's handshake.
func Serve(e executor.Executor) { ServeWith(e, Options{}) }

// ServeWith is Serve with options.
func ServeWith(e executor.Executor, o Options) {
	log := o.logger()
	if os.Getenv(Handshake().MagicCookieKey) == Handshake().MagicCookieValue {
		if err := guardProcess(os.Getenv(EnvGuardFD)); err != nil {
			fmt.Fprintln(os.Stderr, "plugin:", err)
			os.Exit(1)
		}
	}
	s := newServer(e, log)
	stop := s.drainOnTerm()
	defer stop()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: Handshake(),
		Plugins:         pluginSet(s),
		GRPCServer:      s.grpcServer,
		Logger:          log,
	})
}

func (o Options) logger() hclog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	level := hclog.LevelFromString(os.Getenv(EnvLogLevel))
	if level == hclog.NoLevel {
		level = hclog.Info
	}
	out := o.Stderr
	if out == nil {
		out = os.Stderr
	}
	return hclog.New(&hclog.LoggerOptions{Level: level, Output: out, JSONFormat: true})
}

// drainOnTerm makes SIGTERM a Drain, for as long as the process lives.
func (s *server) drainOnTerm() (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		for range signals {
			s.drain("SIGTERM")
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}
