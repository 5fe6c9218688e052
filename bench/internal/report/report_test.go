package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func sampleReport() *Report {
	return &Report{
		Machine:  Machine{Date: "2026-01-02 03:04 UTC", CPUs: 2, Model: "CPU & Sons"},
		Targets:  []Target{{"a", "Sluice"}, {"g", "fork server"}},
		Programs: []string{"factor"},
		Cells: []Cell{
			{Target: "a", Program: "factor", Clients: 1, Requests: 9, P50: 6, P95: 7, P99: 12, PerSecond: 100, CPU: 8, Rounds: []float64{6, 20, 6.6}},
			{Target: "g", Program: "factor", Clients: 1, Requests: 9, P50: 4, P95: 5, P99: 8, PerSecond: 200, CPU: 4, Rounds: []float64{4, 10, 6}},
		},
		Skipped: []string{"f: not measured: bwrap is not installed"},
	}
}

func question(of string) Question {
	return Question{Of: of, Over: Side{Target: "a", Program: "factor", Clients: 1}, Under: Side{Target: "g", Program: "factor", Clients: 1}}
}

func bound(v float64) *float64 { return &v }

func TestRatiosDivideCellsAndTakeTheMedianOfRounds(t *testing.T) {
	r := sampleReport()
	for of, want := range map[string]float64{"p50": 1.5, "p99": 1.5, "cpu": 2, "per_second": 0.5} {
		got, err := r.Ask(question(of))
		if err != nil || got.Value != want {
			t.Errorf("%s: %v, %v, not %v", of, got, err, want)
		}
	}
	self := Question{Of: "p99", Over: Side{Target: "a", Program: "factor", Clients: 1}, Under: Side{Target: "a", Program: "factor", Clients: 1}}
	if got, err := r.Ask(self); err != nil || got.Value != 2 {
		t.Errorf("p99 by p50: %v, %v", got, err)
	}
	if _, err := r.Ask(question("p51")); err == nil {
		t.Error("an unknown figure was divided")
	}
	if _, err := r.Ask(Question{Of: "p50", Over: Side{Target: "z", Program: "factor", Clients: 1}, Under: Side{Target: "g", Program: "factor", Clients: 1}}); !errors.Is(err, ErrNoFigure) {
		t.Errorf("a missing cell: %v", err)
	}
}

func TestMedianRatioOfAnEvenNumberOfRounds(t *testing.T) {
	if got, err := medianRatio([]float64{1, 2, 3, 40}, []float64{1, 1, 1, 1}); err != nil || got != 2.5 {
		t.Error(got, err)
	}
	if _, err := medianRatio([]float64{1, 2}, []float64{1, 0}); err == nil {
		t.Error("a round without a time was divided by")
	}
}

func TestABoundThatDoesNotHoldOrCannotBeAskedIsAFault(t *testing.T) {
	r := sampleReport()
	for name, c := range map[string]struct {
		q     Question
		fault string
	}{
		"holds":     {Question{Of: "cpu", Over: question("").Over, Under: question("").Under, Most: bound(2)}, ""},
		"too much":  {Question{Of: "cpu", Over: question("").Over, Under: question("").Under, Most: bound(1.9)}, "at most 1.90 is allowed"},
		"too small": {Question{Of: "per_second", Over: question("").Over, Under: question("").Under, Least: bound(0.6)}, "at least 0.60 is asked"},
		"missing":   {Question{Of: "cpu", Over: Side{Target: "a", Program: "figure", Clients: 1}, Under: question("").Under, Most: bound(9)}, "does not hold it"},
		"no bound":  {Question{Of: "cpu", Over: Side{Target: "a", Program: "figure", Clients: 1}, Under: question("").Under}, ""},
	} {
		faults, _ := Bounds{Ratios: []Question{c.q}}.Faults(r)
		if got := strings.Join(faults, "; "); (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestBoundsAreReadStrictly(t *testing.T) {
	for _, bad := range []string{
		"", "{}", `{"ratios": [], "allocations": {}}`, `{"ratio": []}`, `{"allocations": {"x": -1}}`,
		`{"ratios": [{"of": "p51", "over": {"target": "a"}, "under": {"target": "b"}}]}`,
	} {
		if _, err := ReadBounds(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	b, err := ReadBounds(strings.NewReader(`{"ratios": [{"of": "p50", "over": {"target": "a", "program": "factor", "clients": 1}, "under": {"target": "g", "program": "factor", "clients": 1}, "most": 1}], "allocations": {"x.BenchmarkY": 3}}`))
	if err != nil || *b.Ratios[0].Most != 1 || b.Allocations["x.BenchmarkY"] != 3 {
		t.Errorf("%+v, %v", b, err)
	}
}

const benchmarks = `goos: linux
pkg: example.org/m/internal/policy
cpu: some
BenchmarkDecide-2   	     100	    300 ns/op	  19.00 MB/s	   5000 B/op	     601 allocs/op
BenchmarkDecide-2   	     100	    300 ns/op	  19.00 MB/s	   5000 B/op	     600 allocs/op
BenchmarkSolve/a-b-2         	     100	    300 ns/op	   5000 B/op	      12 allocs/op
BenchmarkNoMemory-2         	     100	    300 ns/op
PASS
pkg: example.org/m/plugins/calc
BenchmarkDecide   	     100	    300 ns/op	   5000 B/op	     7 allocs/op
ok  	example.org/m	1.2s
`

func TestAllocationsAreReadFromBenchmarks(t *testing.T) {
	got, err := Allocations(strings.NewReader(benchmarks), "example.org/m")
	if err != nil || len(got) != 3 || got["internal/policy.BenchmarkDecide"] != 600 || got["internal/policy.BenchmarkSolve/a-b"] != 12 || got["plugins/calc.BenchmarkDecide"] != 7 {
		t.Fatalf("%v, %v", got, err)
	}
	faults, held := Bounds{Allocations: map[string]int64{
		"internal/policy.BenchmarkDecide": 600, "plugins/calc.BenchmarkDecide": 6, "plugins/calc.BenchmarkGone": 6,
	}}.AllocationFaults(got)
	if held != 1 || len(faults) != 2 || !strings.Contains(faults[0], "allocates 7 times") || !strings.Contains(faults[1], "did not run") {
		t.Errorf("%d held, %v", held, faults)
	}
}

func TestAReportComesBackFromItsJSONAndTellsWhatIsMissing(t *testing.T) {
	r := sampleReport()
	r.AskAll([]Question{question("p50"), {Of: "p50", Over: Side{Target: "z", Program: "factor", Clients: 1}, Under: Side{Target: "g", Program: "factor", Clients: 1}}})
	r.Memory = []Memory{{Target: "a"}}
	var text, js bytes.Buffer
	if err := r.JSON(&js); err != nil {
		t.Fatal(err)
	}
	back, err := Read(&js)
	if err != nil {
		t.Fatal(err)
	}
	if err := back.Text(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NOT MEASURED: f: not measured: bwrap", "p50 of a factor×1 / g factor×1", "Sluice idle, by process", "6.00", "200"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, text.String())
		}
	}
	if len(back.Ratios) != 1 {
		t.Errorf("%d ratios", len(back.Ratios))
	}
	if _, err := Read(strings.NewReader(`{"machin": {}}`)); err == nil {
		t.Error("an unknown key was read")
	}
}
