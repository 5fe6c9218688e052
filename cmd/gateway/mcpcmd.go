package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/front/mcp"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

func (a *app) mcpCommand() *cobra.Command {
	s := &settings{}
	var to string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the tools to one client over standard input and output", Args: cobra.NoArgs,
		Long: `Speaks the Model Context Protocol on standard input and output, for clients that
start their servers themselves. Without --url the whole pipeline runs in this
process, with the tools, the policy and the walls of the configuration; sessions
end with it. With --url the messages are carried to a gateway that runs, with
the token of SOLVER_TOKEN or SOLVER_TOKEN_FILE.

Standard output belongs to the protocol; the log goes to standard error, and
there is no journal unless audit.file names one. It ends when standard input does.

Exit status: 0 the client ended; 1 the gateway could not do its work; 2 wrong
command line or configuration.`,
		Example: "  gateway mcp --config /path/to/config.yaml\n  SOLVER_TOKEN_FILE=.token gateway mcp --url http://127.0.0.1:7860/mcp",
	}
	s.addTo(cmd, "policy.dir", "limits.tool_wall", "log.level")
	cmd.Flags().StringVar(&to, "url", "", "`URL` of the /mcp of a gateway that runs; empty: run the pipeline here")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		loaded, err := s.load(a)
		if err != nil {
			return err
		}
		if to != "" {
			return a.mcpBridge(ctx, loaded, to)
		}
		return a.mcpHere(ctx, loaded)
	}
	return cmd
}

// mcpHere serves one client with the pipeline in this process.
func (a *app) mcpHere(ctx context.Context, cfg *config.Loaded) error {
	if cfg.Audit.File == "" {
		cfg.Audit.File = config.AuditOff // standard output is the protocol's
	}
	h, err := assemble(cfg, a.getenv, a.programLog(cfg), io.Discard)
	if err != nil {
		return err
	}
	defer h.end()
	if err := h.startAll(ctx); err != nil {
		return failed(err)
	}
	by := gateway.Request{ID: newRequestID(), Caller: gateway.Caller{Name: "mcp", Scopes: []string{mcp.Scope}}}
	return ended(h.mcpFront(nil).Stdio(ctx, io.NopCloser(a.stdin), keepOpen{a.stdout}, by))
}

// mcpBridge carries one client's messages to a gateway that runs elsewhere.
func (a *app) mcpBridge(ctx context.Context, cfg *config.Loaded, to string) error {
	at, err := url.Parse(to)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return misused(fmt.Errorf("--url: %q is no http or https address", to))
	}
	if at.User != nil {
		return misused(errors.New("--url: a token does not belong into the address; set SOLVER_TOKEN or SOLVER_TOKEN_FILE"))
	}
	if strings.Trim(at.Path, "/") == "" {
		at.Path = "/mcp"
	}
	token, err := auth.LoadToken(a.getenv, cfg.Auth.TokenFile)
	if err != nil {
		return misused(fmt.Errorf("--url needs the gateway's token: %w", err))
	}
	return ended(mcp.Bridge(ctx, io.NopCloser(a.stdin), keepOpen{a.stdout}, mcp.Remote{URL: at.String(), Client: &http.Client{}, Token: token}))
}

func ended(err error) error {
	if err != nil {
		return failed(fmt.Errorf("serve the client: %w", err))
	}
	return nil
}

// keepOpen is a writer that others must not close.
type keepOpen struct{ io.Writer }

// Close implements io.Closer.
func (keepOpen) Close() error { return nil }
