package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/policies"
)

func (a *app) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "policy", Short: "Write, test, explain and compare policies", Args: cobra.NoArgs,
		Long: `The workbench of whoever edits the rules. Nothing here changes a gateway that
serves: that takes up an edited folder by itself, or at SIGHUP.

docs/writing-policies.md walks from a wish to a rule in force in ten minutes.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.Help(); err != nil {
				return failed(err)
			}
			return &exitError{status: exitUsage}
		},
	}
	cmd.AddCommand(
		a.policyCheckCommand(), a.policyTestCommand(), a.policyDumpCommand(), a.policyEvalCommand(), a.policyExplainCommand(),
		a.policyDiffCommand(), a.policyReplayCommand(), a.policyNewCommand(), a.policyBenchCommand(), a.policyDocsCommand(),
	)
	return cmd
}

// workshop is what the commands of `gateway policy` share: plugins that parse,
// and no policy in force but what a command loads.
type workshop struct {
	*settings
	a      *app
	output *outputFlag
}

// addTo puts the flags that all of them have on a command; forms are those of
// --output beside text and json.
func (w *workshop) addTo(a *app, cmd *cobra.Command, forms ...string) {
	w.a, w.output = a, outputOn(cmd, forms...)
	if w.settings == nil {
		w.settings = &settings{}
	}
	w.settings.addTo(cmd, "policy.dir")
}

// tell shows what was found in the form that --output says; people writes it as
// text.
func (w *workshop) tell(machine any, people func(p *painter) error) error {
	if w.output.value == "json" {
		return writeJSON(w.a.stdout, machine)
	}
	return written(people(&painter{w: w.a.stdout, color: w.a.colored(w.a.stdout)}))
}

// loadsNot is a policy that a command was to look at, and cannot.
func loadsNot(name string, err error) error {
	return failed(fmt.Errorf("the policy in %s does not load:\n%w", name, err))
}

// folder is the policy folder that the configuration names, without any plugin.
func (w *workshop) folder() (name string, folder fs.FS, err error) {
	loaded, err := w.load(w.a)
	if err != nil {
		return "", nil, err
	}
	h := &house{cfg: loaded}
	return h.policyName(), h.policyFS(), nil
}

// with lets use have the plugins, and ends them afterwards. tool narrows them
// down to the one that has it; "" starts all.
func (w *workshop) with(cmd *cobra.Command, tool string, use func(ctx context.Context, h *house) error) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	loaded, err := w.load(w.a)
	if err != nil {
		return err
	}
	return w.withConfig(ctx, loaded, tool, use)
}

func (w *workshop) withConfig(ctx context.Context, loaded *config.Loaded, tool string, use func(ctx context.Context, h *house) error) error {
	loaded.Audit.File = audit.Off
	if tool != "" {
		onlyPluginOf(loaded, tool)
	}
	h, err := assemble(loaded, w.a.getenv, w.a.programLog(loaded), w.a.stdout)
	if err != nil {
		return err
	}
	defer h.end()
	stop := w.a.progress("starting the plugins …")
	err = h.startPlugins(ctx)
	stop()
	if err != nil {
		return interrupted(ctx, failed(err))
	}
	return interrupted(ctx, use(ctx, h))
}

// interrupted says so instead of what then went wrong.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return failed(errors.New("interrupted"))
	}
	return err
}

func (h *house) startPlugins(ctx context.Context) error {
	if err := h.host.Start(ctx); err != nil {
		return fmt.Errorf("start the plugins: %w", err)
	}
	if err := h.wallsStand(); err != nil {
		return err
	}
	return h.pluginsUp()
}

// loadFolder loads a policy that is not put in force; proved by its corpus if
// that is asked for.
func (h *house) loadFolder(ctx context.Context, folder fs.FS, prove bool) (*policy.Store, error) {
	return policy.Load(ctx, policy.Config{
		FS: folder, Languages: h.languages(), Parse: h.parse, Workers: runtime.GOMAXPROCS(0),
		Deadline: h.cfg.Policy.Deadline, MaxDocumentBytes: int(h.cfg.Limits.TreeBytes), SkipCorpus: !prove,
	})
}

// unproved loads the configured policy without its corpus, for commands that
// look at an edit: whether it would be put in force, policy check says.
func (h *house) unproved(ctx context.Context) (*policy.Store, error) {
	store, err := h.loadFolder(ctx, h.policyFS(), false)
	if err != nil {
		return nil, loadsNot(h.policyName(), err)
	}
	h.policies.store.Store(store)
	return store, nil
}

// embedded is how the policy inside this binary is named on a command line.
const embedded = "@"

// policyFolder is the folder of an argument.
func policyFolder(name string) (fs.FS, error) {
	if name == embedded {
		return policies.FS(), nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, misused(fmt.Errorf("read the policy: %w", err))
	case !info.IsDir():
		return nil, misused(fmt.Errorf("read the policy: %s is no folder", name))
	}
	return policy.Folder(name), nil
}

// toolOf finds the tool for a file by the ending of its name, that of a plugin; a
// flag decides where it was given.
func toolOf(flag, file string, plugins map[string]*config.Plugin) string {
	ending := strings.TrimPrefix(filepath.Ext(file), ".")
	switch {
	case flag != "":
		return flag
	case plugins[ending] != nil:
		return ending
	}
	return "python"
}

// languageOf is the language of a tool, "" where no plugin has it.
func (h *house) languageOf(tool string) string {
	target, err := h.host.Find(tool)
	if err != nil {
		return ""
	}
	return target.Language().ID
}

// profileFor is the profile that is asked: the flag's, else that of the
// commands run and check.
func (h *house) profileFor(flag string) string {
	if flag != "" {
		return flag
	}
	return profiles(h.cfg.Policy.Profiles)[gateway.RouteCLI]
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
