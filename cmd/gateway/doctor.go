package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/pluginhost"
)

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say whether this host can run the gateway, and try every wall from inside", Args: cobra.NoArgs,
		Long: `Looks at the host, the Python environment, the plugins, the policy, the address
to listen on and the clock. It starts the plugins for itself and has small
programs, run as any submission but judged by no policy, try to get through
each wall: a wall is in force when the plugin says so and no program got
through. No running gateway is touched.

Exit status: 0 the gateway can serve here; 1 a required property of
sandbox.require, a plugin or the policy is missing; 2 wrong configuration. A busy
address and a missing token are notes.`,
		Example: "  gateway doctor\n  gateway doctor --output json | jq .walls",
	}
	output, s := outputOn(cmd), &settings{}
	s.addTo(cmd, "listen", "policy.dir")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		loaded, err := s.load(a)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		d := a.examine(ctx, loaded)
		if ctx.Err() != nil {
			return failed(errors.New("interrupted"))
		}
		if output.value == "json" {
			err = writeJSON(a.stdout, d)
		} else {
			err = written(d.show(a.stdout, a.colored(a.stdout)))
		}
		if err == nil && !d.Ready {
			err = &exitError{status: exitFailed}
		}
		return err
	}
	return cmd
}

// examine makes the whole diagnosis. What goes wrong is part of it.
func (a *app) examine(ctx context.Context, cfg *config.Loaded) diagnosis {
	require := cfg.Sandbox.Require
	d := newDiagnosis(require)
	d.Listen = lookAtListener(ctx, cfg.Listen)
	d.note(d.Listen.Note)
	d.note(a.lookForToken(cfg))
	for _, w := range cfg.Warnings {
		d.note(w)
	}
	d.lookAtHost(time.Now())
	forDiagnosis(cfg)
	h, err := assemble(cfg, a.getenv, a.programLog(cfg), a.stdout)
	if err != nil {
		d.missing("plugins: " + err.Error())
		d.judge(require, nil, nil)
		return d
	}
	defer h.end()
	stop := a.progress("starting the plugins and trying the walls …")
	defer stop()
	d.lookInside(ctx, h, require)
	return d
}

// forDiagnosis takes what would keep a lacking host from being looked at: the
// plugins start whatever walls there are, and the diagnosis judges them.
func forDiagnosis(cfg *config.Loaded) {
	cfg.Audit.File = audit.Off
	cfg.Sandbox.Require = nil
}

// lookInside starts the plugins, tries the walls and loads the policy.
func (d *diagnosis) lookInside(ctx context.Context, h *house, require []string) {
	if err := h.host.Start(ctx); err != nil {
		d.missing(fmt.Sprintf("plugins: %v", err))
	}
	up := d.lookAtPlugins(h)
	d.Python.Interpreter = interpreterOf(h.cfg)
	var results map[string]tried
	if up["python"] {
		p, err := newProber(h)
		if err != nil {
			d.missing(fmt.Sprintf("probes: %v", err))
		} else {
			results = p.all(ctx)
			d.readPython(results["python"])
			p.close()
		}
	}
	d.judge(require, results, h.host.Status())
	d.lookAtPolicy(ctx, h)
}

// lookAtPlugins tells of every plugin, and which languages can be run.
func (d *diagnosis) lookAtPlugins(h *house) map[string]bool {
	healthy := map[string]bool{}
	for _, s := range h.host.Status() {
		p := pluginState{Name: s.Name, Version: s.Version, State: strings.ToLower(string(s.State)), Why: s.Why, Walls: []string{}}
		for _, w := range s.Walls {
			if w.InForce {
				p.Walls = append(p.Walls, w.Name)
			}
		}
		p.Why = cmp.Or(p.Why, lastLine(s.LastWords))
		d.Plugins = append(d.Plugins, p)
		if s.State == pluginhost.Healthy || s.State == pluginhost.Degraded {
			healthy[s.Plugin] = true
		} else {
			d.missing(fmt.Sprintf("plugin %s is %s: %s", s.Name, p.State, p.Why))
		}
	}
	up := map[string]bool{}
	for _, t := range h.host.Targets() {
		up[t.Language().ID] = up[t.Language().ID] || healthy[t.Plugin().Name]
	}
	return up
}

func (d *diagnosis) lookAtPolicy(ctx context.Context, h *house) {
	d.Policy.Folder = h.policyName()
	if !h.host.Ready() {
		d.Policy.Problem = "not looked at: a policy is proved with the plugins, and one is down"
		return
	}
	if err := h.loadPolicy(ctx, proved(h.policyFS())); err != nil {
		d.Policy.Problem = err.Error()
		d.missing("policy: " + err.Error())
		return
	}
	d.Policy.OK, d.Policy.Revision = true, h.policies.revision()
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// interpreterOf is the path that the configuration gives the Python plugin.
func interpreterOf(cfg *config.Loaded) string {
	if p := cfg.Plugins["python"]; p != nil {
		if path, ok := p.Config["python"].(string); ok {
			return path
		}
	}
	return ""
}
