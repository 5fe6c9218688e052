package clients

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/front/mcp"
	"github.com/sluice-gateway/sluice/internal/front/rest"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/pluginhost"
)

const token = "t0ken-of-the-clients"

// attempts is how often the suite is asked.
const attempts = 5

// TestConformance runs the protocol's own suite, in the set of each of the two
// versions, against the real fronts, the real authenticator and the real host of
// a plugin whose process serves the suite's tools.
func TestConformance(t *testing.T) {
	node := installed(t)
	url := tokenProxy(t, fixtureGateway(t))
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			// The suite waits half a second for some answers: on a machine that does
			// other things too it is asked again. What is wrong stays so.
			for attempt := 1; ; attempt++ {
				out, err := node.run(t, "", nil, node.module("@modelcontextprotocol/conformance/dist/index.js"),
					"server", "--url", url+"/mcp", "--requirements", version, "--timeout", "120000", "-o", t.TempDir())
				if err == nil {
					t.Logf("%s", tail(out))
					return
				}
				if attempt == attempts {
					t.Fatalf("%v\n%s", err, tail(out))
				}
				t.Logf("attempt %d: %v\n%s", attempt, err, tail(out))
			}
		})
	}
}

// admitAll is the policy of the suite.
type admitAll struct{}

func (admitAll) Current() (gateway.Policy, error)  { return admitAll{}, nil }
func (admitAll) Revision() string                  { return "admit-all" }
func (admitAll) Sections(string) ([]string, error) { return []string{}, nil }
func (admitAll) Decide(context.Context, gateway.Question) (gateway.Decision, error) {
	return gateway.Decision{ID: "d", Allow: true, Revision: "admit-all"}, nil
}

type silent struct{}

func (silent) Record(gateway.Entry) {}

// fixtureGateway serves the suite's tools; it gives its address.
func fixtureGateway(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp("/tmp", "mcp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	log := slog.New(slog.DiscardHandler)
	host, err := pluginhost.New(pluginhost.Config{
		Plugins:   []pluginhost.Plugin{{Name: "fixture", Command: exe, Args: []string{"plugin:fixture"}, Trust: pluginhost.TrustBuilt}},
		StateRoot: root, GatewayVersion: "test", Log: log, LookupEnv: os.LookupEnv,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := host.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := host.Start(context.Background()); err != nil {
		t.Fatalf("start the plugin: %v", err)
	}
	for end := time.Now().Add(longest); !host.Ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the plugin did not become ready")
		}
	}
	g := gateway.New(gateway.Config{
		Executors: host, Policies: admitAll{}, Journal: silent{}, Log: log, Now: time.Now,
		Limits: gateway.Limits{
			CodeBytes: 64 << 10, Concurrency: 8, Queue: 64, QueueWait: time.Minute, ToolWall: time.Minute, WallCeiling: time.Minute,
			ParseWall: time.Minute, MaxTreeBytes: 1 << 16,
			Default: executor.Limits{StdoutBytes: 256 << 10, StderrBytes: 64 << 10, OutputCeilingBytes: 16 << 20, ArtifactBytes: 512 << 10},
		},
	})
	return serve(t, g, log)
}

func serve(t *testing.T, g *gateway.Gateway, log *slog.Logger) string {
	t.Helper()
	known, err := auth.New([]auth.Token{{Name: "suite", Token: token, Scopes: []string{mcp.Scope}}})
	if err != nil {
		t.Fatal(err)
	}
	front := mcp.New(mcp.Config{
		Gateway: g, Version: "test", Log: log, Limits: mcp.Limits{CodeBytes: 64 << 10, BodyBytes: 256 << 10}, Extend: extension(),
	})
	server := httptest.NewServer(rest.New(rest.Config{
		Gateway: g, Auth: known, Version: "test", Log: log, Ready: func() bool { return true },
		Limits: rest.Limits{BodyBytes: 256 << 10, CodeBytes: 64 << 10},
		Beside: []rest.Beside{{Methods: []string{"POST", "GET", "DELETE"}, Path: "/mcp", Scope: mcp.Scope, Serve: front.Streamable}},
	}))
	t.Cleanup(func() {
		front.Leave()
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// tokenProxy puts the token into each request: the suite has no option for it.
// Host and Origin pass as they are, since the suite looks at what they do.
func tokenProxy(t *testing.T, to string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			host := r.In.Host
			if host == r.In.Context().Value(http.LocalAddrContextKey).(interface{ String() string }).String() {
				host = target.Host // its own name: as the gateway's
			}
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, host
			if origin := r.In.Header.Get("Origin"); strings.HasSuffix(origin, "//"+r.In.Host) && host == target.Host {
				r.Out.Header.Set("Origin", "http://"+host)
			}
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
	})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// tail is the end of a program's output.
func tail(out string) string {
	if len(out) > 6000 {
		return "…" + out[len(out)-6000:]
	}
	return out
}

// repository is the root of the checkout, with what `make build` makes in it.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, built := range []string{"bin/gateway", "bin/plugins/python-exec", "bin/plugins/calc", ".venv/bin/python"} {
		if _, err := os.Stat(filepath.Join(root, built)); err != nil {
			t.Fatalf("%s is not built: run make build first", built)
		}
	}
	return root
}
