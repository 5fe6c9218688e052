package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// diagnosis is what doctor found, and its JSON.
type diagnosis struct {
	Ready       bool          `json:"ready"`
	Walls       []wallState   `json:"walls"` // in the order of sandbox.WallNames
	Kernel      string        `json:"kernel"`
	LandlockABI int           `json:"landlock_abi"` // 0: none
	Python      pythonState   `json:"python"`
	Plugins     []pluginState `json:"plugins"`
	Policy      policyState   `json:"policy"`
	Listen      listenState   `json:"listen"`
	Clock       string        `json:"clock"`
	Required    []string      `json:"required"`
	Missing     []string      `json:"missing"` // why it is not ready
	Notes       []string      `json:"notes"`   // what may be meant so
}

// wallState is one wall around a program. Required means that a property of
// sandbox.require is lost without it.
type wallState struct {
	Name     string `json:"name"`
	InForce  bool   `json:"in_force"`
	Required bool   `json:"required"`
	Why      string `json:"why"`    // why it is not in force, or what it lacks
	Remedy   string `json:"remedy"` // what to change; empty when it is in force
	Probe    string `json:"probe"`  // what programs tried, and what came of it
}

type pythonState struct {
	OK          bool     `json:"ok"`
	Interpreter string   `json:"interpreter"`
	Version     string   `json:"version"`
	Libraries   []string `json:"libraries"`
	Problem     string   `json:"problem"`
}

type pluginState struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	State   string   `json:"state"`
	Why     string   `json:"why"`
	Walls   []string `json:"walls"` // around the plugin itself
}

type policyState struct {
	OK       bool   `json:"ok"`
	Folder   string `json:"folder"`
	Revision string `json:"revision"`
	Problem  string `json:"problem"`
}

type listenState struct {
	Address string `json:"address"`
	Free    bool   `json:"free"`
	Note    string `json:"note"`
}

func newDiagnosis(require []string) diagnosis {
	return diagnosis{
		Walls: []wallState{}, Plugins: []pluginState{}, Missing: []string{}, Notes: []string{},
		Required: append([]string{}, require...), Python: pythonState{Libraries: []string{}},
	}
}

func (d *diagnosis) missing(what string) { d.Missing = append(d.Missing, what) }

func (d *diagnosis) note(what string) {
	if what != "" {
		d.Notes = append(d.Notes, what)
	}
}

// buildTime is a moment before which no clock is right: the year in which this
// program was written.
func buildTime() time.Time { return time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC) }

func (d *diagnosis) lookAtHost(now time.Time) {
	var name unix.Utsname
	if err := unix.Uname(&name); err == nil {
		d.Kernel = unix.ByteSliceToString(name.Sysname[:]) + " " + unix.ByteSliceToString(name.Release[:]) + " " + unix.ByteSliceToString(name.Machine[:])
	}
	d.LandlockABI = sandbox.Probe().Landlock
	d.Clock = now.UTC().Format(time.RFC3339)
	if now.Before(buildTime()) {
		d.note("the clock says " + d.Clock + ": waivers, the journal and certificates go by it")
	}
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		d.note("system call filters are written for amd64 and arm64, and this is " + runtime.GOARCH)
	}
}

// lookAtListener tries the address and gives it back.
func lookAtListener(ctx context.Context, address string) listenState {
	s := listenState{Address: address}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		s.Free = true
		_ = l.Close() // nobody has connected
	case errors.Is(err, syscall.EADDRINUSE):
		s.Note = address + " is busy: a gateway serves there already, or something else does"
	default:
		s.Note = err.Error()
	}
	return s
}

// readPython takes the probe "python" apart.
func (d *diagnosis) readPython(t tried) {
	words := strings.Fields(t.said)
	if !t.completed || len(words) == 0 {
		d.Python.Problem = t.told
		d.missing("python: " + t.told)
		return
	}
	d.Python.OK, d.Python.Version, d.Python.Libraries = true, words[0], words[1:]
}

// show writes the diagnosis for people.
func (d *diagnosis) show(w io.Writer, color bool) error {
	p := &painter{w: w, color: color}
	p.printf("host      %s, Landlock ABI %d, clock %s\n", d.Kernel, d.LandlockABI, d.Clock)
	p.printf("python    %s %s (%s)%s\n", d.Python.Version, strings.Join(d.Python.Libraries, " "), d.Python.Interpreter, d.Python.Problem)
	for _, one := range d.Plugins {
		p.printf("plugin    %s %s: %s%s; around itself: %s\n", one.Name, one.Version, one.State, one.Why, strings.Join(one.Walls, " "))
	}
	p.printf("policy    %s %s%s\n", d.Policy.Folder, d.Policy.Revision, d.Policy.Problem)
	p.printf("listen    %s\n", d.Listen.Address)
	p.printf("\nwalls around a program, as tried from inside:\n")
	for _, one := range d.Walls {
		p.wall(one)
	}
	p.printf("\n")
	for _, text := range d.Notes {
		p.printf("note: %s\n", text)
	}
	for _, text := range d.Missing {
		p.printf("%s %s\n", p.paint(red, "missing:"), text)
	}
	if d.Ready {
		p.printf("ready: every required property is there (%s)\n", strings.Join(d.Required, ", "))
	}
	return p.err
}

func (p *painter) wall(w wallState) {
	state := "in force"
	if !w.InForce {
		state = p.paint(red, "MISSING ")
	}
	required := ""
	if w.Required {
		required = " (required)"
	}
	p.printf("  %-11s %s%s  %s\n", w.Name, state, required, w.Probe)
	for _, line := range []struct{ label, text string }{{"why", w.Why}, {"remedy", w.Remedy}} {
		if line.text != "" {
			p.printf("              %s\n", fmt.Sprintf("%s: %s", line.label, line.text))
		}
	}
}
