package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/library"
)

func (a *app) libraryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "library", Short: "Make a Python library one that programs may import", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return misused(errors.New("library needs a sub-command: add")) },
	}
	cmd.AddCommand(a.libraryAddCommand())
	return cmd
}

func (a *app) libraryAddCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Lock, install, list and prove a library", Args: cobra.ExactArgs(1),
		Long: `Adds a distribution (NAME or NAME==VERSION) to a checkout: what it needs goes into
plugins/python-exec/requirements.lock with digests, an entry into libraries.yaml,
its modules and what must be blocked of it into the policy's lists, a program to
allow and one to deny into the corpus. The environment is built anew beside the
one in use and then put in its place; a running interpreter is renewed within
seconds, and sees the new one. After an error all files are as they were.

pip is asked with your own configuration (pip.conf, PIP_INDEX_URL …); no address is
written anywhere. Read what it prints: it is what programs can reach from then on.`,
		Example: "  gateway library add scipy\n  gateway library add networkx --profiles solve,tool --modules networkx",
	}
	output := outputOn(cmd)
	o := library.Options{}
	flags := cmd.Flags()
	flags.StringVar(&o.Tree, "tree", ".", "the checkout's `FOLDER`")
	flags.StringSliceVar(&o.Modules, "modules", nil, "`MODULES` that programs may import (default: the root and the public packages below it)")
	flags.StringSliceVar(&o.Denied, "deny", nil, "`PATHS` to block beside those that are found")
	flags.StringSliceVar(&o.Profiles, "profiles", []string{"solve"}, "`PROFILES` that may import it")
	flags.StringVar(&o.WarmUp, "warm-up", "", "`PYTHON` that the interpreter runs once, before it serves (default: the imports)")
	flags.StringVar(&o.Python, "python", "", "`INTERPRETER` that the environment is made with (default: the one it was made with)")
	build := flags.Bool("build", true, "build the plugin too, which describes the library and warms it up")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		o.Name = args[0]
		o.Say = func(format string, args ...any) { fmt.Fprintf(a.stderr, "gateway: "+format+" …\n", args...) }
		var err error
		if o.Tree, err = filepath.Abs(o.Tree); err != nil {
			return failed(err)
		}
		result, err := library.Add(ctx, o)
		if err != nil {
			return failed(fmt.Errorf("add %s: %w", o.Name, err))
		}
		if *build {
			o.Say("building the plugin")
			if out, err := exec.CommandContext(ctx, "make", "-C", o.Tree, "--silent", "build").CombinedOutput(); err != nil { //nolint:gosec // the checkout's own Makefile
				return failed(fmt.Errorf("%s is added, and the plugin cannot be built: %w: %s", o.Name, err, out))
			}
		}
		if output.value == "json" {
			return writeJSON(a.stdout, result)
		}
		return a.tellLibrary(result, o)
	}
	return cmd
}

func (a *app) tellLibrary(r library.Result, o library.Options) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s was added for the profiles %s.\n", r.Distribution, r.Version, strings.Join(o.Profiles, ", "))
	fmt.Fprintf(&text, "locked:    %s\n", strings.Join(r.Locked, ", "))
	fmt.Fprintf(&text, "memory:    %s more in the interpreter that children are forked from, %d modules loaded\n", gateway.Bytes(r.MemoryBytes), r.Loaded)
	fmt.Fprintf(&text, "reachable: %s\n", strings.Join(r.Modules, ", "))
	fmt.Fprintf(&text, "blocked:   %s\n", cmp.Or(strings.Join(r.Denied, ", "), "nothing"))
	for _, failure := range r.Failed {
		fmt.Fprintf(&text, "left out:  %s\n", failure)
	}
	fmt.Fprintf(&text, "changed:   %s\n", strings.Join(r.Files, ", "))
	text.WriteString("next:      read the lists; gateway config check; vendor-sync review, when a pinned profile may import it\n")
	_, err := fmt.Fprint(a.stdout, text.String())
	return written(err)
}
