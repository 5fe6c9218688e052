package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/front/rest"
)

func (a *app) serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "Serve the HTTP API", Args: cobra.NoArgs,
		Long: `Serves the HTTP API until SIGINT or SIGTERM.

A token is needed: SOLVER_TOKEN, or a file (mode 0600) named by
SOLVER_TOKEN_FILE or auth.token_file, or a file of named tokens (auth.tokens,
written by 'gateway token new'). /healthz answers from the start; /readyz
says 503 until a policy is in force and every plugin is healthy.

A signal stops it: /readyz says 503, running requests are finished (for
'drain' at most), then it exits with status 0. A second signal stops at once.

SIGHUP reads the configuration, the tokens, the policy and the certificates again
and puts all of them in force, or none: the log says what changed, or why nothing did.`,
		Example: "  SOLVER_TOKEN_FILE=.token gateway serve --config config.yaml",
	}
	s := &settings{}
	s.addTo(cmd, "listen", "policy.dir", "log.level", "log.format", "limits.concurrency")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		loaded, err := s.load(a)
		if err != nil {
			return err
		}
		return a.serve(cmd.Context(), loaded, func() (*config.Loaded, error) { return s.load(a) })
	}
	return cmd
}

func (a *app) serve(ctx context.Context, cfg *config.Loaded, load func() (*config.Loaded, error)) error {
	// A log whose reader has left is no reason to end: the write fails instead.
	// Taken, not ignored: what is ignored stays so in the plugins.
	unread := make(chan os.Signal, 1)
	signal.Notify(unread, syscall.SIGPIPE)
	defer signal.Stop(unread)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	level := &slog.LevelVar{}
	level.Set(levelOf(cfg.Log))
	log := loggerAt(level, cfg.Log, a.stderr)
	tokens, err := newTokenKeeper(cfg, a.getenv, log)
	if err != nil {
		return misused(err)
	}
	edge, err := openEdge(ctx, cfg, log)
	if err != nil {
		return failed(err)
	}
	defer edge.close()
	h, err := assemble(cfg, a.getenv, log, a.stdout)
	if err != nil {
		return err
	}
	h.load = load
	h.tokens = tokens
	edge.tell()
	tellStart(log, cfg)
	stopAdmin, err := h.serveAdmin(ctx, tokens.auth)
	if err != nil {
		return failed(errors.Join(err, h.close(ctx)))
	}
	defer stopAdmin()
	protocol := h.mcpFront(tokens.auth.Recheck)
	door := newDoor(edge.handler(rest.New(rest.Config{
		Gateway: h.gateway, Auth: tokens.auth, Version: version, Log: log, Ready: h.ready, Observe: h.observe, Pause: refusalPause,
		Beside: mcpRoutes(protocol),
		Limits: rest.Limits{BodyBytes: int64(cfg.Limits.BodyBytes), CodeBytes: int(cfg.Limits.CodeBytes), BodyTime: cfg.Limits.BodyTime},
	})), edge.inherited)
	door.leave = protocol.Leave
	server := rest.ServerFor(door, rest.ServerConfig{
		WallCeiling: cfg.Limits.WallCeiling, QueueWait: cfg.Limits.QueueWait, ParseWall: cfg.Limits.ParseWall, Log: log,
		BodyTime: cfg.Limits.BodyTime, HeaderTime: cfg.Limits.HeaderTime, HeaderBytes: int(cfg.Limits.HeaderBytes), IdleTime: cfg.Limits.IdleTime,
	})
	reloads := &hangups{log: log, load: load, inForce: cfg, plugins: &h.pluginsInForce, parts: append(a.reloaders(h, level, tokens), edge.reloader()), manager: edge.manager, up: h.up}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go reloads.keep(ctx, hangup)
	go tokens.watch(ctx)
	return a.live(ctx, h, door, server, edge)
}

// refusalPause is how much later a refusal for load or for a token's limit is
// told.
const refusalPause = 250 * time.Millisecond

// live serves until a signal, a fault of the server, or a start that cannot
// succeed, and then takes everything down.
func (a *app) live(ctx context.Context, h *house, door *door, server *http.Server, edge *edge) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	served, started := make(chan error, 1), make(chan error, 1)
	go func() { served <- h.serveFrom(ctx, edge, server) }()
	go func() { started <- h.keepStarting(ctx) }()

	var why error
	select {
	case s := <-signals:
		h.log.Info("stopping", "signal", s.String(), "drain", h.drainTime().String())
	case <-ctx.Done():
		h.log.Info("stopping", "reason", "context ended")
	case why = <-served:
	case why = <-started:
	}
	edge.manager.Stopping()
	return a.takeDown(h, door, edge, server, signals, cancel, why)
}

// serveFrom answers what comes in. From a socket that outlives this process
// nothing is taken before it can be answered: until then it waits there, as it
// did between this process and the one before.
func (h *house) serveFrom(ctx context.Context, edge *edge, server *http.Server) error {
	up := make(chan struct{})
	go func() {
		defer close(up)
		select {
		case <-h.up:
			edge.manager.Ready("answering at " + edge.address().String())
		case <-ctx.Done():
		}
	}()
	if edge.inherited {
		<-up
	}
	if err := edge.serve(ctx, server); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// takeDown drains and stops. A second signal cuts the drain short.
func (a *app) takeDown(h *house, door *door, edge *edge, server *http.Server, signals <-chan os.Signal, cancel func(), why error) error {
	drain := h.drainTime()
	if why != nil {
		drain = 0
	}
	ctx, stop := context.WithTimeout(context.Background(), drain)
	defer stop()
	hurried := make(chan struct{})
	over := make(chan struct{})
	defer close(over)
	go func() {
		echoes(signals)
		h.log.Info("the same signal again stops at once")
		select {
		case <-signals:
			close(hurried)
			stop()
		case <-over:
		}
	}()
	door.shut(ctx)
	edge.letGo(ctx, server)
	if err := server.Shutdown(ctx); err != nil {
		h.log.Warn("running requests are cut", "inside", door.inside.Load())
		_ = server.Close() // what was open is cut, whatever that says
	}
	cancel()
	err := h.close(ctx)
	select {
	case <-hurried:
		return failed(errors.New("stopped at once by a second signal"))
	default:
	}
	if why != nil || err != nil {
		return failed(errors.Join(why, err))
	}
	h.log.Info("stopped")
	return nil
}

// echoTime is how long a signal may echo: timeout(1) and some supervisors send
// one to the process and then to its group.
const echoTime = 300 * time.Millisecond

// echoes takes what is no second signal out of the channel.
func echoes(signals <-chan os.Signal) {
	for quiet := time.After(echoTime); ; {
		select {
		case <-signals:
		case <-quiet:
			return
		}
	}
}

// tellStart says at start what an operator should not have to look up.
func tellStart(log *slog.Logger, cfg *config.Loaded) {
	for _, w := range cfg.Warnings {
		log.Warn("configuration: " + w)
	}
	if cfg.Audit.File == audit.Off {
		log.Warn("the decision log is off (audit.file: off)")
	}
	if cfg.Audit.RecordSource {
		log.Warn("the decision log records the text of programs (audit.record_source)")
	}
	var left []string
	for _, p := range config.Properties() {
		if !slices.Contains(cfg.Sandbox.Require, p) {
			left = append(left, p)
		}
	}
	if len(left) > 0 {
		log.Warn("properties of the sandbox that are not required", "left_out", left, "required", cfg.Sandbox.Require)
	}
}

// drainPoll is how often a shut door looks whether the last one has left.
const drainPoll = 20 * time.Millisecond
