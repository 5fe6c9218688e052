package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// figureType is the media type of a figure among a run's products.
const figureType = "application/vnd.plotly.v1+json"

func (a *app) runCommand() *cobra.Command {
	p := &program{}
	var figure string
	var value bool
	cmd := &cobra.Command{
		Use: "run FILE|-", Short: "Run one program through policy and walls, without HTTP", Args: cobra.ExactArgs(1),
		Long: `Runs one program as serve would: parsed, judged by the policy (profile:
policy.profiles.cli), run behind walls. What it prints goes to standard output,
what there is to say about it to standard error. With --output json the six keys
of POST /solve go to standard output.

Exit status: 0 completed; 1 failed, timed out, does not parse, or the gateway
could not do its work; 2 wrong command line or configuration; 3 refused.`,
		Example: "  gateway run solution.py\n  echo '2**100' | gateway run --tool calc -\n  gateway run plot.py --figure figure.json",
	}
	output := outputOn(cmd)
	cmd.Flags().StringVar(&figure, "figure", "", "write the program's figure to `FILE`, as Plotly JSON")
	cmd.Flags().BoolVar(&value, "value", false, "print the last expression's value too (always so for tools other than python)")
	p.addTo(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		cmd.SetContext(ctx)
		h, err := p.open(a, cmd, args[0])
		if err != nil {
			return err
		}
		defer h.end()
		req := p.request()
		req.ValueWanted = value || p.tool != "python"
		return a.runProgram(cmd, h.gateway, req, output.value, figure)
	}
	return cmd
}

func (a *app) runProgram(cmd *cobra.Command, g *gateway.Gateway, req gateway.Request, output, figure string) error {
	live := func(s executor.Stream, chunk []byte) {
		if output == "text" && s == executor.Stdout {
			_, _ = a.stdout.Write(chunk) // told below, by the answer's own write
		}
	}
	ans, err := g.SolveStreaming(cmd.Context(), req, live)
	if err != nil {
		return pipelineError(err, req.Tool)
	}
	if figure != "" {
		if err := writeFigure(figure, ans.Result.Artifacts); err != nil {
			return err
		}
	}
	if output == "json" {
		err = a.answerJSON(ans)
	} else {
		err = a.answerText(ans)
	}
	if err != nil {
		return err
	}
	return statusError(ans.Status)
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
func (a *app) answerText(ans gateway.Answer) error {
	if ans.Result.HasValue {
		if n := len(ans.Stdout); n > 0 && ans.Stdout[n-1] != '\n' {
			fmt.Fprintln(a.stdout)
		}
		if _, err := fmt.Fprintln(a.stdout, ans.Result.Value); err != nil {
			return written(err)
		}
	}
	if summary := ans.Summary(); summary != "" {
		fmt.Fprintln(a.stderr, summary)
	}
	return nil
}

// solution has the six keys of POST /solve.
type solution struct {
	Passed   bool            `json:"passed"`
	Status   gateway.Status  `json:"status"`
	TimedOut bool            `json:"timed_out"`
	Stdout   string          `json:"stdout"`
	Summary  *string         `json:"stderr_summary"`
	Figure   json.RawMessage `json:"plotly_json"`
}

func (a *app) answerJSON(ans gateway.Answer) error {
	s := solution{
		Passed: ans.Status == gateway.Completed, Status: ans.Status, TimedOut: ans.Status == gateway.TimedOut,
		Stdout: ans.StdoutText(), Figure: json.RawMessage("null"),
	}
	if data := lastFigure(ans.Result.Artifacts); json.Valid(data) {
		s.Figure = data
	}
	if summary := ans.Summary(); summary != "" {
		s.Summary = &summary
	}
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	return written(enc.Encode(s))
}

func lastFigure(products []executor.Artifact) (figure []byte) {
	for _, p := range products {
		if p.MediaType == figureType {
			figure = p.Data
		}
	}
	return figure
}

func writeFigure(to string, products []executor.Artifact) error {
	data := lastFigure(products)
	if data == nil {
		return nil
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return failed(fmt.Errorf("write the figure: %w", err))
	}
	return nil
}
