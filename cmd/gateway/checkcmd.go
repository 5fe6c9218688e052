package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

func (a *app) checkCommand() *cobra.Command {
	p := &program{}
	cmd := &cobra.Command{
		Use: "check FILE|-", Short: "Show the policy's decision on a program; nothing runs", Args: cobra.ExactArgs(1),
		Long: `Parses a program and asks the policy about it; nothing runs. Each violation is
shown with its line and a mark under its place.

Exit status: 0 allowed; 1 it does not parse, or the gateway could not do its
work; 2 wrong command line or configuration; 3 refused.`,
		Example: "  gateway check solution.py\n  gateway check --profile tool --output json - <solution.py",
	}
	output := outputOn(cmd)
	cmd.Flags().StringVar(&p.profile, "profile", "", "`NAME` of the profile to ask (default: policy.profiles.cli)")
	p.addTo(a, cmd)
	must(cmd.RegisterFlagCompletionFunc("profile", p.completeProfiles(a)))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.with(a, cmd, args[0], func(h *house) error {
			ans, err := h.gateway.Check(cmd.Context(), p.request())
			if err != nil {
				return pipelineError(err, p.tool)
			}
			if output.value == "json" {
				err = writeJSON(a.stdout, checkedOf(ans))
			} else {
				err = written(showDecision(a.stdout, p.name, p.code, ans, a.colored(a.stdout)))
			}
			if err != nil {
				return err
			}
			return decisionError(ans)
		})
	}
	return cmd
}

// decisionError is the exit status of a decision. A text that ended before the
// policy was asked is no refusal.
func decisionError(ans gateway.Answer) error {
	switch {
	case ans.Decision == nil:
		return &exitError{status: exitFailed}
	case !ans.Decision.Allow:
		return &exitError{status: exitRefused}
	}
	return nil
}

// checked is a decision as POST /v1/check writes it, and the status of a text
// that does not parse.
type checked struct {
	Allow      bool                `json:"allow"`
	Status     gateway.Status      `json:"status,omitempty"`
	Problem    string              `json:"problem,omitempty"`
	Violations []gateway.Violation `json:"violations"`
	Policy     checkedPolicy       `json:"policy"`
}

type checkedPolicy struct {
	Revision string `json:"revision"`
	Profile  string `json:"profile"`
}

func checkedOf(ans gateway.Answer) checked {
	out := checked{Violations: []gateway.Violation{}}
	if ans.Decision == nil {
		out.Status, out.Problem = ans.Status, ans.Summary()
		return out
	}
	out.Allow = ans.Decision.Allow
	out.Violations = append(out.Violations, ans.Decision.Violations...)
	out.Policy = checkedPolicy{Revision: ans.Decision.Revision, Profile: ans.Decision.Profile}
	return out
}
