package policy

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

const (
	warnOnly = `{"rule": "a", "level": "warn", "msg": "m", "at": "3:4:3:9", "subject": "s"}`
	refuses  = `{"rule": "b", "level": "error", "msg": "n", "at": "2:0:2:1", "subject": "t"}`
)

func decision(allow, violations, limits, grants string) string {
	return `{"allow": ` + allow + `, "violations": ` + violations + `, "limits": ` + limits + `, "grants": ` + grants + `}`
}

func TestDecisionsThatAreFaults(t *testing.T) {
	violation := func(members string) string { return decision("false", "{{"+members+"}}", "{}", "set()") }
	for name, text := range map[string]string{
		"a boolean":             `true`,
		"empty":                 `{}`,
		"no grants":             `{"allow": true, "violations": set(), "limits": {}}`,
		"a member more":         `{"allow": true, "violations": set(), "limits": {}, "grants": set(), "alow": false}`,
		"allow as text":         decision(`"true"`, "set()", "{}", "set()"),
		"allow as number":       decision("1", "set()", "{}", "set()"),
		"allow null":            decision("null", "set()", "{}", "set()"),
		"allow and error":       decision("true", "{"+refuses+"}", "{}", "set()"),
		"violations an object":  decision("false", "{}", "{}", "set()"),
		"violations null":       decision("false", "null", "{}", "set()"),
		"violation a text":      decision("false", `{"x"}`, "{}", "set()"),
		"violation without at":  violation(`"rule": "b", "level": "error", "msg": "n", "subject": "t"`),
		"violation with more":   violation(`"rule": "b", "level": "error", "msg": "n", "at": "", "subject": "t", "x": 1`),
		"message a number":      violation(`"rule": "b", "level": "error", "msg": 1, "at": "", "subject": "t"`),
		"unknown level":         violation(`"rule": "b", "level": "eror", "msg": "n", "at": "", "subject": "t"`),
		"level off":             violation(`"rule": "b", "level": "off", "msg": "n", "at": "", "subject": "t"`),
		"place of three":        violation(`"rule": "b", "level": "error", "msg": "n", "at": "1:2:3", "subject": "t"`),
		"place of five":         violation(`"rule": "b", "level": "error", "msg": "n", "at": "1:2:3:4:5", "subject": "t"`),
		"place on line 0":       violation(`"rule": "b", "level": "error", "msg": "n", "at": "0:0:1:0", "subject": "t"`),
		"place below 0":         violation(`"rule": "b", "level": "error", "msg": "n", "at": "1:-1:1:0", "subject": "t"`),
		"place with a sign":     violation(`"rule": "b", "level": "error", "msg": "n", "at": "+1:0:1:0", "subject": "t"`),
		"place beyond 31 bits":  violation(`"rule": "b", "level": "error", "msg": "n", "at": "4294967296:0:1:0", "subject": "t"`),
		"limits a set":          decision("true", "set()", "set()", "set()"),
		"unknown limit":         decision("true", "set()", `{"wall": 1}`, "set()"),
		"limit of zero":         decision("true", "set()", `{"processes": 0}`, "set()"),
		"limit below zero":      decision("true", "set()", `{"wall_seconds": -1}`, "set()"),
		"limit as text":         decision("true", "set()", `{"wall_seconds": "1"}`, "set()"),
		"limit under a number":  decision("true", "set()", `{1: 1}`, "set()"),
		"limit broken":          decision("true", "set()", `{"memory_bytes": 1.5}`, "set()"),
		"limit beyond 32 bits":  decision("true", "set()", `{"threads": 4294967296}`, "set()"),
		"limit beyond 64 bits":  decision("true", "set()", `{"memory_bytes": 1e30}`, "set()"),
		"grants null":           decision("true", "set()", "{}", "null"),
		"grant a number":        decision("true", "set()", "{}", "{1}"),
		"grant of another kind": decision("true", "set()", "{}", `{"file:/etc"}`),
		"grant without a name":  decision("true", "set()", "{}", `{"import:"}`),
		"grant of a pattern":    decision("true", "set()", "{}", `{"import:numpy.*"}`),
		"grant with a newline":  decision("true", "set()", "{}", `{"import:numpy\n"}`),
		"builtin with a dot":    decision("true", "set()", "{}", `{"builtin:a.b"}`),
	} {
		if d, err := readDecision(ast.MustParseTerm(text), nil); err == nil {
			t.Errorf("%s: %s is read as %+v", name, text, d)
		}
	}
}

func TestDecisionsAreReadWhole(t *testing.T) {
	limits := `{"wall_seconds": 1.5, "cpu_seconds": 2, "memory_bytes": 3, "stdout_bytes": 4, "stderr_bytes": 5,
		"output_ceiling_bytes": 6, "scratch_bytes": 7, "artifact_bytes": 8, "processes": 9, "threads": 10}`
	text := decision("false", "{"+warnOnly+", "+refuses+"}", limits, `["import:*", "builtin:*", "import:a.b_1", "builtin:print"]`)
	d, err := readDecision(ast.MustParseTerm(text), map[string]Rule{"b": {ID: "b", Title: "T", Hint: "H", URL: "U"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []gateway.Violation{
		{Rule: "b", Level: "error", Message: "n", Hint: "H", Line: 2, Column: 1, EndLine: 2, EndColumn: 2, Title: "T", URL: "U", Subject: "t"},
		{Rule: "a", Level: "warn", Message: "m", Line: 3, Column: 5, EndLine: 3, EndColumn: 10, Subject: "s"},
	}
	if d.Allow || len(d.Violations) != 2 || d.Violations[0] != want[0] || d.Violations[1] != want[1] {
		t.Errorf("violations %+v", d.Violations)
	}
	if got := strings.Join(d.Grants, " "); got != "builtin:* builtin:print import:* import:a.b_1" {
		t.Errorf("grants %q", got)
	}
	if want := (executor.Limits{
		Wall: 1500 * time.Millisecond, CPU: 2 * time.Second, MemoryBytes: 3, StdoutBytes: 4, StderrBytes: 5,
		OutputCeilingBytes: 6, ScratchBytes: 7, ArtifactBytes: 8, Processes: 9, Threads: 10,
	}); d.Limits != want {
		t.Errorf("limits %+v", d.Limits)
	}
	d, err = readDecision(ast.MustParseTerm(decision("true", "{"+warnOnly+"}", "{}", "set()")), nil)
	if err != nil || !d.Allow || len(d.Violations) != 1 {
		t.Errorf("warned: %+v, %v", d, err)
	}
}

// However small a limit is, it stays a limit, and however large, it fits.
func TestLimitsStayLimits(t *testing.T) {
	var l executor.Limits
	if err := setLimit(&l, "wall_seconds", 1e-12); err != nil || l.Wall <= 0 {
		t.Errorf("1e-12 s is %v, %v", l.Wall, err)
	}
	if err := setLimit(&l, "wall_seconds", 1e12); err != nil || l.Wall <= 0 {
		t.Errorf("1e12 s is %v, %v", l.Wall, err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1} {
		if err := setLimit(&l, "wall_seconds", bad); err == nil {
			t.Errorf("%v s is taken", bad)
		}
	}
}

func FuzzPlace(f *testing.F) {
	for _, at := range []string{"", "1:0:1:4", "0:0:0:0", "1:2:3", "a:b:c:d", "1:0:1:-1", "99999999999:0:1:1"} {
		f.Add(at)
	}
	f.Fuzz(func(t *testing.T, at string) {
		var v gateway.Violation
		if err := place(&v, at); err == nil && (v.Line < 1 || v.Column < 1 || v.EndLine < 1 || v.EndColumn < 1) {
			t.Errorf("%q is read as %+v", at, v)
		}
	})
}

// What a policy says of one program has a bound, and what refuses it stays.
func TestFindingsAreBounded(t *testing.T) {
	finding := func(level, message string, line int) *ast.Term {
		return ast.MustParseTerm(fmt.Sprintf(`{"rule": "b", "level": %q, "msg": %q, "at": "%d:0:%[3]d:1", "subject": %[2]q}`, level, message, line))
	}
	set := ast.NewSet(finding("error", strings.Repeat("é", 5_000_000), 5000))
	for line := range 2 * maxFindings {
		set.Add(finding("warn", "m", line+1))
	}
	term := ast.MustParseTerm(decision("false", "set()", "{}", "set()"))
	term.Value.(ast.Object).Insert(ast.StringTerm("violations"), ast.NewTerm(set))
	d, err := readDecision(term, nil)
	if err != nil || len(d.Violations) != maxFindings {
		t.Fatalf("%d findings, %v", len(d.Violations), err)
	}
	last := d.Violations[maxFindings-1]
	if last.Level != levelError || last.More != maxFindings+1 {
		t.Errorf("the last is of level %s, with %d more", last.Level, last.More)
	}
	for _, text := range []string{last.Message, last.Subject} {
		if len(text) > maxFindingText+len("…") || !utf8.ValidString(text) || !strings.HasSuffix(text, "é…") {
			t.Errorf("%d bytes: %.20q", len(text), text)
		}
	}
}
