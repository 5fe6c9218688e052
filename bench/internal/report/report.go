// Package report holds what a run measured, and makes of it text, ratios and a
// verdict of the guard.
//
// Begin with Report. Nothing in it measures; the same JSON gives the same text.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/sluice-gateway/sluice/bench/internal/proc"
)

// Report is one run.
type Report struct {
	Machine  Machine  `json:"machine"`
	Targets  []Target `json:"targets"`
	Programs []string `json:"programs"`
	Cells    []Cell   `json:"cells"`
	Memory   []Memory `json:"memory,omitempty"`
	Skipped  []string `json:"skipped,omitempty"` // what was left out, and why
	Ratios   []Ratio  `json:"ratios"`
}

// Machine says where and when.
type Machine struct {
	Date       string  `json:"date"`
	CPUs       int     `json:"cpus"`
	Model      string  `json:"model"`
	Kernel     string  `json:"kernel"`
	Python     string  `json:"python"`
	Go         string  `json:"go"`
	LoadBefore float64 `json:"load_before"` // of the last minute
	LoadAfter  float64 `json:"load_after"`
	Seconds    float64 `json:"seconds"` // the run's own length
}

// Target is one of the things compared.
type Target struct {
	Key   string `json:"key"`
	Title string `json:"title"`
}

// Cell is one target, program, number of clients and pause. Times are in milliseconds.
type Cell struct {
	Target    string    `json:"target"`
	Program   string    `json:"program"`
	Clients   int       `json:"clients"`
	Pause     int       `json:"pause_ms,omitempty"` // of each client between an answer and the next request
	Requests  int64     `json:"requests"`
	Shed      int64     `json:"shed,omitempty"`
	P50       float64   `json:"p50_ms"`
	P95       float64   `json:"p95_ms"`
	P99       float64   `json:"p99_ms"`
	PerSecond float64   `json:"per_second"`
	CPU       float64   `json:"cpu_ms"`    // of the whole process tree, per request
	Rounds    []float64 `json:"rounds_ms"` // p50 of each round
}

// Memory is what a target holds, in bytes; its processes are those when idle.
type Memory struct {
	Target string      `json:"target"`
	Idle   proc.Memory `json:"idle"`
	Load   proc.Memory `json:"load"` // with eight clients
}

// Find returns a cell.
func (r *Report) Find(s Side) (Cell, bool) {
	i := slices.IndexFunc(r.Cells, func(c Cell) bool { return s == Side{c.Target, c.Program, c.Clients, c.Pause} })
	if i < 0 {
		return Cell{}, false
	}
	return r.Cells[i], true
}

// JSON writes the report.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Read reads a report and takes nothing that it does not know.
func Read(in io.Reader) (*Report, error) {
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	var r Report
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("read a report: %w", err)
	}
	return &r, nil
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	m := r.Machine
	fmt.Fprintf(w, "%s, %d × %s, Linux %s, Python %s, %s; load before %.1f, after %.1f; the run took %.0f s\n\n",
		m.Date, m.CPUs, m.Model, m.Kernel, m.Python, m.Go, m.LoadBefore, m.LoadAfter, m.Seconds)
	for _, t := range r.Targets {
		fmt.Fprintf(w, "%-3s %s\n", t.Key, t.Title)
	}
	for _, s := range r.Skipped {
		fmt.Fprintln(w, "NOT MEASURED:", s)
	}
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	r.cells(table)
	r.memory(table)
	r.ratios(table)
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func (r *Report) cells(w io.Writer) {
	for _, program := range r.Programs {
		fmt.Fprintf(w, "\n%s\tclients\tp50 ms\tp95\tp99\tper second\tCPU ms each\trequests\trounds' p50\t\n", program)
		for _, t := range r.Targets {
			for _, c := range r.Cells {
				if c.Target == t.Key && c.Program == program {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t\n", c.Target, clients(c), number(c.P50), number(c.P95), number(c.P99),
						number(c.PerSecond), number(c.CPU), c.Requests, numbers(c.Rounds))
				}
			}
		}
	}
}

func clients(c Cell) string {
	if c.Pause > 0 {
		return fmt.Sprintf("%d, %d ms apart", c.Clients, c.Pause)
	}
	return strconv.Itoa(c.Clients)
}

func (r *Report) memory(w io.Writer) {
	if len(r.Memory) == 0 {
		return
	}
	fmt.Fprintf(w, "\nmemory, MiB (PSS)\tidle\tprocesses\tunder load\tprocesses\tnot readable\t\n")
	for _, m := range r.Memory {
		fmt.Fprintf(w, "%s\t%.0f\t%d\t%.0f\t%d\t%d\t\n", m.Target, mib(m.Idle.PSS), m.Idle.Processes, mib(m.Load.PSS), m.Load.Processes, m.Idle.Unreadable+m.Load.Unreadable)
	}
	for _, m := range r.Memory {
		if m.Target != "a" {
			continue
		}
		fmt.Fprintf(w, "\nSluice idle, by process\tPSS MiB\tprivate MiB\t\n")
		for _, p := range m.Idle.Each {
			fmt.Fprintf(w, "%s%s\t%.1f\t%.1f\t\n", strings.Repeat("· ", p.Depth), p.Name, mib(p.PSS), mib(p.Private))
		}
	}
}

func (r *Report) ratios(w io.Writer) {
	fmt.Fprintf(w, "\nratio\tvalue\tthe aim\t\n")
	for _, x := range r.Ratios {
		fmt.Fprintf(w, "%s\t%s\t%s\t\n", x.Name, number(x.Value), x.Aim)
	}
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// number has three figures that count.
func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func numbers(all []float64) string {
	parts := make([]string, 0, len(all))
	for _, v := range all {
		parts = append(parts, number(v))
	}
	return strings.Join(parts, " ")
}
