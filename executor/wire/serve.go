package wire

import (
	"fmt"
	"log/slog"
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

// Serve is the whole of a plugin's main: it serves e until the host ends the
// process. It must be called once, from main, before anything was printed.
//
// The process dies with its parent. SIGINT is ignored, and SIGTERM drains: the
// running submissions go on and new ones are refused. What e prints on the
// standard output never reaches the host's handshake. The defaults of log/slog
// and hclog are set to write what the host reads, at the host's level.
func Serve(e executor.Executor) {
	hs := Handshake()
	if os.Getenv(hs.MagicCookieKey) == hs.MagicCookieValue { // else go-plugin says what is wrong
		if err := guardProcess(os.Getenv(EnvGuardFD)); err != nil {
			fmt.Fprintln(os.Stderr, "plugin:", err)
			os.Exit(1)
		}
	}
	log := newLogger(os.Stderr)
	hclog.SetDefault(log)
	slog.SetDefault(slog.New(newSlogHandler(os.Stderr, log)))
	s := newServer(e, log)
	stop := s.drainOnTerm()
	defer stop()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: hs,
		Plugins:         pluginSet(s),
		GRPCServer:      s.grpcServer,
		Logger:          log,
	})
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
