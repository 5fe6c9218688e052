package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/report"
)

// guard is a short comparison held against the bounds: ratios to the floor, the
// plain fork server and a fresh interpreter of the same run, never a time.
func guard(ctx context.Context, args []string, s streams, getenv func(string) string) error {
	t := trial{ways: []way{{clients: 1}, {clients: 2}}, short: true, log: func(f string, a ...any) { fmt.Fprintf(s.err, f+"\n", a...) }}
	flags := flag.NewFlagSet("bench guard", flag.ContinueOnError)
	t.register(flags, "factor,figure,refused,calculator", "a,d3,g")
	flags.IntVar(&t.rounds, "rounds", 5, "rounds; targets take turns in each")
	flags.IntVar(&t.requests, "n", 150, "requests of one cell and round, at most")
	flags.DurationVar(&t.slice, "slice", 300*time.Millisecond, "time of one cell and round, at most")
	boundsFile := flags.String("bounds", "bench/bounds.json", "what must hold")
	again := flags.Int("again", 1, "further tries when a bound does not hold: noise goes, a regression stays")
	if err := parse(flags, args, s); err != nil {
		return err
	}
	if err := t.fromEnvironment(getenv); err != nil {
		return err
	}
	bounds, err := readBounds(*boundsFile)
	if err != nil {
		return err
	}
	var faults []string
	for range 1 + min(max(0, *again), 3) {
		r, err := t.run(ctx)
		if err != nil {
			return err
		}
		r.AskAll(bounds.Ratios)
		if err := r.Text(s.out); err != nil {
			return err
		}
		found, held := bounds.Faults(r)
		fmt.Fprintf(s.out, "\n%d bounds hold, %d do not\n", held, len(found))
		if faults = found; len(faults) == 0 {
			return nil
		}
	}
	return fail(s, faults)
}

func fail(s streams, faults []string) error {
	for _, fault := range faults {
		fmt.Fprintln(s.err, "FAULT:", fault)
	}
	return fmt.Errorf("%w: %d", errRegress, len(faults))
}

const modulePath = "github.com/sluice-gateway/sluice"

// allocs holds the allocations of Go benchmarks against the bounds.
func allocs(_ context.Context, args []string, s streams, _ func(string) string) error {
	flags := flag.NewFlagSet("bench allocs", flag.ContinueOnError)
	boundsFile := flags.String("bounds", "bench/bounds.json", "what must hold")
	if err := parse(flags, args, s); err != nil {
		return err
	}
	bounds, err := readBounds(*boundsFile)
	if err != nil {
		return err
	}
	found, err := report.Allocations(s.in, modulePath)
	if err != nil {
		return err
	}
	faults, held := bounds.AllocationFaults(found)
	if len(faults) > 0 {
		return fail(s, faults)
	}
	fmt.Fprintf(s.out, "%d benchmarks stay within their allocations\n", held)
	return nil
}
