package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/front/rest"
	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

func (a *app) runCommand() *cobra.Command {
	p := &program{}
	var figure string
	var value, raw bool
	cmd := &cobra.Command{
		Use: "run FILE|-", Short: "Run one program through policy and walls, without HTTP", Args: cobra.ExactArgs(1),
		Long: `Runs one program as serve would: parsed, judged by the policy (profile:
policy.profiles.cli), run behind walls. What it prints goes to standard output,
what there is to say about it to standard error. On a terminal control characters
are shown as \x1b and the like, unless --raw is given; into a file or pipe the
output goes as it is. With --output json the six keys of POST /solve go to
standard output, and "value" beside them where one is wanted and there is one.

Exit status: 0 completed; 1 failed, timed out, does not parse, or the gateway
could not do its work; 2 wrong command line or configuration; 3 refused.`,
		Example: "  gateway run solution.py\n  echo '2**100' | gateway run --tool calc -\n  gateway run plot.py --figure figure.json",
	}
	output := outputOn(cmd)
	cmd.Flags().StringVar(&figure, "figure", "", "write the program's figure to `FILE`, as Plotly JSON")
	cmd.Flags().BoolVar(&value, "value", false, "print the last expression's value too (always so for tools other than python)")
	cmd.Flags().BoolVar(&raw, "raw", false, "let control characters reach a terminal")
	p.addTo(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.with(a, cmd, args[0], func(h *house) error {
			req := p.request()
			req.ValueWanted = value || p.tool != "python"
			return a.runProgram(cmd, h.gateway, req, showing{output: output.value, figure: figure, raw: raw})
		})
	}
	return cmd
}

// showing is how the answer of a run is shown.
type showing struct {
	output string // text or json
	figure string // the file for it; empty: none
	raw    bool
}

func (a *app) runProgram(cmd *cobra.Command, g *gateway.Gateway, req gateway.Request, how showing) error {
	out := a.programOutput(how.raw)
	live := func(s executor.Stream, chunk []byte) {
		if how.output == "text" && s == executor.Stdout {
			_, _ = out.Write(chunk) // told below, by the answer's own write
		}
	}
	ans, err := g.SolveFollowed(cmd.Context(), req, gateway.Follower{Output: live})
	if err != nil {
		return pipelineError(err, req.Tool)
	}
	if err := a.keepFigure(how, ans.Result.Artifacts); err != nil {
		return err
	}
	if how.output == "json" {
		err = a.answerJSON(ans)
	} else {
		err = a.answerText(out, ans)
	}
	if err != nil {
		return err
	}
	return statusError(ans.Status)
}

// programOutput is where a program's words go: on a terminal they may not steer
// it.
func (a *app) programOutput(raw bool) io.Writer {
	if raw || !isTerminal(a.stdout) {
		return a.stdout
	}
	return &visible{to: a.stdout}
}

func statusError(s gateway.Status) error {
	switch s {
	case gateway.Completed:
		return nil
	case gateway.Rejected:
		return &exitError{status: exitRefused}
	default:
		return &exitError{status: exitFailed}
	}
}

// answerText writes what is not written yet: the value, and what there is to
// say beside the output.
func (a *app) answerText(out io.Writer, ans gateway.Answer) error {
	if v, ok := out.(*visible); ok {
		v.flush()
	}
	if ans.Result.HasValue {
		if n := len(ans.Stdout); n > 0 && ans.Stdout[n-1] != '\n' {
			fmt.Fprintln(out)
		}
		if _, err := fmt.Fprintln(out, ans.Result.Value); err != nil {
			return written(err)
		}
	}
	if summary := ans.Summary(); summary != "" {
		fmt.Fprintf(a.stderr, "%s\n", shown([]byte(summary)))
	}
	return nil
}

func (a *app) answerJSON(ans gateway.Answer) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	told := struct {
		rest.Solution
		Value *string `json:"value,omitempty"`
	}{Solution: rest.SolutionOf(ans)}
	if ans.Result.HasValue {
		told.Value = &ans.Result.Value
	}
	return written(enc.Encode(told))
}

func lastFigure(products []executor.Artifact) (figure []byte) {
	for _, p := range products {
		if p.MediaType == toolcall.FigureType {
			figure = p.Data
		}
	}
	return figure
}

// keepFigure writes the figure where it was asked for, and says so where there
// is none, or one that nobody asked for.
func (a *app) keepFigure(how showing, products []executor.Artifact) error {
	data := lastFigure(products)
	switch {
	case how.figure == "" && data != nil && how.output == "text":
		fmt.Fprintf(a.stderr, "note: the program made a figure (%s); --figure FILE keeps it\n", gateway.Bytes(uint64(len(data))))
	case how.figure != "" && data == nil:
		fmt.Fprintf(a.stderr, "note: the program made no figure; %s is not written\n", how.figure)
	case how.figure != "":
		if err := os.WriteFile(how.figure, data, 0o600); err != nil {
			return failed(fmt.Errorf("write the figure: %w", err))
		}
	}
	return nil
}
