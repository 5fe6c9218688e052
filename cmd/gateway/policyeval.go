package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy"
)

// judged is a command that looks at one program.
type judged struct {
	workshop
	p program
}

func (j *judged) addFlags(a *app, cmd *cobra.Command, forms ...string) {
	cmd.Flags().StringVar(&j.p.tool, "tool", "", "`NAME` of the tool or language (default: that of the plugin X for FILE.X, else python)")
	cmd.Flags().StringVar(&j.p.profile, "profile", "", "`NAME` of the profile to ask (default: policy.profiles.cli)")
	j.settings = &j.p.settings
	j.addTo(a, cmd, forms...)
	must(cmd.RegisterFlagCompletionFunc("tool", j.p.completeTools(a)))
	must(cmd.RegisterFlagCompletionFunc("profile", j.p.completeProfiles(a)))
}

// on reads the program, starts its plugin, and loads the policy unproved.
func (j *judged) on(cmd *cobra.Command, from string, use func(ctx context.Context, h *house, s *policy.Store) error) error {
	loaded, err := j.load(j.a)
	if err != nil {
		return err
	}
	j.p.tool = toolOf(j.p.tool, from, loaded.Plugins)
	if err := j.p.read(j.a, from, int(loaded.Limits.CodeBytes)); err != nil {
		return err
	}
	return j.with(cmd, j.p.tool, func(ctx context.Context, h *house) error {
		if h.languageOf(j.p.tool) == "" {
			return misused(noToolFor(j.p.tool))
		}
		store, err := h.unproved(ctx)
		if err != nil {
			return err
		}
		return use(ctx, h, store)
	})
}

func (a *app) policyEvalCommand() *cobra.Command {
	j := &judged{}
	cmd := &cobra.Command{
		Use: "eval FILE|-", Short: "Show what a policy says of a program; nothing runs", Args: cobra.ExactArgs(1),
		Long: `Parses a program and asks the policy folder about it; the folder's corpus is not
run, so that an edit is answered at once (policy check runs it). Each violation is
shown with its line, a mark under its place, and what to write instead. With
--output json: the object of POST /v1/check, whose violations carry title, url,
subject and more beside it; sarif is for code hosts and editors.

Exit status: 0 allowed; 1 it does not parse, or the policy does not load; 2 wrong
command line or configuration; 3 refused.`,
		Example: "  gateway policy eval solution.py --policy-dir my-policies\n  gateway policy eval --profile tool --output json - <solution.py",
	}
	j.addFlags(a, cmd, "sarif")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return j.on(cmd, args[0], func(ctx context.Context, h *house, s *policy.Store) error {
			ans, err := h.gateway.Check(ctx, j.p.request())
			if err != nil {
				return pipelineError(err, j.p.tool)
			}
			if j.output.value == "sarif" {
				err = writeJSON(a.stdout, sarifOf(j.p.name, ans))
			} else {
				err = j.tell(evaluatedOf(ans, s.Status()), func(p *painter) error {
					return showDecision(p.w, j.p.name, j.p.code, ans, p.color)
				})
			}
			if err != nil {
				return err
			}
			return decisionError(ans)
		})
	}
	return cmd
}

// evaluated is the object of POST /v1/check with all that is known of a
// violation.
type evaluated struct {
	Allow      bool            `json:"allow"`
	Status     gateway.Status  `json:"status,omitempty"`
	Problem    string          `json:"problem,omitempty"`
	Violations []fullViolation `json:"violations"`
	Policy     evaluatedPolicy `json:"policy"`
	DecisionID string          `json:"decision_id,omitempty"`
}

type evaluatedPolicy struct {
	checkedPolicy
	Digest string `json:"digest"`
}

type fullViolation struct {
	gateway.Violation
	Title   string `json:"title"`
	URL     string `json:"url"`
	Subject string `json:"subject"`
	More    int    `json:"more"`
}

func fullOf(v gateway.Violation) fullViolation {
	return fullViolation{Violation: v, Title: v.Title, URL: v.URL, Subject: v.Subject, More: v.More}
}

func evaluatedOf(ans gateway.Answer, st policy.Status) evaluated {
	plain := checkedOf(ans)
	out := evaluated{
		Allow: plain.Allow, Status: plain.Status, Problem: plain.Problem, Violations: []fullViolation{},
		Policy: evaluatedPolicy{plain.Policy, st.Digest},
	}
	for _, v := range plain.Violations {
		out.Violations = append(out.Violations, fullOf(v))
	}
	if ans.Decision != nil {
		out.DecisionID = ans.Decision.ID
	}
	return out
}

func (a *app) policyDumpCommand() *cobra.Command {
	j := &judged{}
	var all bool
	cmd := &cobra.Command{
		Use: "dump FILE|-", Short: "Print the document that rules see of a program", Args: cobra.ExactArgs(1),
		Long: `Parses a program and prints the input document: the sections that the policy's
rules read, as at a decision; with --all every section, the whole tree among them.
It is the input of stock tools: opa eval --input, conftest test.

Exit status: 0 printed; 1 it does not parse, or the policy does not load; 2 wrong
command line or configuration.`,
		Example: "  gateway policy dump solution.py\n  gateway policy dump --all --output json - <solution.py >input.json",
	}
	cmd.Flags().BoolVar(&all, "all", false, "every section, not those alone that the rules read")
	j.addFlags(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return j.on(cmd, args[0], func(ctx context.Context, h *house, s *policy.Store) error {
			q, err := j.question(ctx, h, s, all)
			if err != nil {
				return err
			}
			text, err := document(q)
			if err != nil {
				return failed(err)
			}
			if j.output.value == "text" {
				var shown bytes.Buffer
				if err := json.Indent(&shown, text, "", "  "); err != nil {
					return failed(fmt.Errorf("show the document: %w", err))
				}
				text = shown.Bytes()
			}
			_, err = a.stdout.Write(append(text, '\n'))
			return written(err)
		})
	}
	return cmd
}

// question has the program parsed and makes the question that its tree is.
func (j *judged) question(ctx context.Context, h *house, s *policy.Store, all bool) (gateway.Question, error) {
	language := h.languageOf(j.p.tool)
	var sections []string
	if !all {
		current, err := s.Current()
		if err != nil {
			return gateway.Question{}, failed(err)
		}
		if sections, err = current.Sections(language); err != nil {
			return gateway.Question{}, failed(err)
		}
	}
	tree, ended, err := h.parse(ctx, language, j.p.code, sections)
	if err != nil {
		return gateway.Question{}, failed(err)
	}
	if ended != nil {
		return gateway.Question{}, failed(fmt.Errorf("%s does not parse: %s", j.p.name, endedText(*ended)))
	}
	return gateway.Question{
		Language: language, Tool: j.p.tool, Profile: h.profileFor(j.p.profile), Caller: "cli",
		Source: executor.Source{Language: language, Code: j.p.code}, Tree: tree,
	}, nil
}

func endedText(r executor.Result) string {
	if r.Problem == nil {
		return r.Status.String()
	}
	return strings.TrimSpace(fmt.Sprintf("line %d: %s: %s", r.Problem.Line, r.Problem.Type, r.Problem.Message))
}

// document is the plugin's document with the gateway's part, as rules see it.
func document(q gateway.Question) ([]byte, error) {
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(q.Tree.JSON, &doc); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	for key, value := range map[string]any{"tool": q.Tool, "profile": q.Profile, "caller": q.Caller, "session": q.Session} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("write the document: %w", err)
		}
		doc[key] = text
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("write the document: %w", err)
	}
	return text, nil
}
