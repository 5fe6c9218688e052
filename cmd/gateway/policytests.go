package main

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/internal/policy/workbench"
)

// trial is one call of policy test.
type trial struct {
	workshop
	filter    string
	threshold float64
	noCorpus  bool
}

func (a *app) policyTestCommand() *cobra.Command {
	t := &trial{}
	cmd := &cobra.Command{
		Use: "test", Short: "Run a policy's Rego tests and its corpus, and measure coverage", Args: cobra.NoArgs,
		Long: `Runs the tests in *_test.rego with OPA's own tester, tells which share of the rules'
lines they went through, and has the corpus judged: every program of corpus/deny
refused by the rules and at the lines in its first line, every one of
corpus/allow allowed.

Exit status: 0 all passed; 1 a test or a program of the corpus failed, the coverage
is below --threshold, or the policy does not load; 2 wrong command line or
configuration.`,
		Example: "  gateway policy test --threshold 90\n  gateway policy test --run numpy --no-corpus\n  gateway policy test --output junit >report.xml",
	}
	cmd.Flags().StringVar(&t.filter, "run", "", "run the tests alone whose names match the `PATTERN` (a regular expression)")
	cmd.Flags().Float64Var(&t.threshold, "threshold", 0, "fail when the coverage is below this `PERCENT`")
	cmd.Flags().BoolVar(&t.noCorpus, "no-corpus", false, "leave the corpus out, and the plugins that parse it")
	t.addTo(a, cmd, "junit")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if t.threshold < 0 || t.threshold > 100 {
			return misused(fmt.Errorf("--threshold %v: it is a percentage from 0 to 100", t.threshold))
		}
		return t.run(cmd)
	}
	return cmd
}

func (t *trial) run(cmd *cobra.Command) error {
	name, folder, err := t.folder()
	if err != nil {
		return err
	}
	result := tested{Folder: name, Threshold: t.threshold, part: t.filter != ""}
	if result.Rego, err = workbench.RunTests(cmd.Context(), folder, t.filter); err != nil {
		return failed(err)
	}
	if t.filter != "" && len(result.Rego.Tests) == 0 {
		return failed(fmt.Errorf("no test of %s matches --run %s: tests are named after their package, as in data.custom.no_numpy_load_test.test_refused", name, t.filter))
	}
	if !t.noCorpus && t.filter == "" {
		err := t.with(cmd, "", func(ctx context.Context, h *house) error {
			var err error
			result.Corpus, err = corpusTests(ctx, h, folder)
			return err
		})
		if err != nil {
			return err
		}
	}
	result.Good = result.good()
	if err := t.show(result); err != nil {
		return err
	}
	if !result.Good {
		return &exitError{status: exitFailed}
	}
	return nil
}

// tested is what policy test found.
type tested struct {
	Folder    string             `json:"folder"`
	Good      bool               `json:"good"`
	Rego      *workbench.TestRun `json:"rego"`
	Threshold float64            `json:"threshold"`
	Corpus    []workbench.Test   `json:"corpus"` // null: left out

	part bool // some of the tests alone ran: coverage says nothing
}

func (r tested) good() bool {
	return r.Rego.Failed() == 0 && failures(r.Corpus) == 0 && r.Rego.Coverage >= r.Threshold
}

func failures(tests []workbench.Test) (n int) {
	for _, t := range tests {
		if t.Failed {
			n++
		}
	}
	return n
}

// corpusTests loads the folder as serve does and says of each program of the
// corpus whether it kept its word. A fault of the load that is not of a program
// stands first.
func corpusTests(ctx context.Context, h *house, folder fs.FS) ([]workbench.Test, error) {
	programs, err := policy.Programs(folder)
	if err != nil {
		return nil, failed(err)
	}
	_, err = h.loadFolder(ctx, folder, true)
	if ctx.Err() != nil {
		return nil, err
	}
	tests := make([]workbench.Test, 0, len(programs))
	at := map[string]int{}
	for _, p := range programs {
		file, _, _ := strings.Cut(p.Name, ":")
		at[p.Name] = len(tests)
		tests = append(tests, workbench.Test{Package: "corpus." + p.Language, Name: p.Name, File: file})
	}
	for _, f := range faultsOf(err) {
		i, ok := at[f.File]
		if j, inList := at[fmt.Sprintf("%s:%d", f.File, f.Line)]; !ok && inList {
			i, ok = j, true
		}
		if !ok {
			tests = append(tests, workbench.Test{Package: "corpus", Name: "load", File: f.File, Line: f.Line, Failed: true, Why: f.String()})
			continue
		}
		tests[i].Failed, tests[i].Line = true, f.Line
		tests[i].Why = strings.TrimPrefix(tests[i].Why+"\n"+f.String(), "\n")
	}
	return tests, nil
}

func (t *trial) show(r tested) error {
	if t.output.value == "junit" {
		suites := []workbench.Suite{{Name: "rego", Tests: r.Rego.Tests}}
		if r.Corpus != nil {
			suites = append(suites, workbench.Suite{Name: "corpus", Tests: r.Corpus})
		}
		return written(workbench.WriteJUnit(t.a.stdout, suites))
	}
	return t.tell(r, r.text)
}

func (r tested) text(p *painter) error {
	for _, list := range [][]workbench.Test{r.Rego.Tests, r.Corpus} {
		for _, one := range list {
			if one.Failed {
				p.failedTest(one)
			}
		}
	}
	p.printf("  rego      %s, %d failed\n", plural(len(r.Rego.Tests), "test"), r.Rego.Failed())
	if r.Corpus != nil {
		p.printf("  corpus    %s, %d failed\n", plural(len(r.Corpus), "program"), failures(r.Corpus))
	}
	if r.part {
		p.verdict(r)
		return p.err
	}
	p.printf("  coverage  %.1f %% of the rules' lines", r.Rego.Coverage)
	if r.Threshold > 0 {
		p.printf(", at least %g %%", r.Threshold)
	}
	p.printf("\n")
	for _, f := range r.Rego.Files {
		if len(f.Missed) > 0 {
			p.printf("    %s: not reached: %s\n", f.File, linesText(f.Missed))
		}
	}
	p.verdict(r)
	return p.err
}

func (p *painter) verdict(r tested) {
	word := "passed"
	if !r.Good {
		word = p.paint(red, "failed")
	}
	p.printf("%s: %s\n", r.Folder, word)
}

func (p *painter) failedTest(t workbench.Test) {
	place := t.File
	if t.Line > 0 {
		place = fmt.Sprintf("%s:%d", t.File, t.Line)
	}
	p.printf("%s: %s %s\n", p.paint(bold, place), p.paint(red, "failed"), t.Name)
	for line := range strings.Lines(t.Why) {
		p.printf("  %s\n", strings.TrimRight(line, "\n"))
	}
}

// maxRanges bounds how many ranges of lines are told of one file.
const maxRanges = 8

func linesText(missed []workbench.Lines) string {
	var parts []string
	for i, m := range missed {
		if i == maxRanges {
			parts = append(parts, fmt.Sprintf("and %d more", len(missed)-maxRanges))
			break
		}
		if m.From == m.To {
			parts = append(parts, fmt.Sprint(m.From))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d-%d", m.From, m.To))
	}
	return strings.Join(parts, ", ")
}
