package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/executor/executortest"
	"github.com/sluice-gateway/sluice/internal/config"
)

// verifying are the flags of plugin verify.
type verifying struct {
	settings settings
	given    string // settings of the plugin, JSON or a file's name
	only     []string
	strict   bool
	quick    bool
	patience time.Duration
	output   *outputFlag
}

func (a *app) pluginVerifyCommand() *cobra.Command {
	v := &verifying{}
	cmd := &cobra.Command{
		Use: "verify PATH [-- ARGUMENTS]", Short: "Hold a plugin against the whole contract", Args: cobra.MinimumNArgs(1),
		Long: `Starts the plugin at PATH, several times, and holds it against every rule of the
contract: its process and handshake (H), what it says of itself (D), its
submissions (S), its sessions (T), and what operators do to it (O). The programs
that it runs are the samples of the plugin's own description; a check without
its sample is skipped. The plugin runs with your rights, without the gateway's
walls; no gateway need be running.

The plugin is given the settings of the configured plugin with that command, if
there is one, or those of --settings.

Exit status: 0 nothing failed (with --strict: and nothing was skipped); 1
something did; 2 wrong command line or configuration.`,
		Example: "  gateway plugin verify bin/plugins/calc --strict\n  gateway plugin verify ./my-plugin --check S09,S11 --output json\n  gateway plugin verify .venv/bin/python -- plugin.py",
	}
	v.output = outputOn(cmd)
	cmd.Flags().BoolVar(&v.strict, "strict", false, "a skipped check is a failure")
	cmd.Flags().BoolVar(&v.quick, "quick", false, "fewer rounds in the checks that run many (S25, O06)")
	cmd.Flags().StringSliceVar(&v.only, "check", nil, "run these `CHECKS` alone, for example S09,S11")
	cmd.Flags().StringVar(&v.given, "settings", "", "the plugin's settings: a JSON `OBJECT`, or a file that holds one")
	cmd.Flags().DurationVar(&v.patience, "timeout", 2*time.Minute, "for all checks together; what is left fails")
	v.settings.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		program, err := v.program(a, args)
		if err != nil {
			return misused(err)
		}
		began := time.Now()
		report, err := executortest.Verify(cmd.Context(), program, executortest.Options{Only: v.only, Patience: v.patience, Short: v.quick, Progress: v.progress(a)})
		if err != nil {
			return misused(err)
		}
		return v.conclude(a, report, time.Since(began))
	}
	return cmd
}

// program is what the command line and the configuration say of the plugin.
func (v *verifying) program(a *app, args []string) (executortest.Program, error) {
	path := absolutePath(a.dir, args[0])
	p := executortest.Program{Path: path, Args: args[1:]}
	if v.given != "" {
		var err error
		p.Settings, err = objectOrFile(v.given)
		return p, err
	}
	loaded, err := v.settings.load(a)
	if err != nil {
		return p, err
	}
	if known := configured(loaded, path, p.Args); known != nil {
		p.Args = known.Args
		for _, name := range known.Env {
			if value := a.getenv(name); value != "" {
				p.Env = append(p.Env, name+"="+value)
			}
		}
		p.Settings, err = json.Marshal(known.Config)
	}
	return p, err
}

// configured finds the plugin with that command; with those arguments, if any
// were given.
func configured(loaded *config.Loaded, path string, args []string) *config.Plugin {
	for _, p := range loaded.Plugins {
		if p.Command == path && (len(args) == 0 || slices.Equal(p.Args, args)) {
			return p
		}
	}
	return nil
}

func absolutePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func objectOrFile(given string) ([]byte, error) {
	text := []byte(given)
	if !strings.HasPrefix(strings.TrimSpace(given), "{") {
		var err error
		if text, err = os.ReadFile(given); err != nil {
			return nil, fmt.Errorf("--settings: %w", err)
		}
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("--settings: it is no JSON object: %w", err)
	}
	return text, nil
}

// progress shows each check as it ends.
func (v *verifying) progress(a *app) func(executortest.Finding) {
	if v.output.value == "json" {
		return nil
	}
	colored := a.colored(a.stdout)
	return func(f executortest.Finding) { _ = showFinding(a.stdout, f, colored) }
}

// marks are how the outcomes are shown, with their colours.
func marks() map[executortest.Outcome][2]string {
	return map[executortest.Outcome][2]string{
		executortest.Passed: {"ok  ", "32"}, executortest.Failed: {"FAIL", "31"},
		executortest.Skipped: {"skip", "33"}, executortest.NotApplicable: {"n/a ", "2"},
	}
}

func showFinding(w io.Writer, f executortest.Finding, colored bool) error {
	mark := marks()[f.Outcome]
	if colored {
		mark[0] = "\x1b[" + mark[1] + "m" + mark[0] + "\x1b[0m"
	}
	line := fmt.Sprintf("%s %s %s", mark[0], f.ID, f.Rule)
	if f.Language != "" {
		line = fmt.Sprintf("%s %s %s: %s", mark[0], f.ID, f.Language, f.Rule)
	}
	if f.Detail != "" {
		line += "\n          " + strings.ReplaceAll(string(shown([]byte(f.Detail))), "\n", "\n          ")
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// verified is the report as JSON.
type verified struct {
	executortest.Report
	Passed        int     `json:"passed"`
	Failed        int     `json:"failed"`
	Skipped       int     `json:"skipped"`
	NotApplicable int     `json:"not_applicable"`
	Strict        bool    `json:"strict"`
	OK            bool    `json:"ok"`
	Seconds       float64 `json:"seconds"`
}

func (v *verifying) conclude(a *app, r executortest.Report, took time.Duration) error {
	out := verified{
		Report: r, Passed: r.Count(executortest.Passed), Failed: r.Count(executortest.Failed), Skipped: r.Count(executortest.Skipped),
		NotApplicable: r.Count(executortest.NotApplicable), Strict: v.strict, OK: r.OK(v.strict), Seconds: took.Seconds(),
	}
	var err error
	if v.output.value == "json" {
		err = writeJSON(a.stdout, out)
	} else {
		who := r.Name + " " + r.Version
		if r.Name == "" {
			who = r.Program + " (it never said what it is)"
		}
		_, werr := fmt.Fprintf(a.stdout, "%s: %d passed, %d failed, %d skipped, %d do not apply; %.1f s; sha256 %s\n",
			who, out.Passed, out.Failed, out.Skipped, out.NotApplicable, out.Seconds, r.SHA256)
		err = written(werr)
	}
	switch {
	case err != nil:
		return err
	case len(r.Findings) == 0:
		return misused(errors.New("no check has one of the names that --check gives"))
	case !out.OK && v.strict && out.Failed == 0:
		return failed(errors.New("checks were skipped, which --strict does not allow: describe the samples that they need"))
	case !out.OK:
		return failed(errors.New("the plugin does not keep the contract"))
	}
	return nil
}
