package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/load"
	"github.com/sluice-gateway/sluice/bench/internal/targets"
)

// work is a mix of programs for one target, dealt out to the clients in turn.
type work struct {
	target   targets.Target
	programs []targets.Program
}

func openWork(ctx context.Context, p *places, getenv func(string) string) (*work, error) {
	if err := p.fromEnvironment(getenv); err != nil {
		return nil, err
	}
	programs, err := p.chosen()
	if err != nil {
		return nil, err
	}
	if len(p.keys) != 1 {
		return nil, fmt.Errorf("%w: name one target", errUsage)
	}
	target, err := targets.Open(ctx, p.keys[0], p.Config)
	if err != nil {
		return nil, err
	}
	return &work{target, programs}, nil
}

// call deals the programs out: each client begins at another one.
func (w *work) call() load.Call {
	var turn [load.MostClients]int
	return func(ctx context.Context, client int) (load.Outcome, error) {
		p := w.programs[(client+turn[client])%len(w.programs)]
		turn[client]++
		answer, outcome, err := w.target.Call(ctx, client, p)
		if err == nil && outcome == load.Answered {
			err = p.Check(w.target, answer)
		}
		return outcome, err
	}
}

func (w *work) closed(ctx context.Context, clients int, length time.Duration) (load.Result, error) {
	seen, err := load.Closed(ctx, load.ClosedPlan{Clients: clients, Requests: load.MostRequests, Time: length}, w.call())
	return seen, errors.Join(err, seen.First)
}

// capacity shows how the rate grows with clients, and what happens beyond it:
// requests that find no room are shed, and those that are taken stay quick.
func capacity(ctx context.Context, args []string, s streams, getenv func(string) string) error {
	var p places
	flags := flag.NewFlagSet("bench capacity", flag.ContinueOnError)
	p.register(flags, "factor", "a")
	length := flags.Duration("time", 5*time.Second, "time of each row")
	if err := parse(flags, args, s); err != nil {
		return err
	}
	w, err := openWork(ctx, &p, getenv)
	if err != nil {
		return err
	}
	defer w.target.Close()
	table := tabwriter.NewWriter(s.out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s, %v\tanswered a second\tshed\tp50 ms\tp95\tp99\tCPU ms each\t\n", w.target.Title(), p.programs)
	most := 0.0
	var alone load.Result
	for _, clients := range []int{1, 2, 4, 8, 16} {
		seen, err := w.row(ctx, table, fmt.Sprintf("closed, %d clients", clients), func() (load.Result, error) { return w.closed(ctx, clients, *length) })
		if err != nil {
			return err
		}
		if clients == 1 {
			alone = seen
		}
		most = max(most, seen.PerSecond())
	}
	for _, share := range []float64{0.5, 0.8, 1.2} {
		plan := load.OpenPlan{PerSecond: most * share, Time: *length, InFlight: 256}
		seen, err := w.row(ctx, table, fmt.Sprintf("open, %.0f %% of the most", share*100), func() (load.Result, error) {
			seen, err := load.Open(ctx, plan, w.call())
			return seen, errors.Join(err, seen.First)
		})
		if err != nil {
			return err
		}
		if share > 1 {
			defer fmt.Fprintf(s.out, "\nbeyond capacity, p99 of the answered is %.1f times the p50 and %.1f times the p99 of one client alone\n",
				seen.Millis(99)/max(0.001, alone.Millis(50)), seen.Millis(99)/max(0.001, alone.Millis(99)))
		}
	}
	return table.Flush()
}

func (w *work) row(ctx context.Context, out io.Writer, name string, do func() (load.Result, error)) (load.Result, error) {
	if _, err := w.closed(ctx, 1, 200*time.Millisecond); err != nil {
		return load.Result{}, err
	}
	time.Sleep(settle)
	before, err := w.target.CPU()
	if err != nil {
		return load.Result{}, err
	}
	seen, err := do()
	if err != nil {
		return seen, err
	}
	time.Sleep(settle)
	after, err := w.target.CPU()
	fmt.Fprintf(out, "%s\t%.1f\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t\n", name, seen.PerSecond(), seen.Shed, seen.Millis(50), seen.Millis(95), seen.Millis(99),
		float64((after-before).Microseconds())/1000/float64(max(1, seen.Answered)))
	return seen, err
}
