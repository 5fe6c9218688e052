package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Ratio is one figure divided by another of the same run.
type Ratio struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Aim   string  `json:"aim,omitempty"`
}

// Side is one figure of a report.
type Side struct {
	Target  string `json:"target"`
	Program string `json:"program"`
	Clients int    `json:"clients"`
	Pause   int    `json:"pause_ms,omitempty"`
}

func (s Side) String() string {
	name := fmt.Sprintf("%s %s×%d", s.Target, s.Program, s.Clients)
	if s.Pause > 0 {
		name += fmt.Sprintf(", %d ms apart", s.Pause)
	}
	return name
}

// Question is a ratio to be had from a report. Of is p50, p99, cpu or
// per_second; p50 is the median of the ratios of the rounds, which were
// measured close to one another, so that other load on the machine meets both
// sides.
type Question struct {
	Of    string   `json:"of"`
	Over  Side     `json:"over"`
	Under Side     `json:"under"`
	Aim   string   `json:"aim,omitempty"`  // the target of the project, told beside the value
	Most  *float64 `json:"most,omitempty"` // the guard's bounds, wider than the aim
	Least *float64 `json:"least,omitempty"`
	Why   string   `json:"why,omitempty"` // how the bound was chosen
}

// Name says what is divided by what.
func (q Question) Name() string {
	if q.Over == q.Under {
		return fmt.Sprintf("p99 / p50 of %s", q.Over)
	}
	return fmt.Sprintf("%s of %s / %s", q.Of, q.Over, q.Under)
}

var (
	// ErrNoFigure is a ratio whose cells a report does not hold.
	ErrNoFigure = errors.New("the report does not hold it")
	errBounds   = errors.New("bad bounds")
)

// Ask works out a ratio.
func (r *Report) Ask(q Question) (Ratio, error) {
	over, ok := r.Find(q.Over)
	under, ok2 := r.Find(q.Under)
	if !ok || !ok2 {
		return Ratio{}, fmt.Errorf("%s: %w", q.Name(), ErrNoFigure)
	}
	value, err := divide(q, over, under)
	if err != nil {
		return Ratio{}, err
	}
	return Ratio{Name: q.Name(), Value: value, Aim: q.Aim}, nil
}

func divide(q Question, over, under Cell) (float64, error) {
	var a, b float64
	switch q.Of {
	case "p50":
		if n := min(len(over.Rounds), len(under.Rounds)); n > 1 {
			return medianRatio(over.Rounds[:n], under.Rounds[:n])
		}
		a, b = over.P50, under.P50
	case "p99":
		a, b = over.P99, under.P99
		if q.Over == q.Under {
			b = under.P50
		}
	case "cpu":
		a, b = over.CPU, under.CPU
	case "per_second":
		a, b = over.PerSecond, under.PerSecond
	default:
		return 0, fmt.Errorf("%w: of %q", errBounds, q.Of)
	}
	if b <= 0 {
		return 0, fmt.Errorf("%s: division by zero: %w", q.Name(), ErrNoFigure)
	}
	return a / b, nil
}

func medianRatio(over, under []float64) (float64, error) {
	all := make([]float64, 0, len(over))
	for i := range over {
		if under[i] <= 0 {
			return 0, fmt.Errorf("a round without a time: %w", ErrNoFigure)
		}
		all = append(all, over[i]/under[i])
	}
	slices.Sort(all)
	middle := len(all) / 2
	if len(all)%2 == 0 {
		return (all[middle-1] + all[middle]) / 2, nil
	}
	return all[middle], nil
}

// AskAll works out every ratio that the report holds figures for.
func (r *Report) AskAll(questions []Question) {
	r.Ratios = nil
	for _, q := range questions {
		if ratio, err := r.Ask(q); err == nil {
			r.Ratios = append(r.Ratios, ratio)
		}
	}
}

// Bounds is the guard's file.
type Bounds struct {
	Ratios      []Question       `json:"ratios"`
	Allocations map[string]int64 `json:"allocations"` // benchmark → most allocations of one operation
}

// ReadBounds reads the file and refuses what would guard nothing.
func ReadBounds(in io.Reader) (Bounds, error) {
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	var b Bounds
	if err := d.Decode(&b); err != nil {
		return b, fmt.Errorf("read the bounds: %w", err)
	}
	for _, q := range b.Ratios {
		if _, err := divide(q, Cell{P50: 1, P99: 1, CPU: 1, PerSecond: 1}, Cell{P50: 1, P99: 1, CPU: 1, PerSecond: 1}); err != nil {
			return b, err
		}
	}
	for name, most := range b.Allocations {
		if most < 0 {
			return b, fmt.Errorf("%w: %s may have %d allocations", errBounds, name, most)
		}
	}
	if len(b.Ratios) == 0 && len(b.Allocations) == 0 {
		return b, fmt.Errorf("%w: there are none", errBounds)
	}
	return b, nil
}

// Faults holds a report against the bounds; a bound whose figures are missing
// is a fault too.
func (b Bounds) Faults(r *Report) (faults []string, held int) {
	for _, q := range b.Ratios {
		if q.Most == nil && q.Least == nil {
			continue
		}
		ratio, err := r.Ask(q)
		switch {
		case err != nil:
			faults = append(faults, err.Error())
		case q.Most != nil && ratio.Value > *q.Most:
			faults = append(faults, fmt.Sprintf("%s is %s, at most %s is allowed", q.Name(), number(ratio.Value), number(*q.Most)))
		case q.Least != nil && ratio.Value < *q.Least:
			faults = append(faults, fmt.Sprintf("%s is %s, at least %s is asked", q.Name(), number(ratio.Value), number(*q.Least)))
		default:
			held++
		}
	}
	return faults, held
}
