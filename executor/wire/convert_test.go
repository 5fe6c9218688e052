package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// sameJSON compares values by their JSON form, in which nil and empty lists of
// omitted fields are told apart only where a test looks.
func sameJSON(t *testing.T, got, want any) {
	t.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func fullSource() executor.Source {
	return executor.Source{
		ID: "i", Language: "l", Tool: "t", Code: []byte("c"), SessionID: "s", Stdin: []byte("in"),
		Sections: []string{"a"}, ValueWanted: true, MaxTreeBytes: 9, ParseLimits: fullLimits(),
		Labels: map[string]string{"k": "v"}, VerdictWait: time.Second, JudgeOnly: true,
	}
}

func fullLimits() executor.Limits {
	return executor.Limits{
		Wall: time.Second, CPU: 2 * time.Second, MemoryBytes: 3, StdoutBytes: 4, StderrBytes: 5,
		OutputCeilingBytes: 6, ScratchBytes: 7, ArtifactBytes: 8, Processes: 9, Threads: 10,
	}
}

func fullResult() executor.Result {
	return executor.Result{
		Status: executor.StatusRuntimeError, Value: "v", HasValue: true,
		Problem:   &executor.Problem{Type: "T", Message: "m", Line: 1, Column: 2, Trace: "t"},
		Artifacts: []executor.Artifact{{MediaType: "m", Name: "n", Data: []byte("d")}},
		Usage:     executor.Usage{Wall: 1000, CPU: 2000, Parse: 3000, MaxRSSBytes: 4},
		ExitCode:  -5, Signal: "SIGSEGV", ForbiddenCall: "ptrace", StdoutBytes: 6, StderrBytes: 7,
		StdoutOmitted: 1, StderrOmitted: 2, LimitFired: "wall", SessionState: "kept",
		Walls: []string{"w"}, Notes: []string{"n"},
	}
}

// noZero fails for a field that the full example leaves out, so that a field
// which is added later is carried too.
func noZero(t *testing.T, v any) {
	t.Helper()
	rv := reflect.ValueOf(v)
	for i := range rv.NumField() {
		if rv.Field(i).IsZero() {
			t.Errorf("%s.%s is not in the example", rv.Type(), rv.Type().Field(i).Name)
		}
	}
}

func TestEveryFieldIsCarried(t *testing.T) {
	src, res := fullSource(), fullResult()
	grant := executor.Grant{Limits: fullLimits(), Grants: []string{"g"}, DecisionID: "d"}
	config := executor.Config{JSON: []byte("{}"), StateDir: "/s", LogLevel: "info", Secrets: map[string][]byte{"k": []byte("v")}}
	for _, v := range []any{src, src.ParseLimits, grant, config, res, *res.Problem, res.Artifacts[0], res.Usage} {
		noZero(t, v)
	}
	if got := sourceFromWire(sourceToWire(src)); !reflect.DeepEqual(got, src) {
		t.Errorf("source %+v", got)
	}
	if got := grantFromWire(grantToWire(grant)); !reflect.DeepEqual(got, grant) {
		t.Errorf("grant %+v", got)
	}
	if got := configFromWire(configToWire(config)); !reflect.DeepEqual(got, config) {
		t.Errorf("config %+v", got)
	}
	if got, err := resultFromWire(resultToWire(res)); err != nil || !reflect.DeepEqual(got, res) {
		t.Errorf("result %+v, %v", got, err)
	}
}

func TestAllSectionsAreNotNone(t *testing.T) {
	for _, sections := range [][]string{nil, {}, {"a"}} {
		got := sourceFromWire(sourceToWire(executor.Source{Sections: sections})).Sections
		if !reflect.DeepEqual(got, sections) {
			t.Errorf("%#v became %#v", sections, got)
		}
	}
}

func TestDescriptionsThatBreakTheContract(t *testing.T) {
	long := strings.Repeat("x", maxLongText+1)
	cases := map[string]func(*executorpb.DescribeResponse){
		"no name":          func(d *executorpb.DescribeResponse) { d.Name = "" },
		"name":             func(d *executorpb.DescribeResponse) { d.Name = "Stub" },
		"digit first":      func(d *executorpb.DescribeResponse) { d.Name = "1tub" },
		"name with a path": func(d *executorpb.DescribeResponse) { d.Name = "a/../b" },
		"no version":       func(d *executorpb.DescribeResponse) { d.Version = "" },
		"long build":       func(d *executorpb.DescribeResponse) { d.Build = long },
		"long kit":         func(d *executorpb.DescribeResponse) { d.SdkVersion = long },
		"config schema":    func(d *executorpb.DescribeResponse) { d.ConfigSchemaJson = []byte("{") },
		"feature":          func(d *executorpb.DescribeResponse) { d.Features = []string{long} },
		"no language":      func(d *executorpb.DescribeResponse) { d.Languages = nil },
		"null language":    func(d *executorpb.DescribeResponse) { d.Languages = append(d.Languages, nil) },
		"languages":        func(d *executorpb.DescribeResponse) { d.Languages = make([]*executorpb.Language, maxFew+1) },
		"twice":            func(d *executorpb.DescribeResponse) { d.Languages = append(d.Languages, d.Languages[0]) },
		"tree schema":      func(d *executorpb.DescribeResponse) { d.Languages[0].TreeSchemaJson = []byte("x") },
		"no tree schema":   func(d *executorpb.DescribeResponse) { d.Languages[0].TreeSchema = "" },
		"grammar":          func(d *executorpb.DescribeResponse) { d.Languages[0].Grammar = long },
		"media type":       func(d *executorpb.DescribeResponse) { d.Languages[0].MediaTypes = []string{long} },
		"sample":           func(d *executorpb.DescribeResponse) { d.Languages[0].Samples[0].Kind = "" },
		"sample code":      func(d *executorpb.DescribeResponse) { d.Languages[0].Samples[0].Code = make([]byte, maxSample+1) },
		"tool":             func(d *executorpb.DescribeResponse) { d.Tools[0].Name = "" },
		"tool's language":  func(d *executorpb.DescribeResponse) { d.Tools[0].Language = "other" },
		"description":      func(d *executorpb.DescribeResponse) { d.Tools[0].Description = long },
		"parameters":       func(d *executorpb.DescribeResponse) { d.Tools[0].ParametersSchemaJson = []byte("[") },
		"argument":         func(d *executorpb.DescribeResponse) { d.Tools[0].SourceArgument = long },
		"library":          func(d *executorpb.DescribeResponse) { d.Libraries[0].Name = "" },
		"roots":            func(d *executorpb.DescribeResponse) { d.Libraries[0].Roots = make([]string, maxMany+1) },
		"root":             func(d *executorpb.DescribeResponse) { d.Libraries[0].Roots = []string{long} },
		"capacity":         func(d *executorpb.DescribeResponse) { d.Capacity.MaxTreeBytes = MaxTreeBytes + 1 },
		"not UTF-8":        func(d *executorpb.DescribeResponse) { d.Version = "\xff" },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			w := descriptionToWire((&stub{}).Describe(), true)
			spoil(w)
			if d, err := descriptionFromWire(w); !errors.Is(err, ErrProtocol) {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

func TestClip(t *testing.T) {
	for in, want := range map[string]string{"abc": "abc", "abcde": "abcd", "abcé": "abc", "\xff": "\uFFFD", "日本": "日"} {
		if got := clip(in, 4); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	if got := clipAll(make([]string, maxFew+1), 4); len(got) != maxFew {
		t.Errorf("%d texts", len(got))
	}
}
