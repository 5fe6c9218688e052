package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/sluice-gateway/sluice/bench/internal/chart"
	"github.com/sluice-gateway/sluice/bench/internal/report"
)

// drawChart makes the picture for the docs from a report, and puts its text into
// the page where the picture stands.
func drawChart(_ context.Context, args []string, s streams, _ func(string) string) error {
	flags := flag.NewFlagSet("bench chart", flag.ContinueOnError)
	in := flags.String("json", ".build/bench.json", "the report")
	out := flags.String("svg", "docs/performance.svg", "the picture")
	programs := flags.String("programs", "factor,calculus,figure", "its panels")
	page := flags.String("page", "", "the page that takes the report's text between its two marks")
	if err := parse(flags, args, s); err != nil {
		return err
	}
	file, err := os.Open(*in)
	if err != nil {
		return fmt.Errorf("read a report: %w; `make bench` makes one", err)
	}
	defer file.Close()
	r, err := report.Read(file)
	if err != nil {
		return err
	}
	picture, err := os.Create(*out)
	if err != nil {
		return fmt.Errorf("draw a chart: %w", err)
	}
	if err := errors.Join(chart.Draw(picture, r, split(*programs)), picture.Close()); err != nil || *page == "" {
		return err
	}
	return fillIn(*page, r)
}

// The marks between which a page holds figures.
const (
	markBegin = "<!-- figures: made by `make bench` -->\n"
	markEnd   = "<!-- end of figures -->\n"
)

// fillIn replaces what stands between the marks of a page.
func fillIn(page string, r *report.Report) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("fill in figures: %w", err)
	}
	before, rest, ok := strings.Cut(string(old), markBegin)
	_, after, ok2 := strings.Cut(rest, markEnd)
	if !ok || !ok2 {
		return fmt.Errorf("fill in figures: %s has no two marks", page)
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil {
		return err
	}
	whole := before + markBegin + "```text\n" + strings.TrimRight(text.String(), "\n") + "\n```\n" + markEnd + after
	if err := os.WriteFile(page, []byte(whole), 0o644); err != nil { //nolint:gosec // a page of the docs
		return fmt.Errorf("fill in figures: %w", err)
	}
	return nil
}
