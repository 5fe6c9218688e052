package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// probes are programs that try to get through a wall and print a line that
// begins with SHUT or OPEN. Those of seccomp are to be ended by it.
//
//go:embed probes/*.py
var probes embed.FS

// probeWall bounds one probe.
const probeWall = 20 * time.Second

// tried is what came of a probe.
type tried struct {
	completed bool
	said      string   // on standard output
	shut      bool     // it did not get through
	told      string   // one line about it
	walls     []string // that the plugin says stand around it
}

// prober runs probes through a pipeline of its own, whose policy admits all.
type prober struct {
	gateway *gateway.Gateway
	canary  string // a file of the gateway's
	fd      int    // the same, open for whoever inherits it
	sign    int    // the priority of this process
}

func newProber(h *house) (*prober, error) {
	p := &prober{fd: -1}
	p.gateway = gateway.New(gateway.Config{
		Executors: h.host, Policies: admitAll{}, Journal: h.journal, Log: h.log, Now: time.Now,
		Limits: gatewayLimits(h.cfg.Limits, 1),
	})
	if err := p.plant(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// plant puts up what probes look for: a readable file in a folder where
// everyone may write, a descriptor and a variable that would be inherited, and
// a sign by which this process is known.
func (p *prober) plant() error {
	dir, err := os.MkdirTemp("", "sluice-doctor-")
	if err != nil {
		return fmt.Errorf("plant a canary: %w", err)
	}
	p.canary = filepath.Join(dir, "canary")
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // permissions must not be what keeps a probe out
		return fmt.Errorf("plant a canary: %w", err)
	}
	if err := os.WriteFile(p.canary, []byte("canary"), 0o644); err != nil { //nolint:gosec // as above
		return fmt.Errorf("plant a canary: %w", err)
	}
	if p.fd, err = unix.Open(p.canary, unix.O_RDONLY, 0); err != nil {
		return fmt.Errorf("plant a canary: %w", err)
	}
	now, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return fmt.Errorf("read the own priority: %w", err)
	}
	p.sign = min(19, 20-now+1) // the kernel answers 20 - nice
	if err := unix.Setpriority(unix.PRIO_PROCESS, os.Getpid(), p.sign); err != nil {
		return fmt.Errorf("set a sign: %w", err)
	}
	return nil
}

func (p *prober) close() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd) // it was only read
	}
	if p.canary != "" {
		_ = os.RemoveAll(filepath.Dir(p.canary)) // a folder for temporary files
	}
}

// all runs every probe, by its name without the suffix.
func (p *prober) all(ctx context.Context) map[string]tried {
	results := map[string]tried{}
	entries, err := probes.ReadDir("probes")
	must(err) // they are in this binary
	for _, e := range entries {
		code, err := probes.ReadFile(path.Join("probes", e.Name()))
		must(err)
		name := strings.TrimSuffix(e.Name(), ".py")
		results[name] = p.run(ctx, name, code)
	}
	return results
}

func (p *prober) run(ctx context.Context, name string, code []byte) tried {
	known := fmt.Sprintf("CANARY, GATEWAY, SIGN = %s, %d, %d\n", strconv.QuoteToASCII(p.canary), os.Getpid(), p.sign)
	ans, err := p.gateway.Solve(ctx, gateway.Request{
		ID: newRequestID(), Route: gateway.RouteCLI, Caller: gateway.Caller{Name: "doctor", Scopes: []string{"*"}},
		Tool: "python", Code: append([]byte(known), code...), Asked: executor.Limits{Wall: probeWall},
	})
	if err != nil {
		return tried{told: fmt.Sprintf("the probe %s could not run: %v", name, err)}
	}
	return read(name, ans)
}

// read says what came of a probe. Whatever is not what a wall does is a way
// through: a probe that fails by itself proves nothing.
func read(name string, ans gateway.Answer) tried {
	t := tried{completed: ans.Status == gateway.Completed, said: ans.StdoutText(), walls: ans.Result.Walls}
	line, _, _ := strings.Cut(t.said, "\n")
	summary, _, _ := strings.Cut(ans.Summary(), "\n")
	t.told = summary
	verdict, rest, _ := strings.Cut(line, ": ")
	switch {
	case verdict == "OPEN":
		t.told = rest
	case strings.HasPrefix(name, "seccomp-"):
		t.shut = ans.Status == gateway.Crashed
		t.told = strings.TrimPrefix(name, "seccomp-") + ": " + summary
	case name == "memory":
		t.shut = ans.Status == gateway.OutOfMemory
		t.told = "allocating without end: status " + string(ans.Status)
	case verdict == "SHUT":
		t.shut, t.told = t.completed, rest
	}
	return t
}

// admitAll is the policy of probes alone: they are in this binary.
type admitAll struct{}

func (a admitAll) Current() (gateway.Policy, error) { return a, nil }
func (admitAll) Revision() string                   { return "probes" }
func (admitAll) Sections(string) ([]string, error)  { return []string{}, nil }
func (admitAll) Decide(context.Context, gateway.Question) (gateway.Decision, error) {
	return gateway.Decision{
		ID: newRequestID(), Allow: true, Profile: "probes", Revision: "probes",
		Grants: []string{"import:*", "builtin:*"},
	}, nil
}
