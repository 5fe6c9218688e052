package wire

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
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
		err := commonVersion(os.Getenv(envVersions), hs.ProtocolVersion)
		if err == nil {
			err = guardProcess(os.Getenv(EnvGuardFD))
		}
		if err != nil {
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

// envVersions is where go-plugin's host names the major versions that it speaks.
const envVersions = "PLUGIN_PROTOCOL_VERSIONS"

// commonVersion says that a host speaks none of this plugin's versions. go-plugin
// would answer with one that the host did not offer.
func commonVersion(offered string, own uint) error {
	list := strings.FieldsFunc(offered, func(r rune) bool { return r == ',' || r == ' ' })
	if len(list) == 0 || slices.Contains(list, strconv.FormatUint(uint64(own), 10)) {
		return nil
	}
	return fmt.Errorf("the host speaks version %s of the contract, and this plugin version %d", strings.Join(list, ", "), own)
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
