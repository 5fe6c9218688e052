package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Explanation is a decision and how the rules came to it.
type Explanation struct {
	Decision gateway.Decision // Violations hold those too that others at their place cover
	Rules    []RuleRun        // every rule of the language: those with findings first, then by id
}

// RuleRun is what one rule did for one decision.
type RuleRun struct {
	Rule     Rule
	Level    string   // in the profile: error, warn or off
	Entered  int      // how often one of its definitions was tried; 0: the entry point never came to it
	Sections []string // of the document that it can read; nil: all
	Looked   []Lookup // keys that it looked up in them
	Findings []Finding
}

// Lookup is one key that a rule, or what it leads to, looked up in the document.
type Lookup struct {
	Path  string // input.ast.names["eval"]; [*] where it went through all keys
	Found bool   // something is there
}

// Finding is a violation and the list entries that speak for its subject.
type Finding struct {
	gateway.Violation
	Covered string // the rule whose finding at the same place says more; empty: none
	Entries []ListEntry
	Absent  []string // where there is no entry: the lists in which the subject is not
}

// ListEntry is a text in a list of the policy.
type ListEntry struct {
	List string
	Text string
	File string // empty: a profile added it
	Line int
}

// maxLookups bounds what is told of one rule's look-ups.
const maxLookups = 64

// Explain decides as Policy.Decide does and watches the rules meanwhile, which
// takes several times as long.
func (s *Store) Explain(ctx context.Context, q gateway.Question) (Explanation, error) {
	r := s.current.Load()
	if r == nil {
		return Explanation{}, gateway.ErrNoPolicy
	}
	watch := newWatcher()
	d, input, err := r.watched(ctx, q, watch, corpusPatience*r.host.deadline)
	if errors.Is(err, errStopped) {
		return Explanation{}, fmt.Errorf("%w: it was %s", err, watch.place())
	}
	if err != nil {
		return Explanation{}, err
	}
	l := r.languages[q.Language]
	out := Explanation{Decision: d}
	readings := l.source.readings(l.rules)
	for _, id := range sortedKeys(readings) {
		out.Rules = append(out.Rules, r.ruleRun(readings[id], watch, input, d))
	}
	slices.SortStableFunc(out.Rules, func(a, b RuleRun) int {
		return min(len(b.Findings), 1) - min(len(a.Findings), 1)
	})
	return out, nil
}

// watched is decide with a tracer, and the input that the rules saw.
func (r *revision) watched(ctx context.Context, q gateway.Question, tracer topdown.QueryTracer, within time.Duration) (gateway.Decision, ast.Value, error) {
	l, ok := r.languages[q.Language]
	if !ok {
		return gateway.Decision{}, nil, noRules(q.Language)
	}
	var err error
	if q.Profile, err = r.profile(q.Profile); err != nil {
		return gateway.Decision{}, nil, err
	}
	doc, err := l.input.document(q)
	if err != nil {
		return gateway.Decision{}, nil, err
	}
	value, err := ast.InterfaceToValue(doc)
	if err != nil {
		return gateway.Decision{}, nil, fmt.Errorf("%w: document: %w", gateway.ErrPluginFault, err)
	}
	stop := newStopper(ctx, within, r.host.growth)
	defer stop.close()
	results, err := l.query.Eval(ctx, rego.EvalParsedInput(value), rego.EvalQueryTracer(tracer), rego.EvalExternalCancel(stop.cancel))
	if stop.cancel.Cancelled() && ctx.Err() == nil {
		return gateway.Decision{}, nil, fmt.Errorf("%w: %w", gateway.ErrPolicyFault, stop.why())
	}
	if err != nil {
		return gateway.Decision{}, nil, fmt.Errorf("%w: %w", gateway.ErrPolicyFault, err)
	}
	if len(results) != 1 || len(results[0].Expressions) != 1 {
		return gateway.Decision{}, nil, fmt.Errorf("%w: decision is undefined", gateway.ErrPolicyFault)
	}
	term, ok := results[0].Expressions[0].Value.(*ast.Term)
	if !ok {
		return gateway.Decision{}, nil, fmt.Errorf("%w: decision is no value", gateway.ErrPolicyFault)
	}
	d, err := readDecision(term, l.rules)
	if err != nil {
		return gateway.Decision{}, nil, fmt.Errorf("%w: %w", gateway.ErrPolicyFault, err)
	}
	d.ID, d.Profile, d.Revision = r.host.newID(), q.Profile, r.name
	return d, value, nil
}

func (r *revision) ruleRun(reads *reading, watch *watcher, input ast.Value, d gateway.Decision) RuleRun {
	run := RuleRun{Rule: reads.rule, Level: levelError, Sections: reads.sections}
	if level, ok := r.profiles.set.Whole[d.Profile].Rules[reads.rule.ID]; ok {
		run.Level = level
	}
	for _, def := range reads.defs {
		run.Entered += watch.entered[def]
	}
	run.Looked = watch.lookups(reads.reached, input)
	for _, v := range d.Violations {
		if v.Rule == reads.rule.ID {
			run.Findings = append(run.Findings, r.finding(reads, v, d))
		}
	}
	return run
}

func (r *revision) finding(reads *reading, v gateway.Violation, d gateway.Decision) Finding {
	f := Finding{Violation: v}
	for _, e := range reads.matching(v.Subject) {
		f.Entries = append(f.Entries, ListEntry{List: e.list, Text: e.text, File: e.at.File, Line: e.at.Row})
	}
	lists := r.profiles.set.Whole[d.Profile].Lists
	for _, name := range sortedKeys(lists) {
		if slices.Contains(lists[name].Add, v.Subject) {
			f.Entries = append(f.Entries, ListEntry{List: name, Text: v.Subject})
		}
	}
	if len(f.Entries) == 0 {
		f.Absent = sortedKeys(reads.lists())
	}
	for _, by := range d.Violations {
		if rule := r.ruleOf(by.Rule); samePlace(v, by) && slices.Contains(rule.Covers, v.Rule) && (isError(by) || !isError(v)) {
			f.Covered = by.Rule
		}
	}
	return f
}

func (r *revision) ruleOf(id string) Rule {
	for _, l := range r.languages {
		if rule, ok := l.rules[id]; ok {
			return rule
		}
	}
	return Rule{}
}

// watcher notes which rules are entered and which parts of the input each of
// them names, with the values that its variables have at that moment.
type watcher struct {
	rules   map[uint64]*ast.Rule // by query
	entered map[*ast.Rule]int
	looked  map[*ast.Rule]map[string]bool
	at      *ast.Location // of the last step outside of the entry point; nil: there was none
}

func newWatcher() *watcher {
	return &watcher{rules: map[uint64]*ast.Rule{}, entered: map[*ast.Rule]int{}, looked: map[*ast.Rule]map[string]bool{}}
}

func (w *watcher) place() string {
	if w.at == nil {
		return "in the entry point"
	}
	return fmt.Sprintf("at %s:%d", w.at.File, w.at.Row)
}

// Enabled implements topdown.QueryTracer.
func (*watcher) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (*watcher) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer.
func (w *watcher) TraceEvent(event topdown.Event) {
	if at := event.Location; at != nil && at.File != "" && at.File != entryFile {
		w.at = at
	}
	switch node := event.Node.(type) {
	case *ast.Rule:
		if event.Op == topdown.EnterOp {
			w.rules[event.QueryID] = node
			w.entered[node]++
		}
	case ast.Body:
		if event.Op == topdown.EnterOp {
			w.rules[event.QueryID] = w.rules[event.ParentID]
		}
	case *ast.Expr:
		if rule := w.rules[event.QueryID]; rule != nil && event.Op == topdown.EvalOp {
			w.look(rule, node, &event)
		}
	}
}

func (w *watcher) look(rule *ast.Rule, expr *ast.Expr, event *topdown.Event) {
	ast.WalkRefs(expr, func(ref ast.Ref) bool {
		if name, _, ok := sectionOf(ref); ok && name != "found" {
			seen := w.looked[rule]
			if seen == nil {
				seen = map[string]bool{}
				w.looked[rule] = seen
			}
			if len(seen) < maxLookups {
				seen[pathOf(ref, event)] = true
			}
		}
		return false
	})
}

// pathOf writes a reference with the values of its variables, as far as they
// are plain; what is not bound yet goes through all keys.
func pathOf(ref ast.Ref, event *topdown.Event) string {
	var out strings.Builder
	out.WriteString("input.ast")
	for i, part := range ref[2:] {
		value := event.Plug(part).Value
		text, isText := value.(ast.String)
		switch {
		case isText && i == 0:
			out.WriteString("." + string(text))
		case isText:
			fmt.Fprintf(&out, "[%q]", string(text))
		default:
			out.WriteString("[*]")
			return out.String()
		}
	}
	return out.String()
}

// lookups gathers what the reached rules looked up, sorted, with whether it is
// there.
func (w *watcher) lookups(reached map[*ast.Rule]bool, input ast.Value) []Lookup {
	seen := map[string]bool{}
	for rule := range reached {
		for path := range w.looked[rule] {
			seen[path] = true
		}
	}
	var found []Lookup
	for _, path := range sortedKeys(seen) {
		found = append(found, Lookup{Path: path, Found: there(path, input)})
	}
	return found
}

// there says whether input has something under a path as pathOf writes it.
func there(path string, input ast.Value) bool {
	path, all := strings.CutSuffix(path, "[*]")
	ref, err := ast.ParseRef(path)
	if err != nil {
		return false
	}
	value, err := input.Find(ref[1:])
	if err != nil {
		return false
	}
	if object, ok := value.(ast.Object); ok && all {
		return object.Len() > 0
	}
	return true
}
