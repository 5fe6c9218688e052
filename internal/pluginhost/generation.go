package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// generation is one process of a plugin from its start to its end. Its fields
// are set before it is published; what changes is the pool's (see pool.mu).
type generation struct {
	spec     Plugin
	offer    *offer // of a description that differs from its predecessor's; nil: it does not
	child    *child
	plugin   *plugin.Client
	client   *wire.Client
	about    executor.Description
	warnings []string // of its settings
	base     string   // its directory
	words    *ring
	log      *stderrLog
	said     *io.PipeWriter // what the plugin's own code prints comes over the connection
	heard    sync.WaitGroup
	alarm    chan struct{} // something was seen that the keeper should look at
	waited   atomic.Bool   // it was told that a debugger is waited for
	blamed   chan struct{} // closed when its end has been counted against the texts that were with it

	// Of the pool's, under its lock.
	inflight  int
	opening   int // of those, on their way to the plugin
	texts     map[digest]int
	sessions  int
	degraded  bool
	closed    bool // takes no new work
	breach    error
	overruns  window
	overrunIs int
}

// launch starts a process and brings it to health, or cleans up after it.
// fresh: an operator asked for it, so it may describe itself otherwise than its
// predecessor.
func (k *keeper) launch(ctx context.Context, spec Plugin, fresh bool) (g *generation, err error) {
	ctx, cancel := context.WithTimeout(ctx, spec.StartTimeout)
	defer cancel()
	program, err := openProgram(spec)
	if err != nil {
		return nil, err
	}
	defer closeAll(program)
	met := false // it has shaken hands
	g, state, err := k.newGeneration(spec, program)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			g.destroy(0)
			k.note(g)
			if !met {
				err = withLastWords(err, g.words.String())
			}
		}
	}()
	if err = g.connect(ctx); err != nil {
		return g, err
	}
	met = true
	if err = k.introduce(ctx, g, state, fresh); err != nil {
		return g, err
	}
	return g, k.awaitHealthy(ctx, g)
}

// withLastWords adds the last line that a process wrote which never shook hands:
// most often why. No submission was with it yet.
func withLastWords(err error, words string) error {
	lines := strings.Split(strings.TrimSpace(words), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fmt.Errorf("%w; its last words: %s", err, clip(last, maxLogValue))
	}
	return err
}

func (k *keeper) newGeneration(spec Plugin, program *os.File) (*generation, string, error) {
	p := k.pool
	base, sockets, state, err := p.host.home.generationDirs()
	if err != nil {
		return nil, "", err
	}
	started := spec // with the copies' names, which the next process has others of
	started.Args, err = spec.copyFiles(filepath.Join(base, filesFolder))
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(base))
	}
	g := &generation{
		spec: spec, base: base, words: &ring{}, alarm: make(chan struct{}, 1), texts: map[digest]int{},
		overruns: window{length: p.times.exitWindow}, blamed: make(chan struct{}),
	}
	identity, certificate, err := newIdentity()
	if err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(base))
	}
	g.log = &stderrLog{log: k.log, words: g.words}
	g.child = newChild(p.host.offer, p.times.pipes, g.log)
	var printed *io.PipeReader
	printed, g.said = io.Pipe()
	g.heard.Go(func() { g.log.pump(printed) })
	g.plugin = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  wire.Handshake(),
		Plugins:          wire.HostPlugins(),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		TLSConfig:        identity,
		SkipHostEnv:      true,
		StartTimeout:     min(p.times.handshake, spec.StartTimeout),
		GRPCDialOptions:  wire.HostDialOptions(),
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: sockets},
		Logger:           hclog.NewNullLogger(), // the pipes are read by child
		Stderr:           io.Discard,
		SyncStdout:       g.said,
		SyncStderr:       g.said,
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, socketDir string) (runner.Runner, error) {
			g.child.prepare(p.command(started, program, append(cmd.Env, envClientCert+"="+certificate), state), socketDir)
			return g.child, nil
		},
	})
	return g, state, nil
}

// command is the outer ring around every plugin.
func (p *pool) command(spec Plugin, program *os.File, handshake []string, state string) sandbox.Spec {
	env := append(slices.Clone(handshake),
		"GATEWAY_GUARD_FD=3", "GATEWAY_LOG_LEVEL="+p.host.cfg.LogLevel,
		"LANG=C.UTF-8", "TZ=UTC", "TMPDIR="+state, "HOME="+state)
	for _, name := range spec.Env {
		if value, ok := p.host.cfg.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return sandbox.Spec{
		Path: spec.Command, Exe: program, Args: append([]string{spec.Command}, spec.Args...), Env: env, Dir: state,
		Namespaces: []sandbox.Namespace{sandbox.PID, sandbox.Mount, sandbox.IPC, sandbox.UTS}, FreshProc: true,
		Rlimits: []sandbox.Rlimit{{Resource: unix.RLIMIT_NOFILE, Soft: spec.OpenFiles, Hard: spec.OpenFiles}},
		Seccomp: true,
	}
}

// connect starts the process, shakes hands and dials. go-plugin has no deadline
// after the handshake, so it is given one here.
func (g *generation) connect(ctx context.Context) error {
	type dialled struct {
		client *wire.Client
		err    error
	}
	result := make(chan dialled, 1)
	go func() {
		client, err := dial(g.plugin)
		result <- dialled{client, err}
	}()
	select {
	case d := <-result:
		g.client = d.client
		return d.err
	case <-ctx.Done():
	}
	// What go-plugin waits for ends with the process, which may not have been
	// started yet: kill also forbids that.
	killer := time.NewTicker(10 * time.Millisecond)
	defer killer.Stop()
	for {
		select {
		case <-result:
			return fmt.Errorf("connect to the plugin: %w", ctx.Err())
		case <-killer.C:
			g.kill()
		}
	}
}

func dial(p *plugin.Client) (*wire.Client, error) {
	protocol, err := p.Client()
	if err != nil {
		return nil, fmt.Errorf("shake hands with the plugin: %w", err)
	}
	dispensed, err := protocol.Dispense(wire.PluginName)
	if err != nil {
		return nil, fmt.Errorf("reach the plugin's executor: %w", err)
	}
	client, ok := dispensed.(*wire.Client)
	if !ok {
		return nil, fmt.Errorf("reach the plugin's executor: it is a %T", dispensed)
	}
	return client, nil
}

// introduce asks what the plugin is, compares it with what is configured and
// with what it was before, and hands over its settings.
func (k *keeper) introduce(ctx context.Context, g *generation, state string, fresh bool) (err error) {
	p := k.pool
	if g.about, err = g.client.Describe(ctx, p.host.cfg.GatewayVersion); err != nil {
		return mistrustBreach(err)
	}
	if err := g.recorded(); err != nil {
		return err
	}
	if g.offer, err = p.recognise(g.spec, g.about, fresh); err != nil {
		return err
	}
	settings, err := withRequire(g.about.ConfigSchema, g.spec.ConfigJSON, g.spec.Require)
	if err == nil {
		err = checkConfig(g.about.ConfigSchema, settings)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errMistrust, err)
	}
	warnings, err := g.client.Configure(ctx, executor.Config{
		JSON: settings, StateDir: state, LogLevel: p.host.cfg.LogLevel, Secrets: g.spec.Secrets,
	})
	if err != nil {
		return mistrustBreach(err)
	}
	for _, w := range warnings {
		g.warnings = append(g.warnings, clip(w, maxLogText))
		k.log.Warn("plugin warns of its settings", "text", clip(w, maxLogText))
	}
	return nil
}

// mistrustBreach marks a breach of the contract, and refused settings: a
// restart will not cure them.
func mistrustBreach(err error) error {
	if errors.Is(err, wire.ErrProtocol) || errors.Is(err, wire.ErrRefused) {
		return fmt.Errorf("%w: %w", errMistrust, err)
	}
	return err
}

// awaitHealthy looks deep until the plugin is ready: it may warm up for as long
// as its start may take.
func (k *keeper) awaitHealthy(ctx context.Context, g *generation) error {
	last := "no answer"
	for {
		h, err := g.client.Health(ctx, true)
		switch {
		case errors.Is(err, wire.ErrProtocol):
			return mistrustBreach(err)
		case err == nil && h.State == wire.HealthReady:
			return nil
		case err == nil && h.State == wire.HealthFailed:
			return fmt.Errorf("wait for the plugin's health: it failed: %s", clip(h.Detail, maxLogText))
		case err == nil:
			last = h.State.String() + " " + clip(h.Detail, maxLogText)
		}
		select {
		case <-g.done():
			return fmt.Errorf("wait for the plugin's health: it %s", g.child.process().Wait())
		case <-ctx.Done():
			return fmt.Errorf("wait for the plugin's health (%s): %w", last, ctx.Err())
		case <-time.After(k.pool.times.startPoll):
		}
	}
}

// done is closed when the process has ended.
func (g *generation) done() <-chan struct{} { return g.child.process().Done() }

func (g *generation) dead() bool {
	select {
	case <-g.done():
		return true
	default:
		return false
	}
}

// ring the keeper; never blocks.
func (g *generation) ringAlarm() {
	select {
	case g.alarm <- struct{}{}:
	default:
	}
}

func (g *generation) kill() { g.child.kill() }

// destroy ends the process, politely for at most patience, and removes what it
// left. It returns when nothing is left.
func (g *generation) destroy(patience time.Duration) {
	if patience <= 0 {
		g.kill()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.plugin.Kill()
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		g.kill()
		<-ended
	}
	g.kill()
	if g.child.process() != nil {
		<-g.child.gone
	}
	_ = g.said.Close()
	g.heard.Wait()
	g.log.end()
	_ = os.RemoveAll(g.base)
}

// describeExit says how a process ended, for the log.
func (g *generation) describeExit() slog.Attr {
	if g.child.process() == nil || !g.dead() {
		return slog.String("exit", "running")
	}
	return slog.String("exit", g.child.process().Wait().String())
}
