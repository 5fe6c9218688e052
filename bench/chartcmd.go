package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/sluice-gateway/sluice/bench/internal/chart"
	"github.com/sluice-gateway/sluice/bench/internal/report"
)

// drawChart makes the picture for the docs from a report.
func drawChart(_ context.Context, args []string, s streams, _ func(string) string) error {
	flags := flag.NewFlagSet("bench chart", flag.ContinueOnError)
	in := flags.String("json", ".build/bench.json", "the report")
	out := flags.String("svg", "docs/performance.svg", "the picture")
	programs := flags.String("programs", "factor,calculus,figure", "its panels")
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
	return errors.Join(chart.Draw(picture, r, split(*programs)), picture.Close())
}
