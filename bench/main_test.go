package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/load"
	"github.com/sluice-gateway/sluice/bench/internal/proc"
	"github.com/sluice-gateway/sluice/bench/internal/report"
	"github.com/sluice-gateway/sluice/bench/internal/targets"
)

func invoke(env map[string]string, in string, args ...string) (code int, out, err string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, streams{strings.NewReader(in), &o, &e}, func(k string) string { return env[k] })
	return code, o.String(), e.String()
}

func TestArgumentsAreChecked(t *testing.T) {
	none := map[string]string{}
	away := map[string]string{"GATEWAY_URL": "http://192.168.0.9:80", "GATEWAY_PID": "1", "GATEWAY_TOKEN": "x"}
	for _, c := range []struct {
		env  map[string]string
		args []string
		says string
	}{
		{none, nil, "usage"},
		{none, []string{"measure"}, "usage"},
		{none, []string{"compare", "--clients", "9"}, "not defined"},
		{none, []string{"compare", "more"}, `what is "more"`},
		{none, []string{"compare", "--bounds", "bounds.json", "--targets", "d", "--programs", "facto"}, "choose programs"},
		{none, []string{"compare", "--bounds", "bounds.json", "--targets", "d", "--rounds", "0"}, "0 rounds"},
		{none, []string{"soak", "--minutes", "1000"}, "0.1 to 100 minutes"},
		{none, []string{"soak", "--share", "1"}, "between 0 and 1"},
		{none, []string{"capacity", "--targets", "a,b"}, "name one target"},
		{away, []string{"compare", "--bounds", "bounds.json"}, "loopback addresses alone"},
		{away, []string{"guard", "--bounds", "bounds.json"}, "loopback addresses alone"},
		{away, []string{"soak"}, "loopback addresses alone"},
		{away, []string{"capacity"}, "loopback addresses alone"},
		{map[string]string{"GATEWAY_URL": "http://127.0.0.1:1"}, []string{"capacity"}, "GATEWAY_PID"},
	} {
		if code, _, says := invoke(c.env, "", c.args...); code != 2 || !strings.Contains(says, c.says) {
			t.Errorf("%v: exit status %d, %q", c.args, code, says)
		}
	}
	if code, _, says := invoke(none, "", "compare", "--bounds", "bounds.json", "--targets", "a"); code != 1 || !strings.Contains(says, "make bench") {
		t.Errorf("without a gateway: exit status %d, %q", code, says)
	}
	if code, _, _ := invoke(none, "", "compare", "--help"); code != 0 {
		t.Errorf("--help: exit status %d", code)
	}
}

func TestTheShippedBoundsAreReadAndGuardSomething(t *testing.T) {
	b, err := readBounds("bounds.json")
	if err != nil {
		t.Fatal(err)
	}
	bounded := 0
	for _, q := range b.Ratios {
		if q.Most != nil || q.Least != nil {
			bounded++
			if q.Why == "" {
				t.Errorf("%s has a bound and no reason", q.Name())
			}
		}
	}
	if bounded < 5 || len(b.Allocations) < 3 {
		t.Errorf("%d ratios and %d benchmarks are bounded", bounded, len(b.Allocations))
	}
}

func TestAllocsFailsOnARegression(t *testing.T) {
	bounds := filepath.Join(t.TempDir(), "bounds.json")
	if err := os.WriteFile(bounds, []byte(`{"allocations": {"internal/policy.BenchmarkDecide": 600}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	output := "pkg: " + modulePath + "/internal/policy\nBenchmarkDecide-2 \t 100 \t 300 ns/op \t 5000 B/op \t %s allocs/op\n"
	if code, out, _ := invoke(nil, strings.Replace(output, "%s", "600", 1), "allocs", "--bounds", bounds); code != 0 || !strings.Contains(out, "1 benchmarks") {
		t.Errorf("exit status %d, %q", code, out)
	}
	if code, _, says := invoke(nil, strings.Replace(output, "%s", "601", 1), "allocs", "--bounds", bounds); code != 1 || !strings.Contains(says, "FAULT: internal/policy.BenchmarkDecide allocates 601") {
		t.Errorf("exit status %d, %q", code, says)
	}
	if code, _, says := invoke(nil, "", "allocs", "--bounds", bounds); code != 1 || !strings.Contains(says, "did not run") {
		t.Errorf("without benchmarks: exit status %d, %q", code, says)
	}
}

func TestAChartIsDrawnFromAReport(t *testing.T) {
	dir := t.TempDir()
	r := &report.Report{Targets: []report.Target{{Key: "a", Title: "Sluice"}}, Cells: []report.Cell{{Target: "a", Program: "factor", Clients: 1, P50: 5, P99: 6}}}
	if err := writeReport(filepath.Join(dir, "r.json"), r); err != nil {
		t.Fatal(err)
	}
	svg := filepath.Join(dir, "r.svg")
	if code, _, says := invoke(nil, "", "chart", "--json", filepath.Join(dir, "r.json"), "--svg", svg); code != 0 {
		t.Fatal(says)
	}
	if text, err := os.ReadFile(svg); err != nil || !bytes.Contains(text, []byte("</svg>")) {
		t.Errorf("%s, %v", text, err)
	}
	page := filepath.Join(dir, "page.md")
	for text, good := range map[string]bool{"# Title\n": false, "# Title\n" + markBegin + "old\n" + markEnd + "more\n": true} {
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, says := invoke(nil, "", "chart", "--json", filepath.Join(dir, "r.json"), "--svg", svg, "--page", page)
		now, _ := os.ReadFile(page)
		if (code == 0) != good || strings.Contains(string(now), "old") || good && !strings.HasSuffix(string(now), "```\n"+markEnd+"more\n") {
			t.Errorf("exit status %d, %q, %q", code, says, now)
		}
	}
	if code, _, says := invoke(nil, "", "chart", "--json", filepath.Join(dir, "none.json"), "--svg", svg); code != 1 || !strings.Contains(says, "make bench") {
		t.Errorf("exit status %d, %q", code, says)
	}
}

// fake answers at once, or as it is told.
type fake struct {
	targets.Target
	slow bool
	says targets.Answer
}

func (f *fake) Key() string                  { return "x" }
func (f *fake) Title() string                { return "fake" }
func (f *fake) Slow() bool                   { return f.slow }
func (f *fake) CPU() (time.Duration, error)  { return 0, nil }
func (f *fake) Memory() (proc.Memory, error) { return proc.Memory{PSS: 1 << 20, Processes: 1}, nil }
func (f *fake) Call(context.Context, int, targets.Program) (targets.Answer, load.Outcome, error) {
	return f.says, load.Answered, nil
}

func TestATrialMeasuresEveryCellAndRefusesWrongAnswers(t *testing.T) {
	tr := trial{ways: []way{{clients: 1}, {clients: 2}, {clients: 1, pause: 5 * time.Millisecond}}, rounds: 2, requests: 10, slice: time.Minute, memory: true, log: t.Logf}
	programs := []targets.Program{{Name: "p", Want: "12"}, {Name: "q", Want: "12"}}
	open := []targets.Target{&fake{says: targets.Answer{Stdout: "12\n"}}, &fake{slow: true, says: targets.Answer{Stdout: "12\n"}}}
	r := &report.Report{}
	if err := tr.measureAll(context.Background(), r, open, programs); err != nil {
		t.Fatal(err)
	}
	// both programs × one client × both targets, p × two clients × both, q × two clients × the quick one, p × pauses × the quick one
	if len(r.Cells) != 4+2+1+1 || len(r.Memory) != 2 || len(r.Cells[0].Rounds) != 2 || r.Cells[0].Requests < 20 {
		t.Errorf("%d cells, %d memories: %+v", len(r.Cells), len(r.Memory), r.Cells)
	}
	tr.short, tr.memory, r.Cells = true, false, nil
	if err := tr.measureAll(context.Background(), r, open, programs); err != nil {
		t.Fatal(err)
	}
	if len(r.Cells) != 2+1+1+1 { // p: both with one client, the quick one with two and with pauses; q: the quick one with one
		t.Errorf("short: %d cells: %+v", len(r.Cells), r.Cells)
	}
	open[0].(*fake).says.Stdout = "13"
	if err := tr.measureAll(context.Background(), r, open, programs); err == nil || !strings.Contains(err.Error(), `"13"`) {
		t.Errorf("a wrong answer: %v", err)
	}
}

func TestAMissingTargetIsToldAndAWrongOneIsAnError(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	tr := trial{places: places{keys: []string{"f"}}, log: t.Logf}
	r := &report.Report{}
	open, err := tr.open(context.Background(), r)
	if err != nil || len(open) != 0 || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0], "bwrap is not installed") {
		t.Errorf("%v, %v, %v", open, err, r.Skipped)
	}
	tr.keys = []string{"z"}
	if _, err := tr.open(context.Background(), r); err == nil {
		t.Error("target z was opened")
	}
}

func TestASoakSeesWhatGrows(t *testing.T) {
	flat := func() []sample {
		all := make([]sample, 20)
		for i := range all {
			seen := load.NewResult()
			_ = seen.Times.RecordValue(10_000)
			seen.Answered = 1
			all[i] = sample{seen, proc.Memory{PSS: 200 << 20, Files: 100, Processes: 8}, 30}
		}
		return all
	}
	if faults := soakFaults(flat()); len(faults) > 0 {
		t.Errorf("a flat soak: %v", faults)
	}
	for want, spoil := range map[string]func(i int, s *sample){
		"PSS":         func(i int, s *sample) { s.memory.PSS += int64(i) * 3 << 20 },
		"descriptors": func(i int, s *sample) { s.memory.Files += i * 2 },
		"processes":   func(i int, s *sample) { s.memory.Processes += i },
		"cgroups":     func(i int, s *sample) { s.cgroups += i },
		"p99":         func(i int, s *sample) { _ = s.seen.Times.RecordValue(int64(i) * 10_000) },
		"1 errors":    func(i int, s *sample) { s.seen.Errors += int64(i / 19) },
		"nothing":     func(_ int, s *sample) { s.seen.Answered = 0 },
	} {
		all := flat()
		for i := range all {
			spoil(i, &all[i])
		}
		if got := strings.Join(soakFaults(all), "; "); !strings.Contains(got, want) {
			t.Errorf("%s: %q", want, got)
		}
	}
	if len(soakFaults(flat()[:4])) == 0 {
		t.Error("a short soak passed")
	}
}
