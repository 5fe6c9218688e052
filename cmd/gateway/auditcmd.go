package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/audit"
)

// exitNothing is grep's status when no line matches, as of grep(1).
const exitNothing = 1

func (a *app) auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "Read the decision log", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return misused(errors.New("audit needs a sub-command: tail or grep"))
		},
	}
	cmd.AddCommand(a.auditTailCommand(), a.auditGrepCommand())
	return cmd
}

// logFlags choose what is read from which logs, and how it is shown.
type logFlags struct {
	settings
	filter audit.Filter
	output *outputFlag
}

func (f *logFlags) addTo(cmd *cobra.Command) {
	f.output = outputOn(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.filter.Caller, "caller", "", "of this caller")
	flags.StringVar(&f.filter.Rule, "rule", "", "that broke this `RULE`")
	flags.StringVar(&f.filter.Shadow, "shadow", "", "whose shadow profile says so: differs, same, newly_refused, newly_allowed, changed_reasons or undecided")
	flags.StringVar(&f.filter.Verdict, "verdict", "", "with this verdict: allow, deny or none")
	flags.StringVar(&f.filter.Status, "status", "", "with this status or class of fault")
	flags.StringVar(&f.filter.Profile, "profile", "", "judged by this profile")
	flags.StringVar(&f.filter.Revision, "revision", "", "judged by this revision of the policy")
	flags.StringVar(&f.filter.Code, "code", "", "of the program with this SHA-256, or its beginning")
	flags.StringVar(&f.filter.ID, "id", "", "of this request or decision")
	flags.StringVar(&f.filter.Since, "since", "", "from this `TIME` on: 2026-11-29, 2026-11-29T18:00:00Z, or 2h ago as 2h")
	flags.StringVar(&f.filter.Until, "until", "", "before this `TIME`")
	f.settings.addTo(cmd, "audit.file")
	must(cmd.RegisterFlagCompletionFunc("shadow", cobra.FixedCompletions(append([]string{audit.Differs}, audit.ShadowOutcomes()...), cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("verdict", cobra.FixedCompletions([]string{"allow", "deny", "none"}, cobra.ShellCompDirectiveNoFileComp)))
}

// files are the logs that the arguments name, or the one of the configuration
// with those that were put aside.
func (f *logFlags) files(a *app, args []string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	loaded, err := f.load(a)
	if err != nil {
		return nil, err
	}
	if loaded.Audit.File == "" || loaded.Audit.File == audit.Off {
		return nil, misused(errors.New("no decision log is named: give FILE, or set audit.file; - reads standard input"))
	}
	files, err := audit.Files(loaded.Audit.File)
	if err != nil {
		return nil, failed(err)
	}
	return files, nil
}

func (a *app) auditGrepCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "grep [FILE …]", Short: "Show the events of a decision log that fit",
		Long: `Shows the events that fit all of the flags, in the order of the log. FILE may end
in .gz; - is standard input. Without FILE it is audit.file and what was put aside
of it. --output json gives the lines as they are.

Exit status: 0 some fit, 1 none does, 2 a flag or file is wrong.`,
		Example: "  gateway audit grep --rule blocked-import --since 24h\n  gateway audit grep --verdict deny --output json decisions.jsonl",
	}
	f := &logFlags{}
	f.addTo(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		files, err := f.files(a, args)
		if err != nil {
			return err
		}
		return a.grepLogs(f, files)
	}
	return cmd
}

func (a *app) grepLogs(f *logFlags, files []string) error {
	fits, err := f.filter.Compile()
	if err != nil {
		return misused(err)
	}
	found, odd := 0, 0
	for _, name := range files {
		n, skipped, err := a.grepLog(name, fits, f.output.value)
		if err != nil {
			return err
		}
		found, odd = found+n, odd+skipped
	}
	if odd > 0 {
		fmt.Fprintf(a.stderr, "gateway: %d lines are no events of a decision log and were passed over\n", odd)
	}
	if found == 0 {
		return &exitError{status: exitNothing}
	}
	return nil
}

func (a *app) grepLog(name string, fits func(audit.Event) bool, form string) (found, odd int, err error) {
	log, err := a.openLog(name)
	if err != nil {
		return 0, 0, misused(err)
	}
	defer log.Close()
	for event, err := range audit.Read(log) {
		switch {
		case errors.Is(err, audit.ErrNotALog):
			odd++
		case err != nil:
			return found, odd, failed(fmt.Errorf("read %s: %w", name, err))
		case fits(event):
			found++
			if err := a.showEvent(event, form); err != nil {
				return found, odd, err
			}
		}
	}
	return found, odd, nil
}

func (a *app) openLog(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.stdin), nil
	}
	return audit.OpenLog(name)
}

// showEvent writes an event as a line.
func (a *app) showEvent(e audit.Event, form string) error {
	if form == "json" {
		raw, err := e.Line()
		if err != nil {
			return failed(err)
		}
		_, err = a.stdout.Write(append(raw, '\n'))
		return written(err)
	}
	outcome := e.Custom.Status
	if e.Custom.Fault != "" {
		outcome = "fault " + e.Custom.Fault
	}
	where := e.RequestedBy + " " + e.Custom.Route
	if e.Input != nil {
		where += " " + e.Input.Tool + " " + e.Input.Code.SHA256[:min(12, len(e.Input.Code.SHA256))]
	}
	_, err := fmt.Fprintf(a.stdout, "%s %-5s %-12s %s%s %s\n", e.Timestamp.Format("2006-01-02T15:04:05.000Z"), e.Verdict(), outcome,
		string(printable(where)), string(printable(rulesIn(e))), string(printable(e.Custom.RequestID)))
	return written(err)
}

// rulesIn are the rules that a program broke, each with its first line.
func rulesIn(e audit.Event) string {
	if e.Result == nil {
		return ""
	}
	var text strings.Builder
	seen := map[string]bool{}
	for _, v := range e.Result.Violations {
		if !seen[v.Rule] {
			seen[v.Rule] = true
			fmt.Fprintf(&text, " %s:%d", v.Rule, v.Line)
		}
	}
	return text.String()
}

func (a *app) auditTailCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tail [FILE]", Short: "Show the end of a decision log, and what comes to it", Args: cobra.MaximumNArgs(1),
		Long: `Shows the last events of a decision log that fit the flags; with --follow those
that are written from then on, also after the file was put aside, until it is
interrupted. Without FILE it is audit.file.`,
		Example: "  gateway audit tail -n 20 --follow --verdict deny",
	}
	f := &logFlags{}
	f.addTo(cmd)
	lines := cmd.Flags().IntP("lines", "n", 10, "how many of the last events")
	follow := cmd.Flags().BoolP("follow", "f", false, "go on with what is written")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		files, err := f.files(a, args)
		if err != nil {
			return err
		}
		fits, err := f.filter.Compile()
		if err != nil {
			return misused(err)
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return a.tailLog(ctx, files[len(files)-1], audit.Tail{Last: *lines, Follow: *follow, Fits: fits}, f.output.value)
	}
	return cmd
}

func (a *app) tailLog(ctx context.Context, name string, t audit.Tail, form string) error {
	for event, err := range t.Read(ctx, name) {
		if err != nil {
			return failed(fmt.Errorf("read %s: %w", name, err))
		}
		if err := a.showEvent(event, form); err != nil {
			return err
		}
	}
	return nil
}
