package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/internal/policy/workbench"
)

// comparing is what diff and replay share.
type comparing struct {
	workshop
	programs []string // folders or files of programs
	logs     []string
	limit    int // differences that are shown
}

func (c *comparing) addFlags(a *app, cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.programs, "programs", nil, "`FOLDER` of programs (repeatable)")
	cmd.Flags().IntVar(&c.limit, "limit", 20, "show at most `N` differences as text; 0 shows all")
	c.addTo(a, cmd)
}

func (a *app) policyDiffCommand() *cobra.Command {
	c := &comparing{}
	cmd := &cobra.Command{
		Use: "diff OLD NEW", Short: "Compare what two policies say of programs", Args: cobra.ExactArgs(2),
		Long: `Asks two policy folders about the same programs, each parsed once: the corpora of
both, every program below --programs, and what --log recorded. Tells what would be
newly refused, newly allowed, and refused for other reasons. @ names the policy
inside this binary. Neither folder's corpus is run as a proof.

Exit status: 0 nothing is newly allowed; 1 something is, or a program has no verdict
for a fault, or a policy does not load; 2 wrong command line or configuration.`,
		Example: "  gateway policy diff @ my-policies\n  gateway policy diff policies my-policies --programs homework --log decisions.jsonl",
	}
	c.addFlags(a, cmd)
	cmd.Flags().StringArrayVar(&c.logs, "log", nil, "decision `LOG` whose programs are asked about, too (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return c.with(cmd, "", func(ctx context.Context, h *house) error { return c.diff(ctx, h, args[0], args[1]) })
	}
	return cmd
}

func (c *comparing) diff(ctx context.Context, h *house, old, changed string) error {
	var cases []workbench.Case
	var sides [2]gateway.Policy
	for i, name := range []string{old, changed} {
		folder, err := policyFolder(name)
		if err != nil {
			return err
		}
		store, err := h.loadFolder(ctx, folder, false)
		if err != nil {
			return loadsNot(name, err)
		}
		if sides[i], err = store.Current(); err != nil {
			return failed(err)
		}
		more, err := corpusCases(folder, store.Status().Profiles)
		if err != nil {
			return failed(err)
		}
		cases = append(cases, more...)
	}
	cases = onceEach(cases)
	more, err := c.folderCases(h, sides[0], sides[1])
	if err != nil {
		return err
	}
	var log *workbench.Log
	if len(c.logs) > 0 {
		if log, err = c.readLogs(h, c.logs); err != nil {
			return err
		}
		more = append(more, workbench.Without(log.Cases)...)
	}
	cases = append(cases, more...)
	found, err := c.compare(ctx, h, sides[0], sides[1], cases)
	if err != nil {
		return err
	}
	return c.show(differing{Old: sideName(old, sides[0]), New: sideName(changed, sides[1]), Log: log}, found)
}

func sideName(folder string, p gateway.Policy) side {
	if folder == embedded {
		folder = "the policy inside this binary"
	}
	return side{Folder: folder, Revision: p.Revision()}
}

// corpusCases are the programs of a corpus under the profiles for which they
// stand there.
func corpusCases(folder fs.FS, all []string) ([]workbench.Case, error) {
	programs, err := policy.Programs(folder)
	if err != nil {
		return nil, err
	}
	var cases []workbench.Case
	for _, p := range programs {
		profiles := p.Profiles
		if len(profiles) == 0 {
			profiles = all
		}
		for _, profile := range profiles {
			cases = append(cases, workbench.Case{Name: p.Name, Language: p.Language, Tool: p.Language, Profile: profile, Caller: "corpus", Code: p.Code})
		}
	}
	return cases, nil
}

// onceEach leaves out what stands in both corpora, whatever each expects of it.
func onceEach(cases []workbench.Case) []workbench.Case {
	seen := map[string]bool{}
	return slices.DeleteFunc(cases, func(c workbench.Case) bool {
		heading, code, _ := strings.Cut(string(c.Code), "\n")
		if !strings.HasPrefix(heading, "#") {
			code = string(c.Code)
		}
		key := strings.Join([]string{c.Name, c.Language, c.Profile, code}, "\x00")
		was := seen[key]
		seen[key] = true
		return was
	})
}

// folderCases are the programs below --programs, each under the profiles that
// both policies have.
func (c *comparing) folderCases(h *house, sides ...gateway.Policy) ([]workbench.Case, error) {
	var cases []workbench.Case
	for _, name := range c.programs {
		err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
				return nil
			}
			code, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if len(code) > int(h.cfg.Limits.CodeBytes) {
				return nil // no gateway takes it
			}
			language := h.languageOf(toolOf("", path, h.cfg.Plugins))
			for _, profile := range commonProfiles(sides) {
				cases = append(cases, workbench.Case{Name: path, Language: language, Tool: language, Profile: profile, Caller: "cli", Code: code})
			}
			return nil
		})
		if err != nil {
			return nil, misused(fmt.Errorf("--programs: %w", err))
		}
	}
	return cases, nil
}

// commonProfiles are the profiles that all policies have.
func commonProfiles(sides []gateway.Policy) []string {
	var names []string
	for i, p := range sides {
		have := policy.ProfilesOf(p)
		if i == 0 {
			names = have
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(have, name) })
	}
	return names
}

func (c *comparing) readLogs(h *house, names []string) (*workbench.Log, error) {
	log, sources := &workbench.Log{}, workbench.Sources{}
	for _, folder := range c.programs {
		if err := sources.AddFolder(os.DirFS(folder), int64(h.cfg.Limits.CodeBytes)); err != nil {
			return nil, misused(fmt.Errorf("--programs: %w", err))
		}
	}
	for _, name := range names {
		if err := c.readLog(h, log, name, sources); err != nil {
			return nil, err
		}
	}
	return log, nil
}

func (c *comparing) readLog(h *house, log *workbench.Log, name string, sources workbench.Sources) error {
	in := c.a.stdin
	if name != "-" {
		file, err := openRegular(name)
		if err != nil {
			return misused(fmt.Errorf("read the decision log: %w", err))
		}
		defer file.Close()
		in = file
	}
	if err := log.Read(in, sources, h.languageOf); err != nil {
		return failed(err)
	}
	return nil
}

// barPoll is how often the bar is drawn.
const barPoll = 100 * time.Millisecond

// compare asks both policies, with a bar on a terminal while that takes its time.
func (c *comparing) compare(ctx context.Context, h *house, old, changed gateway.Policy, cases []workbench.Case) (*workbench.Comparison, error) {
	h.collectSeldom()
	comparer := workbench.Comparer{Old: old, New: changed, Parse: h.parse, Workers: 2 * runtime.GOMAXPROCS(0)}
	if isTerminal(c.a.stderr) {
		bar := progressbar.NewOptions(len(cases), progressbar.OptionSetWriter(c.a.stderr), progressbar.OptionSetDescription("judging"),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(barPoll))
		comparer.Progress = func(done int) { _ = bar.Set(done) } // a bar that cannot be drawn is no fault
		defer func() { _ = bar.Finish() }()
	}
	found, err := comparer.Compare(ctx, cases)
	if err != nil {
		return nil, failed(err)
	}
	return found, nil
}
