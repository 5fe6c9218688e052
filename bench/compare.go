package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/load"
	"github.com/sluice-gateway/sluice/bench/internal/report"
	"github.com/sluice-gateway/sluice/bench/internal/targets"
)

// trial is one comparison: how much of what.
type trial struct {
	places
	ways     []way
	rounds   int
	requests int           // of one cell and round, at most
	slice    time.Duration // of one cell and round
	budget   time.Duration // what all takes at most, as far as one round of each cell allows; 0: no bound
	until    time.Time     // when the cells at hand are to be done
	memory   bool
	short    bool // several clients for the first program alone; slow targets for it alone, with one
	log      func(format string, args ...any)
}

// way is how a program is sent: by so many at once, each of whom pauses between an
// answer and the next request, as people and models do, or does not.
type way struct {
	clients int
	pause   time.Duration
}

func (w way) String() string {
	if w.pause > 0 {
		return fmt.Sprintf("%d clients, %v between their requests", w.clients, w.pause)
	}
	return fmt.Sprintf("%d clients", w.clients)
}

func compare(ctx context.Context, args []string, s streams, getenv func(string) string) error {
	t := trial{ways: []way{{clients: 1}, {clients: 2}, {clients: 8}, {clients: 1, pause: 40 * time.Millisecond}}, memory: true, log: func(f string, a ...any) { fmt.Fprintf(s.err, f+"\n", a...) }}
	flags := flag.NewFlagSet("bench compare", flag.ContinueOnError)
	t.register(flags, "", "a,s,b,c,d,d3,e,f,g,h")
	flags.IntVar(&t.rounds, "rounds", 3, "rounds; targets take turns in each")
	flags.IntVar(&t.requests, "n", 2000, "requests of one cell and round, at most")
	flags.DurationVar(&t.slice, "slice", 600*time.Millisecond, "time of one cell and round, at most (and one request of each client at least)")
	flags.DurationVar(&t.budget, "most", 11*time.Minute, "time of all: where it runs short, cells get fewer rounds, and at least one")
	out := flags.String("json", "", "write the report here too")
	boundsFile := flags.String("bounds", "bench/bounds.json", "the ratios to print")
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
	r, err := t.run(ctx)
	if err != nil {
		return err
	}
	r.AskAll(bounds.Ratios)
	if err := r.Text(s.out); err != nil || *out == "" {
		return err
	}
	return writeReport(*out, r)
}

func writeReport(name string, r *report.Report) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return errors.Join(r.JSON(file), file.Close())
}

func readBounds(name string) (report.Bounds, error) {
	file, err := os.Open(name)
	if err != nil {
		return report.Bounds{}, fmt.Errorf("read the bounds: %w", err)
	}
	defer file.Close()
	return report.ReadBounds(file)
}

// run measures every cell. A target that is missing is told and left out; one
// that answers wrongly ends the run.
func (t *trial) run(ctx context.Context) (*report.Report, error) {
	if t.rounds < 1 || t.rounds > 100 {
		return nil, fmt.Errorf("%w: %d rounds", errUsage, t.rounds)
	}
	programs, err := t.chosen()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	r := &report.Report{Machine: machine(t.Python)}
	for _, p := range programs {
		r.Programs = append(r.Programs, p.Name)
	}
	open, err := t.open(ctx, r)
	defer func() {
		for _, target := range open {
			if err := target.Close(); err != nil {
				t.log("bench: %v", err)
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := t.measureAll(ctx, r, open, programs); err != nil {
		return nil, err
	}
	r.Machine.LoadAfter, r.Machine.Seconds = loadAverage(), time.Since(begin).Seconds()
	return r, nil
}

func (t *trial) open(ctx context.Context, r *report.Report) ([]targets.Target, error) {
	var open []targets.Target
	for _, key := range t.keys {
		target, err := targets.Open(ctx, key, t.Config)
		if errors.Is(err, targets.ErrMissing) {
			r.Skipped = append(r.Skipped, fmt.Sprintf("%s: %v", key, err))
			t.log("bench: %s is left out: %v", key, err)
			continue
		}
		if err != nil {
			return open, err
		}
		open = append(open, target)
		r.Targets = append(r.Targets, report.Target{Key: key, Title: target.Title()})
	}
	return open, nil
}

func (t *trial) measureAll(ctx context.Context, r *report.Report, open []targets.Target, programs []targets.Program) error {
	idle, err := t.idle(open)
	if err != nil {
		return err
	}
	begin, done, total := time.Now(), 0, len(programs)*len(t.ways)
	for i, p := range programs {
		for _, w := range t.ways {
			done++
			t.log("bench: %d of %d: %s, %v; %.0f s so far", done, total, p.Name, w, time.Since(begin).Seconds())
			t.until = begin.Add(t.budget * time.Duration(done) / time.Duration(total))
			cells, err := t.measure(ctx, taking(t.those(open, i, p.Name, w), p), p, w)
			if err != nil {
				return err
			}
			r.Cells = append(r.Cells, cells...)
		}
	}
	if !t.memory {
		return nil
	}
	for i, target := range open {
		m, err := t.underLoad(ctx, target, programs)
		if err != nil {
			return err
		}
		m.Idle = idle[i].Idle
		r.Memory = append(r.Memory, m)
	}
	return nil
}

// those are the targets that a program is sent to in that way.
func (t *trial) those(open []targets.Target, program int, name string, w way) []targets.Target {
	return slices.DeleteFunc(slices.Clone(open), func(target targets.Target) bool {
		return !t.sends(target.Slow(), program == 0, name == "cell", w)
	})
}

// sends says whether a target gets a program in that way: a run must end. Slow ones get
// several clients for the first program alone, and no pauses, which few programs get.
func (t *trial) sends(slow, first, cell bool, w way) bool {
	often := first || w.clients == 1
	switch {
	case w.pause > 0:
		return !slow && (first || cell)
	case !t.short:
		return often || !slow
	case slow:
		return first && w.clients == 1
	}
	return often
}

// taking leaves out the targets that do not take a program.
func taking(open []targets.Target, p targets.Program) []targets.Target {
	return slices.DeleteFunc(open, func(t targets.Target) bool {
		some, ok := t.(interface{ Takes(p targets.Program) bool })
		return ok && !some.Takes(p)
	})
}

// measure is one program, sent in one way, on every target: they take turns
// round by round, so that other load on the machine meets all of them.
func (t *trial) measure(ctx context.Context, open []targets.Target, p targets.Program, w way) ([]report.Cell, error) {
	sums := make([]load.Result, len(open))
	cells := make([]report.Cell, len(open))
	spent := make([]time.Duration, len(open))
	for i := range sums {
		sums[i] = load.NewResult()
	}
	for round := range t.rounds {
		if round > 0 && t.budget > 0 && time.Now().After(t.until) {
			break
		}
		for i, target := range open {
			seen, cpu, err := t.slot(ctx, target, p, w)
			if err != nil {
				return nil, err
			}
			sums[i].Merge(seen)
			spent[i] += cpu
			cells[i].Rounds = append(cells[i].Rounds, seen.Millis(50))
		}
	}
	for i, target := range open {
		seen := sums[i]
		cells[i] = report.Cell{
			Target: target.Key(), Program: p.Name, Clients: w.clients, Pause: int(w.pause.Milliseconds()), Requests: seen.Answered, Shed: seen.Shed,
			P50: seen.Millis(50), P95: seen.Millis(95), P99: seen.Millis(99), PerSecond: seen.PerSecond(),
			CPU: float64(spent[i].Microseconds()) / 1000 / float64(max(1, seen.Answered)), Rounds: cells[i].Rounds,
		}
	}
	return cells, nil
}

// settle is how long the machine gets to finish what the last slot left:
// children that are refilled, say.
const settle = 60 * time.Millisecond

// pausedSlice is how many pauses a slot has at least.
const pausedSlice = 25

// slot is one target's turn; its first request is not counted.
func (t *trial) slot(ctx context.Context, target targets.Target, p targets.Program, w way) (load.Result, time.Duration, error) {
	call := func(ctx context.Context, client int) (load.Outcome, error) {
		answer, outcome, err := target.Call(ctx, client, p)
		if err == nil && outcome == load.Answered {
			err = p.Check(target, answer)
		}
		return outcome, err
	}
	if !target.Slow() {
		warm, err := load.Closed(ctx, load.ClosedPlan{Clients: w.clients, Requests: 2 * w.clients, Time: 5 * time.Second}, call)
		if err = errors.Join(err, warm.First); err != nil {
			return warm, 0, err
		}
		time.Sleep(settle)
	}
	before, err := target.CPU()
	if err != nil {
		return load.Result{}, 0, err
	}
	seen, err := load.Closed(ctx, load.ClosedPlan{Clients: w.clients, Requests: t.requests, Time: max(t.slice, pausedSlice*w.pause), Pause: w.pause}, call)
	if err = errors.Join(err, seen.First); err != nil {
		return seen, 0, err
	}
	if !target.Slow() {
		time.Sleep(settle) // what the last requests left to do is theirs too
	}
	after, err := target.CPU()
	return seen, after - before, err
}

func (t *trial) idle(open []targets.Target) ([]report.Memory, error) {
	all := make([]report.Memory, len(open))
	if !t.memory {
		return all, nil
	}
	time.Sleep(time.Second) // pools fill up
	for i, target := range open {
		m, err := target.Memory()
		if err != nil {
			return nil, err
		}
		all[i] = report.Memory{Target: target.Key(), Idle: m}
	}
	return all, nil
}

// underLoad looks at a target's memory while eight clients call it with the
// first program that it takes.
func (t *trial) underLoad(ctx context.Context, target targets.Target, programs []targets.Program) (report.Memory, error) {
	const clients, length = 8, 1200 * time.Millisecond
	m := report.Memory{Target: target.Key()}
	first := slices.IndexFunc(programs, func(p targets.Program) bool { return len(taking([]targets.Target{target}, p)) > 0 })
	if first < 0 {
		return m, nil
	}
	p := programs[first]
	looked := make(chan error, 1)
	go func() {
		time.Sleep(length / 2)
		var err error
		m.Load, err = target.Memory()
		m.Load.Each = nil
		looked <- err
	}()
	seen, err := load.Closed(ctx, load.ClosedPlan{Clients: clients, Requests: 100_000, Time: length}, func(ctx context.Context, client int) (load.Outcome, error) {
		_, outcome, err := target.Call(ctx, client, p)
		return outcome, err
	})
	return m, errors.Join(<-looked, err, seen.First)
}
