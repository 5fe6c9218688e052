// Package chart draws a report as SVG: a panel per program, a bar per target on
// a logarithmic scale, so that a thousandth and a thousand fit one picture.
//
// Begin with Draw. The same report gives the same bytes.
package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"

	"github.com/sluice-gateway/sluice/bench/internal/report"
)

// Sizes, in pixels.
const (
	labelWidth = 330
	plotWidth  = 470
	rightEdge  = 130
	barHeight  = 15
	rowHeight  = 24
	panelHead  = 52
	panelFoot  = 30
	margin     = 16
)

// panel is one program's bars.
type panel struct {
	program string
	bars    []bar
}

type bar struct {
	key, title string
	p50, p99   float64
}

// Draw draws the times of one client for the named programs.
func Draw(w io.Writer, r *report.Report, programs []string) error {
	panels := panelsOf(r, programs)
	if len(panels) == 0 {
		return fmt.Errorf("draw a chart: the report holds none of %v for one client", programs)
	}
	low, high := reach(panels)
	height := margin
	for _, p := range panels {
		height += panelHead + len(p.bars)*rowHeight + panelFoot
	}
	height += 2 * margin
	width := margin + labelWidth + plotWidth + rightEdge
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="13" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>Time of one request, one client</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n")
	y := margin
	for _, p := range panels {
		y = p.draw(&b, y, low, high)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#57606a" font-size="11">%s</text>`+"\n", margin, y+margin, escaped(fmt.Sprintf(
		"bar: p50, thin line: up to p99; logarithmic. %s, %d × %s, Python %s; load before %.1f, after %.1f", r.Machine.Date, r.Machine.CPUs, r.Machine.Model, r.Machine.Python, r.Machine.LoadBefore, r.Machine.LoadAfter)))
	b.WriteString("</svg>\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	return nil
}

func panelsOf(r *report.Report, programs []string) []panel {
	var panels []panel
	for _, program := range programs {
		p := panel{program: program}
		for _, t := range r.Targets {
			if c, ok := r.Find(report.Side{Target: t.Key, Program: program, Clients: 1}); ok && c.P50 > 0 {
				p.bars = append(p.bars, bar{t.Key, t.Title, c.P50, max(c.P50, c.P99)})
			}
		}
		if len(p.bars) > 0 {
			panels = append(panels, p)
		}
	}
	return panels
}

// reach is the decades that hold all values.
func reach(panels []panel) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		for _, b := range p.bars {
			low, high = min(low, math.Floor(math.Log10(b.p50))), max(high, math.Ceil(math.Log10(b.p99)))
		}
	}
	if high <= low {
		high = low + 1
	}
	return low, high
}

func (p panel) draw(w io.Writer, y int, low, high float64) int {
	left := margin + labelWidth
	at := func(v float64) float64 {
		return float64(left) + plotWidth*(math.Log10(v)-low)/(high-low)
	}
	top := y + panelHead
	bottom := top + len(p.bars)*rowHeight
	fmt.Fprintf(w, `<text x="%d" y="%d" font-weight="600" fill="#1f2328">%s</text>`+"\n", margin, y+24, escaped(p.program+": milliseconds, one client"))
	for decade := low; decade <= high; decade++ {
		x := at(math.Pow(10, decade))
		fmt.Fprintf(w, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#d0d7de"/>`+"\n", x, top-6, x, bottom)
		fmt.Fprintf(w, `<text x="%.1f" y="%d" text-anchor="middle" fill="#57606a" font-size="11">%s</text>`+"\n", x, top-10, plain(math.Pow(10, decade)))
	}
	for i, b := range p.bars {
		b.draw(w, top+i*rowHeight, float64(left), at)
	}
	return bottom + panelFoot
}

func (b bar) draw(w io.Writer, y int, left float64, at func(float64) float64) {
	colour := "#8c959f"
	if b.key == "a" {
		colour = "#0969da"
	}
	middle := y + rowHeight/2
	fmt.Fprintf(w, `<text x="%.0f" y="%d" text-anchor="end" fill="#1f2328">%s</text>`+"\n", left-8, middle+4, escaped(b.title))
	fmt.Fprintf(w, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, middle-barHeight/2, max(1, at(b.p50)-left), barHeight, colour)
	fmt.Fprintf(w, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s" stroke-width="2"/>`+"\n", at(b.p50), middle, at(b.p99), middle, colour)
	fmt.Fprintf(w, `<text x="%.1f" y="%d" fill="#1f2328">%s</text>`+"\n", at(b.p99)+6, middle+4, plain(b.p50)+" ms")
}

// plain is a number with as many figures as a reader can use.
func plain(v float64) string {
	switch {
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.2g", v)
}

func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes all
	return b.String()
}
