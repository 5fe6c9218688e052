package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/load"
	"github.com/sluice-gateway/sluice/bench/internal/proc"
)

// sample is the tree at one moment of a soak, and the load since the last one.
type sample struct {
	seen    load.Result
	memory  proc.Memory
	cgroups int
}

// soak keeps a share of the capacity up for minutes and fails when anything
// grows: memory, descriptors, processes, cgroups, or the slow tail.
func soak(ctx context.Context, args []string, s streams, getenv func(string) string) error {
	var p places
	flags := flag.NewFlagSet("bench soak", flag.ContinueOnError)
	p.register(flags, "factor,linalg,figure,refused,calculator", "a")
	minutes := flags.Float64("minutes", 10, "how long")
	share := flags.Float64("share", 0.8, "of the capacity, which is measured first")
	if err := parse(flags, args, s); err != nil {
		return err
	}
	if *minutes < 0.1 || *minutes > 100 || *share <= 0 || *share >= 1 {
		return fmt.Errorf("%w: 0.1 to 100 minutes, a share between 0 and 1", errUsage)
	}
	w, err := openWork(ctx, &p, getenv)
	if err != nil {
		return err
	}
	defer w.target.Close()
	top, err := w.closed(ctx, 4, 8*time.Second)
	if err != nil {
		return err
	}
	rate := top.PerSecond() * *share
	fmt.Fprintf(s.out, "capacity with 4 clients: %.1f a second; the load is %.1f a second for %.1f minutes\n", top.PerSecond(), rate, *minutes)
	samples, err := w.soakFor(ctx, s.out, rate, time.Duration(*minutes*float64(time.Minute)))
	if err != nil {
		return err
	}
	if faults := soakFaults(samples); len(faults) > 0 {
		return fail(s, faults)
	}
	fmt.Fprintln(s.out, "flat")
	return nil
}

// soakSlices is into how many parts a soak is cut; each ends with a look at the
// processes, after a moment without load, so that like is compared with like.
const soakSlices = 20

func (w *work) soakFor(ctx context.Context, out io.Writer, rate float64, length time.Duration) ([]sample, error) {
	samples := make([]sample, 0, soakSlices)
	for i := range soakSlices {
		seen, err := load.Open(ctx, load.OpenPlan{PerSecond: rate, Time: length / soakSlices, InFlight: 128}, w.call())
		if err != nil {
			return nil, err
		}
		time.Sleep(time.Second)
		memory, err := w.target.Memory()
		if err != nil {
			return nil, err
		}
		one := sample{seen, memory, proc.Cgroups()}
		samples = append(samples, one)
		fmt.Fprintf(out, "%2d/%d: answered %d, shed %d, errors %d, p50 %.1f, p99 %.1f ms; PSS %.0f MiB, private %.0f MiB, %d processes, %d descriptors, %d cgroups\n",
			i+1, soakSlices, seen.Answered, seen.Shed, seen.Errors, seen.Millis(50), seen.Millis(99), mib(memory.PSS), mib(memory.Private),
			memory.Processes, memory.Files, one.cgroups)
	}
	return samples, nil
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// soakFaults compares the second quarter, when all is warm, with the last.
func soakFaults(samples []sample) []string {
	if len(samples) < 8 {
		return []string{"the soak was too short to compare anything"}
	}
	quarter := len(samples) / 4
	early, late := sum(samples[quarter:2*quarter]), sum(samples[len(samples)-quarter:])
	var faults []string
	for _, grown := range []struct {
		what        string
		early, late float64
		share, more float64 // what is noise: a share of the early value and some more
	}{
		{"PSS, MiB", early.pss, late.pss, 0.05, 12},
		{"descriptors", early.files, late.files, 0.05, 8},
		{"processes", early.processes, late.processes, 0.10, 2},
		{"cgroups", early.cgroups, late.cgroups, 0.10, 4},
		{"p99, ms", early.p99, late.p99, 0.5, 5},
	} {
		if grown.late > grown.early*(1+grown.share)+grown.more {
			faults = append(faults, fmt.Sprintf("%s grew from %.1f to %.1f", grown.what, grown.early, grown.late))
		}
	}
	total := sum(samples)
	if total.errors > 0 {
		faults = append(faults, fmt.Sprintf("%.0f errors, the first: %v", total.errors, total.first))
	}
	if total.answered == 0 {
		faults = append(faults, "nothing was answered")
	}
	return faults
}

// means are the mean values of some samples; errors and answered are sums.
type means struct {
	pss, files, processes, cgroups, p99 float64
	errors, answered                    float64
	first                               error
}

func sum(samples []sample) means {
	var m means
	n := float64(len(samples))
	for _, s := range samples {
		m.pss += mib(s.memory.PSS) / n
		m.files += float64(s.memory.Files) / n
		m.processes += float64(s.memory.Processes) / n
		m.cgroups += float64(s.cgroups) / n
		m.p99 += s.seen.Millis(99) / n
		m.errors += float64(s.seen.Errors)
		m.answered += float64(s.seen.Answered)
		if m.first == nil {
			m.first = s.seen.First
		}
	}
	return m
}
