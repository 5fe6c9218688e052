package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/pluginhost"
	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/internal/telemetry"
	"github.com/sluice-gateway/sluice/policies"
)

// house is the rooms, wired together.
type house struct {
	cfg      *config.Loaded
	log      *slog.Logger
	host     *pluginhost.Host
	policies standing
	journal  *audit.Journal
	metrics  *telemetry.Metrics
	pins     pinCache
	tokens   *tokenKeeper  // nil: nobody serves
	compare  chan struct{} // asks for a comparison of the policy with its upstream
	gateway  *gateway.Gateway
	up       chan struct{}                  // closed when the start is over
	drain    atomic.Int64                   // nanoseconds that a stop waits for running requests
	gcChosen bool                           // the operator has set how often to collect garbage
	load     func() (*config.Loaded, error) // the configuration as it stands now; nil but while serving

	pluginsInForce pluginsInForce
}

// assemble is the one place where rooms meet. Nothing runs yet; start does
// that, and close ends it.
func assemble(cfg *config.Loaded, getenv func(string) string, log *slog.Logger, stdout io.Writer) (*house, error) {
	h := &house{cfg: cfg, log: log, up: make(chan struct{}), compare: make(chan struct{}, 1), gcChosen: gcChosen(getenv)}
	h.drain.Store(int64(cfg.Drain))
	h.metrics = telemetry.New(telemetry.Config{Version: version, Build: build, State: h.telemetry})
	var err error
	if h.journal, err = audit.Open(auditConfig(cfg.Audit, stdout, log, &h.policies)); err != nil {
		return nil, misused(fmt.Errorf("audit.file: %w", err))
	}
	hosting, err := h.hostConfig(getenv)
	if err != nil {
		return nil, misused(err)
	}
	if h.host, err = pluginhost.New(hosting); err != nil {
		return nil, misused(fmt.Errorf("plugins: %w", err))
	}
	h.gateway = gateway.New(gateway.Config{
		Executors: h.host, Policies: &h.policies, Journal: journals{h.journal, h.metrics}, Log: log, Now: time.Now,
		Limits: gatewayLimits(cfg.Limits, h.concurrency()), Profiles: profiles(cfg.Policy.Profiles),
		RecordSource: cfg.Audit.RecordSource, Sessions: sessionLimits(cfg.Session),
	})
	return h, nil
}

func sessionLimits(s config.Sessions) gateway.SessionLimits {
	return gateway.SessionLimits{Max: s.Max, MaxPerOwner: s.MaxPerToken, Idle: s.Idle, MemoryTotal: uint64(s.MemoryTotal)}
}

// standing is the policy store once there is one. Before that no policy is in
// force.
type standing struct{ store atomic.Pointer[policy.Store] }

// Current implements gateway.Policies.
func (s *standing) Current() (gateway.Policy, error) {
	store := s.store.Load()
	if store == nil {
		return nil, gateway.ErrNoPolicy
	}
	return store.Current()
}

// revision names the policy in force; empty: none is.
func (s *standing) revision() string {
	current, err := s.Current()
	if err != nil {
		return ""
	}
	return current.Revision()
}

func profiles(p config.Profiles) map[gateway.Route]string {
	return map[gateway.Route]string{
		gateway.RouteSolve: p.Solve, gateway.RouteRun: p.Run, gateway.RouteTools: p.Tools, gateway.RouteCLI: p.CLI,
	}
}

func gatewayLimits(l config.Limits, concurrency int) gateway.Limits {
	return gateway.Limits{
		CodeBytes: int(l.CodeBytes), Concurrency: concurrency, Queue: l.Queue, QueueWait: l.QueueWait, QueueTarget: l.QueueTarget,
		ToolWall: l.ToolWall, WallCeiling: l.WallCeiling, ParseWall: l.ParseWall, MaxTreeBytes: uint64(l.TreeBytes),
		Default: executor.Limits{
			Wall: l.Wall, CPU: l.CPU, MemoryBytes: uint64(l.Memory), StdoutBytes: uint64(l.StdoutBytes), StderrBytes: uint64(l.StderrBytes),
			OutputCeilingBytes: uint64(l.OutputCeiling), ScratchBytes: uint64(l.ScratchBytes), ArtifactBytes: uint64(l.PlotlyBytes),
			Threads: uint32(l.Threads),
		},
	}
}

// concurrency is how many programs run at once: what the configuration asks
// for, as far as memory suffices.
func (h *house) concurrency() int {
	want := h.cfg.Limits.Concurrency
	if want == 0 {
		want = runtime.GOMAXPROCS(0)
	}
	pool := gatewayMemory
	for _, p := range h.cfg.Plugins {
		pool += config.Size(p.Instances) * pluginMemory
	}
	usable := usableMemory(os.DirFS("/"))
	fits := fitConcurrency(want, h.cfg.Limits.Memory, pool, usable)
	if fits < want {
		h.log.Warn("CONCURRENCY IS LOWERED: concurrency × memory + pool is more than the usable memory",
			"asked", want, "in_force", fits, "memory", h.cfg.Limits.Memory.String(), "pool", pool.String(), "usable", usable.String())
	}
	return fits
}

// hostConfig is what the plugin host needs to know.
func (h *house) hostConfig(getenv func(string) string) (pluginhost.Config, error) {
	out := pluginhost.Config{
		StateRoot: h.stateRoot(), GatewayVersion: version, LogLevel: h.cfg.Log.Level, Log: h.log,
		LookupEnv: func(name string) (string, bool) { value := getenv(name); return value, value != "" },
	}
	var err error
	out.Plugins, err = pluginsOf(h.cfg)
	return out, err
}

// pluginsOf are the plugins of a configuration, in the order of their names.
func pluginsOf(cfg *config.Loaded) (list []pluginhost.Plugin, err error) {
	for name, p := range cfg.Plugins {
		settings, err := json.Marshal(p.Config)
		if err != nil {
			return nil, fmt.Errorf("plugins.%s.config: %w", name, err)
		}
		var files []pluginhost.PinnedFile
		for _, f := range p.Pinned() {
			files = append(files, pluginhost.PinnedFile(f))
		}
		list = append(list, pluginhost.Plugin{
			Name: name, Command: p.Command, Args: p.Args, SHA256: p.SHA256, Files: files, Trust: p.Trust, Env: p.Env, ConfigJSON: settings,
			Tools: p.Tools, OpenFiles: uint64(p.Limits.OpenFiles), Instances: p.Instances, Disabled: !p.Enabled, Description: p.Description,
			StartTimeout: p.StartTimeout, DrainTimeout: p.DrainTimeout, Require: cfg.Sandbox.Require,
		})
	}
	slices.SortFunc(list, func(a, b pluginhost.Plugin) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// longestState is what a socket's path leaves for the state folder.
const longestState = 50

// stateRoot is where sockets lie. A folder for temporary files that lies too
// deep for that is passed over.
func (h *house) stateRoot() string {
	if h.cfg.State != "" {
		return h.cfg.State
	}
	name := fmt.Sprintf("sluice-%d", os.Getuid())
	if root := filepath.Join(os.TempDir(), name); filepath.IsAbs(root) && len(root) <= longestState {
		return root
	}
	return filepath.Join("/tmp", name)
}

// loadPolicy puts the policy in force; without its corpus only where that was
// run already.
func (h *house) loadPolicy(ctx context.Context, skipCorpus bool) error {
	store, err := policy.Load(ctx, policy.Config{
		FS: h.policyFS(), Languages: h.languages(), Parse: h.parse, Workers: runtime.GOMAXPROCS(0),
		Deadline: h.cfg.Policy.Deadline, MaxDocumentBytes: int(h.cfg.Limits.TreeBytes), Log: h.log,
		Needed: h.needed, SkipCorpus: skipCorpus, Tested: policies.FS(),
	})
	if err != nil {
		return fmt.Errorf("load the policy from %s: %w", h.policyName(), err)
	}
	h.policies.store.Store(store)
	return nil
}

func (h *house) policyName() string {
	if h.cfg.Policy.Dir == "" {
		return "this binary"
	}
	return h.cfg.Policy.Dir
}

func (h *house) policyFS() fs.FS {
	if h.cfg.Policy.Dir == "" {
		return policies.FS()
	}
	return policy.Folder(h.cfg.Policy.Dir)
}

// languages lists what the plugins that are up have described, each once.
func (h *house) languages() (list []executor.Language) {
	seen := map[string]bool{}
	for _, t := range h.host.Targets() {
		if l := t.Language(); l.ID != "" && !seen[l.ID] {
			seen[l.ID] = true
			list = append(list, l)
		}
	}
	return list
}

// parse has a plugin parse a program of the policy's corpus, or one that policies
// are compared on, which is refused afterwards whatever it is.
func (h *house) parse(ctx context.Context, language string, code []byte, sections []string) (executor.Tree, *executor.Result, error) {
	target, err := h.host.Find(language)
	if err != nil {
		return executor.Tree{}, nil, err
	}
	sub, err := target.Submit(ctx, executor.Source{
		ID: newRequestID(), Language: language, Tool: target.Tool().Name, Code: code, Sections: sections,
		MaxTreeBytes: uint64(h.cfg.Limits.TreeBytes), JudgeOnly: true,
		ParseLimits: executor.Limits{Wall: h.cfg.Limits.ParseWall, MemoryBytes: uint64(h.cfg.Limits.Memory)},
	})
	if err != nil {
		return executor.Tree{}, nil, err
	}
	defer sub.Close()
	if ended := sub.Ended(); ended != nil {
		return executor.Tree{}, ended, nil
	}
	tree := sub.Tree()
	sub.Deny("", []string{"corpus"})
	return tree, nil, nil
}

// ready says whether a policy is in force and every plugin is healthy.
func (h *house) ready() bool {
	_, err := h.policies.Current()
	return err == nil && h.host.Ready()
}

// close ends the plugins, writes the journal out, and leaves nothing behind.
// ctx bounds the wait for running programs.
func (h *house) close(ctx context.Context) error {
	var faults []error
	if err := h.host.Close(ctx); err != nil {
		faults = append(faults, fmt.Errorf("stop the plugins: %w", err))
	}
	h.gateway.Settle(ctx)
	if err := h.journal.Close(); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func newRequestID() string { return strings.ToLower(rand.Text()) }
