// Package targets holds what the benchmark sends programs to: Sluice itself and
// the alternatives, each behind the same interface.
//
// Begin with Target and All. Everything is on this machine: an address that is
// not a loopback one is refused. The package starts processes and ends those,
// and no others.
package targets

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/load"
	"github.com/sluice-gateway/sluice/bench/internal/proc"
)

// Answer is what came back from a program.
type Answer struct {
	Stdout  string
	Figure  bool // a figure came with it
	Refused bool // by a policy of the target; nothing ran
}

// Target is one way to run programs. Call is safe for concurrent use by
// different clients.
type Target interface {
	// Key is one or two letters, as in docs/performance.md; Title says it in words.
	Key() string
	Title() string
	// Slow is for targets whose calls take a good part of a second.
	Slow() bool
	Call(ctx context.Context, client int, p Program) (Answer, load.Outcome, error)
	// CPU is the processor time used so far, with that of ended children.
	CPU() (time.Duration, error)
	// Memory is what its processes hold now; of a target without processes
	// that stay, what the largest one held at most.
	Memory() (proc.Memory, error)
	Close() error
}

// Config says where things are.
type Config struct {
	GatewayURL string
	Token      string
	GatewayPID int
	Python     string // the interpreter of all baselines
	Baseline   string // folder of the baselines' files
	Runtime    string // folder of the runtime whose warm-ups are borrowed
	Slots      int    // programs at once in the service that starts fresh interpreters
}

// Keys are the targets in their order.
func Keys() []string { return []string{"a", "s", "b", "c", "d", "d3", "e", "f", "g", "h"} }

// ErrMissing is a target that cannot be had on this machine; the text says why.
var ErrMissing = errors.New("not measured")

// Open starts the target with that key.
func Open(ctx context.Context, key string, c Config) (Target, error) {
	switch key {
	case "a":
		return newSluice(c)
	case "s":
		return newSessions(c)
	case "b":
		return newService(ctx, c)
	case "c":
		return newCells(ctx, c)
	case "d":
		return newFresh(c, "d", "python -I, the program's own imports", ""), nil
	case "d3":
		return newFresh(c, "d3", "python -I, all three imports", "import sympy, numpy, plotly.graph_objects\n"), nil
	case "e":
		return newWarm(ctx, c, "e", "floor: one warm process, no isolation", "floor")
	case "f":
		return newBubblewrap(c)
	case "g":
		return newWarm(ctx, c, "g", "plain fork server, no walls", "fork")
	case "h":
		return newWarm(ctx, c, "h", "shared interpreter, never reset", "shared")
	}
	return nil, fmt.Errorf("target %q: there are %s", key, strings.Join(Keys(), ", "))
}

// Loopback refuses any address but this machine's own.
func Loopback(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return fmt.Errorf("read the address %q: give http://127.0.0.1:PORT", raw)
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("send load to %s: loopback addresses alone are measured", u.Hostname())
	}
	return nil
}

// Check says whether an answer is the program's right one.
func (p Program) Check(t Target, a Answer) error {
	switch {
	case a.Refused && p.Refused:
		return nil
	case a.Refused:
		return fmt.Errorf("%s: %s was refused", t.Title(), p.Name)
	case strings.TrimSpace(a.Stdout) != strings.TrimSpace(p.Want):
		return fmt.Errorf("%s: %s printed %.200q, not %.200q", t.Title(), p.Name, a.Stdout, p.Want)
	case p.Figure && !a.Figure && !t.Slow():
		return fmt.Errorf("%s: %s brought no figure", t.Title(), p.Name)
	}
	return nil
}
