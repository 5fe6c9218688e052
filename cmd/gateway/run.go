package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Exit statuses of every sub-command.
const (
	exitOK      = 0 // done; the program completed, or is allowed
	exitFailed  = 1 // the program failed or does not parse, or the gateway could not do its work
	exitUsage   = 2 // the command line or the configuration is wrong
	exitRefused = 3 // the policy refused the program
)

// exitError carries an exit status; without an inner error nothing is printed.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func failed(err error) error  { return &exitError{status: exitFailed, err: err} }
func misused(err error) error { return &exitError{status: exitUsage, err: err} }

// app is one call of the command: where it reads, writes and looks things up.
type app struct {
	getenv func(string) string
	names  []string // of the environment's variables
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	dir    string // the working directory
}

// run is the whole command; it returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(stderr, "gateway: find the working directory: %v\n", err)
		return exitFailed
	}
	a := &app{getenv: getenv, names: variables(os.Environ()), stdin: stdin, stdout: stdout, stderr: stderr, dir: dir}
	root := a.root()
	root.SetArgs(args)
	return a.status(root.ExecuteContext(ctx))
}

// variables are the names in an environment.
func variables(environ []string) []string {
	names := make([]string, 0, len(environ))
	for _, one := range environ {
		name, _, _ := strings.Cut(one, "=")
		names = append(names, name)
	}
	return names
}

// status prints what went wrong, once, and says what to exit with. What is not
// an exitError comes from the command line's parser.
func (a *app) status(err error) int {
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case !errors.As(err, &exit):
		fmt.Fprintf(a.stderr, "gateway: %s\nTry 'gateway --help'.\n", shown([]byte(err.Error())))
		return exitUsage
	case exit.err != nil:
		fmt.Fprintf(a.stderr, "gateway: %s\n", shown([]byte(exit.err.Error())))
	}
	return exit.status
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "gateway",
		Short: "Sluice: a policy-and-execution gateway for Python written by models",
		Long: `Sluice: a policy-and-execution gateway for Python written by models.

A program is parsed by its language's plugin, judged by a Rego policy, and run
behind walls when the policy allows it.

Exit status: 0 done, completed or allowed; 1 the program failed or the gateway
could not do its work; 2 wrong command line or configuration; 3 the policy
refused the program.`,
		Example: `  SOLVER_TOKEN_FILE=.token gateway serve --config config.yaml
  echo 'print(6*7)' | gateway run -
  gateway check solution.py`,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.Help(); err != nil {
				return failed(err)
			}
			return &exitError{status: exitUsage}
		},
	}
	root.Version = versionText()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	root.AddCommand(a.serveCommand(), a.runCommand(), a.checkCommand(), a.configCommand(), a.doctorCommand(), a.tokenCommand(), a.versionCommand())
	root.AddCommand(a.pluginCommand(), a.mcpCommand(), a.auditCommand(), a.libraryCommand())
	root.AddCommand(a.policyCommand())
	return root
}
