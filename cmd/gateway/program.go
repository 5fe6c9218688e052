package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// program is what run and check are given: one text and how to treat it.
type program struct {
	settings
	tool    string
	profile string
	name    string // as shown in front of a line number
	code    []byte
}

func (p *program) addTo(a *app, cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.tool, "tool", "", "`NAME` of the tool or language (default: that of the plugin X for FILE.X, else python)")
	p.settings.addTo(cmd, "policy.dir", "limits.wall", "log.level")
	must(cmd.RegisterFlagCompletionFunc("tool", p.completeTools(a)))
}

// read takes the program from a file, or from standard input for "-".
func (p *program) read(a *app, from string, limit int) error {
	source, name := a.stdin, "<stdin>"
	if from != "-" {
		file, err := openRegular(from)
		if err != nil {
			return misused(fmt.Errorf("read the program: %w", err))
		}
		defer file.Close()
		source, name = file, from
	}
	code, err := io.ReadAll(io.LimitReader(source, int64(limit)+1))
	if err != nil {
		return failed(fmt.Errorf("read the program: %w", err))
	}
	if len(code) > limit {
		return misused(fmt.Errorf("read the program: it is larger than limits.code_bytes (%s)", gateway.Bytes(uint64(limit))))
	}
	p.name, p.code = name, code
	return nil
}

// openRegular opens what has an end. It does not wait for a pipe's writer.
func openRegular(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder", name)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file; - reads standard input", name)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func (p *program) request() gateway.Request {
	return gateway.Request{
		ID: newRequestID(), Route: gateway.RouteCLI, Caller: gateway.Caller{Name: "cli", Scopes: []string{"*"}},
		Tool: p.tool, Profile: p.profile, Code: p.code,
	}
}

// with lets use have a house for the program, ends it afterwards, and ends the
// command's context at an interrupt.
func (p *program) with(a *app, cmd *cobra.Command, from string, use func(h *house) error) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd.SetContext(ctx)
	h, err := p.open(a, cmd, from)
	if err != nil {
		return err
	}
	defer h.end()
	return use(h)
}

// open reads the configuration and the program, and starts what the program
// needs. The caller closes the house.
func (p *program) open(a *app, cmd *cobra.Command, from string) (*house, error) {
	loaded, err := p.load(a)
	if err != nil {
		return nil, err
	}
	p.tool = toolOf(p.tool, from, loaded.Plugins)
	forOneProgram(loaded, p.tool)
	if err := p.read(a, from, int(loaded.Limits.CodeBytes)); err != nil {
		return nil, err
	}
	h, err := assemble(loaded, a.getenv, a.programLog(loaded), a.stdout)
	if err != nil {
		return nil, err
	}
	stop := a.progress("starting the plugin and the policy …")
	err = h.startAll(cmd.Context())
	stop()
	if err != nil {
		h.end()
		return nil, failed(err)
	}
	return h, nil
}

// endLimit bounds the end of run and check: the program is over by then.
const endLimit = 5 * time.Second

// end is close for a house that served one program.
func (h *house) end() {
	ctx, stop := context.WithTimeout(context.Background(), endLimit)
	defer stop()
	if err := h.close(ctx); err != nil {
		h.log.Error("end", "error", err)
	}
}

// forOneProgram makes a configuration that is meant for serving fit for one
// program: standard output belongs to the program.
func forOneProgram(c *config.Loaded, tool string) {
	if c.Audit.File == "" {
		c.Audit.File = audit.Off
	}
	onlyPluginOf(c, tool)
}

// programLog is silent unless a flag or the environment asks for a level: what
// goes wrong is told in a sentence at the end.
func (a *app) programLog(c *config.Loaded) *slog.Logger {
	place := c.Origin("log.level").Place
	if !strings.HasPrefix(place, "--") && !strings.HasPrefix(place, config.EnvPrefix) {
		return slog.New(slog.DiscardHandler)
	}
	if c.Log.Format == "auto" {
		c.Log.Format = "text"
	}
	return newLogger(c.Log, a.stderr)
}

// onlyPluginOf leaves the one plugin that has the tool, if the configuration
// says which that is.
func onlyPluginOf(c *config.Loaded, tool string) {
	for name, p := range c.Plugins {
		if name == tool || slices.Contains(p.Tools, tool) {
			c.Plugins = map[string]*config.Plugin{name: p}
			return
		}
	}
}

// progress shows a line on a terminal while something takes its time; the
// function that it returns takes the line away.
func (a *app) progress(text string) (stop func()) {
	if !isTerminal(a.stderr) {
		return func() {}
	}
	fmt.Fprint(a.stderr, text)
	return func() { fmt.Fprint(a.stderr, "\r\x1b[K") }
}

func noToolFor(name string) error {
	return fmt.Errorf("there is no tool or language %q: --tool names one of a plugin in the configuration", name)
}

// pipelineError says in the command line's words why there was no answer.
func pipelineError(err error, tool string) error {
	var invalid *gateway.InvalidError
	switch {
	case errors.Is(err, gateway.ErrGone):
		return failed(errors.New("interrupted"))
	case errors.Is(err, gateway.ErrUnknownTool):
		return misused(noToolFor(tool))
	case errors.Is(err, gateway.ErrUnknownProfile), errors.As(err, &invalid):
		return misused(err)
	}
	return failed(err)
}
