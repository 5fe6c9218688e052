package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sluice-gateway/sluice/internal/upstream"
)

const usage = `vendor-sync holds the policy to the sources that it follows.

Usage:
  vendor-sync [check] [--source PATH|URL] [--strict hashes|all]
  vendor-sync review
  vendor-sync drift --source PATH|URL
  vendor-sync update --source PATH|URL [--commit SHA] [--write-lists]
  vendor-sync extract FILE.py|-

  check    compare the policy with its pin, offline; with --source the pin with its source too
  review   the same, and record that the policy as it is now was looked at
  drift    compare the pin with the head of the branch
  update   record the source at a commit (default: the head) as the pin
  extract  list the sets of names in a Python file, which is parsed and never run

Exit status: 0 in step; 1 looser than upstream, a mismatch, or an exception that no
longer applies; 2 wrong use, or input that cannot be read; 3 the upstream moved (drift);
4 unverified (check --strict=all).

Flags:
`

// command is one call.
type command struct {
	name       string
	flags      *pflag.FlagSet
	args       []string // after the command's name
	policyDir  string
	output     string
	strict     string
	source     string
	upstream   string
	commit     string
	config     string
	plugin     string
	python     string
	writeLists bool
	getenv     func(string) string
	stdin      io.Reader
	stdout     io.Writer
	now        func() time.Time
}

// run is the whole command; it returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &command{name: "check", getenv: getenv, stdin: stdin, stdout: stdout, now: time.Now}
	code, err := c.do(ctx, args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "vendor-sync:", err)
	}
	return code
}

func (c *command) do(ctx context.Context, args []string, stderr io.Writer) (int, error) {
	c.define(stderr)
	switch err := c.flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(c.stdout, usage, c.flags.FlagUsages())
		return upstream.ExitInStep, nil
	case err != nil:
		return upstream.ExitUsage, err
	}
	if c.args = c.flags.Args(); len(c.args) > 0 {
		c.name, c.args = c.args[0], c.args[1:]
	}
	if err := c.misused(); err != nil {
		return upstream.ExitUsage, err
	}
	if c.name == "extract" {
		return c.extract(ctx)
	}
	report, err := c.report(ctx)
	if err != nil {
		return upstream.ExitUsage, err
	}
	if err := report.Render(c.stdout, c.output, filepath.ToSlash(c.policyDir)); err != nil {
		return upstream.ExitUsage, fmt.Errorf("write the report: %w", err)
	}
	return report.Exit, nil
}

func (c *command) define(stderr io.Writer) {
	f := pflag.NewFlagSet("vendor-sync", pflag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {}
	f.StringVar(&c.policyDir, "policy-dir", "policies", "the policy `folder`")
	f.StringVar(&c.output, "output", upstream.FormatText, "`format`: "+strings.Join(upstream.Formats(), ", "))
	f.StringVar(&c.strict, "strict", "", "check: fail when the policy was not reviewed (`hashes`), or also for what is unverified or overdue (all)")
	f.StringVar(&c.source, "source", "", "the upstream: `path` of a checkout, a bare repository, a folder or a file; or a file: or https: address")
	f.StringVar(&c.upstream, "upstream", "", "`name` of the upstream that the source is (default: found out)")
	f.StringVar(&c.commit, "commit", "", "update: the `commit` to pin (default: the branch's head)")
	f.BoolVar(&c.writeLists, "write-lists", false, "update: edit the lists of the policy too")
	f.StringVar(&c.config, "config", "", "`file` that names the python plugin (default: config.yaml, if it is there)")
	f.StringVar(&c.plugin, "python-exec", "", "`path` of the python plugin, whose parser reads the sources (default: from the configuration)")
	f.StringVar(&c.python, "python", "", "`path` of the interpreter (default: from the configuration)")
	c.flags = f
}

// misused says what is wrong with the command line.
func (c *command) misused() error {
	known := map[string][]string{
		"check": {"strict", "source", "upstream"}, "review": {}, "drift": {"source", "upstream"},
		"update": {"source", "upstream", "commit", "write-lists"}, "extract": {},
	}
	own, ok := known[c.name]
	if !ok {
		return fmt.Errorf("there is no command %q: check, review, drift, update or extract", c.name)
	}
	for _, flag := range []string{"strict", "source", "upstream", "commit", "write-lists"} {
		if c.flags.Changed(flag) && !slices.Contains(own, flag) {
			return fmt.Errorf("%s takes no --%s", c.name, flag)
		}
	}
	want := 0
	if c.name == "extract" {
		want = 1
	}
	switch {
	case len(c.args) != want:
		return fmt.Errorf("%s takes %d arguments, not %d", c.name, want, len(c.args))
	case !slices.Contains(upstream.Formats(), c.output):
		return fmt.Errorf("--output is %s, not %q", strings.Join(upstream.Formats(), ", "), c.output)
	case c.source == "" && (c.name == "drift" || c.name == "update"):
		return fmt.Errorf("%s needs --source: where the upstream is", c.name)
	}
	return nil
}

// report does what the command says and writes what it is to write.
func (c *command) report(ctx context.Context) (*upstream.Report, error) {
	strict, err := upstream.ParseStrict(c.strict)
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(c.policyDir)
	if err != nil {
		return nil, fmt.Errorf("open the policy folder: %w", err)
	}
	defer folder.Close()
	cfg := upstream.Config{Folder: folder.FS(), Now: c.now(), Strict: strict, Upstream: c.upstream}
	if c.source != "" {
		if cfg.Extract, err = c.extractor(); err != nil {
			return nil, err
		}
		if cfg.Source, err = upstream.Open(ctx, c.source); err != nil {
			return nil, err
		}
		defer cfg.Source.Close()
	}
	report, outputs, err := c.dispatch(ctx, cfg)
	if err != nil {
		return nil, err
	}
	for _, out := range outputs {
		if err := upstream.Replace(c.policyDir, out.Name, out.Text); err != nil {
			return nil, err
		}
	}
	return report, nil
}

func (c *command) dispatch(ctx context.Context, cfg upstream.Config) (*upstream.Report, []upstream.Output, error) {
	switch c.name {
	case "review":
		return upstream.Review(ctx, cfg)
	case "drift":
		report, err := upstream.LookAhead(ctx, cfg)
		return report, nil, err
	case "update":
		return upstream.Update(ctx, cfg, c.commit, c.writeLists)
	}
	report, err := upstream.Check(ctx, cfg)
	return report, nil, err
}
