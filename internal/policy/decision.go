package policy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Levels of a violation. A rule that is switched off has none.
const (
	levelError = gateway.LevelError
	levelWarn  = "warn"
	levelOff   = "off"
)

// readDecision reads the one object that the entry point answers with. Whatever
// is not exactly of the contract's form is a fault, never a verdict.
func readDecision(term *ast.Term, rules map[string]Rule) (d gateway.Decision, err error) {
	var object [len(decisionKeys)]*ast.Term
	if err := members(term, decisionKeys[:], object[:]); err != nil {
		return d, fmt.Errorf("decision: %w", err)
	}
	allow, ok := object[0].Value.(ast.Boolean)
	if !ok {
		return d, errors.New("decision.allow is no boolean")
	}
	if d.Violations, err = readViolations(object[1], rules); err != nil {
		return d, err
	}
	if d.Limits, err = readLimits(object[2]); err != nil {
		return d, err
	}
	if d.Grants, err = readGrants(object[3]); err != nil {
		return d, err
	}
	d.Allow = bool(allow)
	if d.Allow && slices.ContainsFunc(d.Violations, isError) {
		return d, errors.New("decision.allow is true beside a violation of level error")
	}
	return d, nil
}

func isError(v gateway.Violation) bool { return v.Level == levelError }

// Keys of a decision and of a violation. Terms are never changed.
var (
	decisionKeys  = [...]*ast.Term{ast.StringTerm("allow"), ast.StringTerm("violations"), ast.StringTerm("limits"), ast.StringTerm("grants")}
	violationKeys = [...]*ast.Term{ast.StringTerm("rule"), ast.StringTerm("level"), ast.StringTerm("msg"), ast.StringTerm("at"), ast.StringTerm("subject")}
)

// members returns an object's members in the order of keys; all of keys must be
// there and no other.
func members(term *ast.Term, keys []*ast.Term, found []*ast.Term) error {
	object, ok := term.Value.(ast.Object)
	if !ok {
		return errors.New("it is no object")
	}
	for i, key := range keys {
		if found[i] = object.Get(key); found[i] == nil {
			return fmt.Errorf("it has no %v", key)
		}
	}
	if object.Len() != len(keys) {
		return fmt.Errorf("it has members beside %v", keys)
	}
	return nil
}

// each calls f for the elements of a set or an array.
func each(term *ast.Term, f func(*ast.Term) error) error {
	switch list := term.Value.(type) {
	case ast.Set:
		return list.Iter(f)
	case *ast.Array:
		return list.Iter(f)
	}
	return errors.New("it is neither a set nor an array")
}

func readViolations(term *ast.Term, rules map[string]Rule) ([]gateway.Violation, error) {
	var violations []gateway.Violation
	err := each(term, func(elem *ast.Term) error {
		v, err := readViolation(elem, rules)
		violations = append(violations, v)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("decision.violations: %w", err)
	}
	slices.SortFunc(violations, byPlace)
	return fewer(violations), nil
}

// Bounds of what a decision says: answers, the decision log and callers' models
// get all of it.
const (
	maxFindings    = 256
	maxFindingText = 1000 // bytes of a message or a subject
)

// fewer leaves maxFindings, errors before warnings, and counts the others at the
// last one.
func fewer(violations []gateway.Violation) []gateway.Violation {
	over := len(violations) - maxFindings
	if over <= 0 {
		return violations
	}
	slices.SortStableFunc(violations, func(a, b gateway.Violation) int {
		switch {
		case isError(a) == isError(b):
			return 0
		case isError(a):
			return -1
		}
		return 1
	})
	violations = violations[:maxFindings]
	slices.SortFunc(violations, byPlace)
	violations[maxFindings-1].More += over
	return violations
}

// shortened is text of at most maxFindingText bytes, and a sign of what is gone.
func shortened(text string) string {
	if len(text) <= maxFindingText {
		return text
	}
	return strings.ToValidUTF8(text[:maxFindingText], "") + "…"
}

func byPlace(a, b gateway.Violation) int {
	return cmp.Or(
		cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject),
		cmp.Compare(a.EndLine, b.EndLine), cmp.Compare(a.EndColumn, b.EndColumn), cmp.Compare(a.Message, b.Message),
	)
}

func readViolation(term *ast.Term, rules map[string]Rule) (v gateway.Violation, err error) {
	var object [len(violationKeys)]*ast.Term
	if err := members(term, violationKeys[:], object[:]); err != nil {
		return v, err
	}
	var at string
	for i, field := range [...]*string{&v.Rule, &v.Level, &v.Message, &at, &v.Subject} {
		text, ok := object[i].Value.(ast.String)
		if !ok {
			return v, fmt.Errorf("%v is no text", violationKeys[i])
		}
		*field = string(text)
	}
	if v.Level != levelError && v.Level != levelWarn {
		return v, fmt.Errorf("rule %q has the level %q", v.Rule, v.Level)
	}
	if err := place(&v, at); err != nil {
		return v, fmt.Errorf("rule %q: %w", v.Rule, err)
	}
	rule := rules[v.Rule]
	v.Title, v.Hint, v.URL = rule.Title, rule.hintFor(v.Subject), rule.URL
	v.Message, v.Subject = shortened(v.Message), shortened(v.Subject)
	return v, nil
}

// place turns "line:column:end_line:end_column", columns from 0, into numbers
// from 1. A finding without a place is about the whole program and stands at
// its beginning.
func place(v *gateway.Violation, at string) error {
	if at == "" {
		at = "1:0:1:0"
	}
	parts := strings.Split(at, ":")
	if len(parts) != 4 {
		return fmt.Errorf("place %.64q is not line:column:end_line:end_column", at)
	}
	for i, field := range []*int{&v.Line, &v.Column, &v.EndLine, &v.EndColumn} {
		n, err := strconv.ParseUint(parts[i], 10, 31)
		if err != nil || (i%2 == 0 && n == 0) {
			return fmt.Errorf("place %.64q is not line:column:end_line:end_column", at)
		}
		*field = int(n) + i%2
	}
	return nil
}

// readLimits reads limits that are lower than what is in force; the gateway
// takes the lower one of both. A zero would read as "not limited", so it is a
// fault.
func readLimits(term *ast.Term) (l executor.Limits, err error) {
	object, ok := term.Value.(ast.Object)
	if !ok {
		return l, errors.New("decision.limits is no object")
	}
	err = object.Iter(func(key, value *ast.Term) error {
		name, isText := key.Value.(ast.String)
		number, isNumber := value.Value.(ast.Number)
		if !isText || !isNumber {
			return fmt.Errorf("%v is no number under a name", key)
		}
		amount, ok := number.Float64()
		if !ok {
			return fmt.Errorf("%s is out of range", name)
		}
		return setLimit(&l, string(name), amount)
	})
	if err != nil {
		return l, fmt.Errorf("decision.limits: %w", err)
	}
	return l, nil
}

// setLimit sets the limit that is called name in profiles and decisions.
func setLimit(l *executor.Limits, name string, amount float64) error {
	if math.IsNaN(amount) || amount <= 0 || amount > math.MaxInt64/2 {
		return fmt.Errorf("%s must be above 0", name)
	}
	durations := map[string]*time.Duration{"wall_seconds": &l.Wall, "cpu_seconds": &l.CPU}
	if field, ok := durations[name]; ok {
		*field = time.Duration(min(amount*float64(time.Second), math.MaxInt64/2))
		*field = max(*field, 1)
		return nil
	}
	if amount != math.Trunc(amount) {
		return fmt.Errorf("%s must be whole", name)
	}
	sizes := map[string]*uint64{
		"memory_bytes": &l.MemoryBytes, "stdout_bytes": &l.StdoutBytes, "stderr_bytes": &l.StderrBytes,
		"output_ceiling_bytes": &l.OutputCeilingBytes, "scratch_bytes": &l.ScratchBytes, "artifact_bytes": &l.ArtifactBytes,
	}
	if field, ok := sizes[name]; ok {
		*field = uint64(amount)
		return nil
	}
	counts := map[string]*uint32{"processes": &l.Processes, "threads": &l.Threads}
	if field, ok := counts[name]; ok && amount <= math.MaxUint32 {
		*field = uint32(amount)
		return nil
	}
	return fmt.Errorf("unknown limit %.64q", name)
}

var grantForm = regexp.MustCompile(`^(?:import:(?:\*|[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)|builtin:(?:\*|[A-Za-z_][A-Za-z0-9_]*))$`)

func readGrants(term *ast.Term) ([]string, error) {
	var grants []string
	err := each(term, func(elem *ast.Term) error {
		grant, ok := elem.Value.(ast.String)
		if !ok || !grantForm.MatchString(string(grant)) {
			return fmt.Errorf("%.80s is not import:NAME, import:*, builtin:NAME or builtin:*", elem.Value)
		}
		grants = append(grants, string(grant))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("decision.grants: %w", err)
	}
	slices.Sort(grants)
	return grants, nil
}
