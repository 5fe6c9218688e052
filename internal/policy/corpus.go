package policy

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// example is one program of the corpus.
type example struct {
	name     string // file, and line where a file holds several
	language string
	code     []byte
	deny     bool
	expect   []expectation // of a program that must be denied
	profiles []string      // under which it is judged; none: all
}

// expectation is a rule that must be broken at a line.
type expectation struct {
	rule string
	line int
}

// The words of a first line.
const (
	wordExpect  = "expect:"
	wordProfile = "profile:"
)

// readExamples reads corpus/{deny,allow}/*.py, corpus/LANGUAGE/{deny,allow}/*
// and corpus/LANGUAGE/{deny,allow}.txt (one program a line).
func readExamples(files map[string][]byte) ([]example, error) {
	var examples []example
	var faults []error
	for _, name := range sortedKeys(files) {
		got, err := readCorpusFile(name, string(files[name]))
		examples = append(examples, got...)
		faults = append(faults, err)
	}
	return examples, errors.Join(faults...)
}

func readCorpusFile(name, text string) ([]example, error) {
	parts := strings.Split(name, "/")[1:]
	e := example{name: name, language: "python"}
	if parts[0] != "deny" && parts[0] != "allow" && len(parts) > 1 {
		e.language, parts = parts[0], parts[1:]
	}
	kind, isList := strings.CutSuffix(parts[0], ".txt")
	switch {
	case kind != "deny" && kind != "allow", isList == (len(parts) > 1):
		if path.Ext(name) == ".md" {
			return nil, nil
		}
		return nil, fmt.Errorf("%s is neither in a folder deny or allow nor a list of that name", name)
	case isList:
		return readList(e, kind == "deny", text)
	}
	e.deny, e.code = kind == "deny", []byte(text)
	first, rest, _ := strings.Cut(text, "\n")
	if _, ok := headingOf(first); ok && e.language != "python" && strings.HasPrefix(strings.TrimSpace(first), "#") {
		e.code = []byte("\n" + rest) // it may be no comment there
	}
	return []example{e}, e.heading(first)
}

// headingOf gives the words of a first line. The comment in which they stand is
// of whatever language the program is in: #, --, //, ;, %, /* … */, (* … *), {- … -}.
func headingOf(first string) (words string, ok bool) {
	text := strings.TrimSpace(first)
	for _, sign := range []string{"#", "--", "//", ";", "%", "/*", "(*", "{-"} {
		ok = ok || strings.HasPrefix(text, sign)
	}
	words = strings.Trim(text, "#-/;%*(){} ")
	for part := range strings.SplitSeq(words, ";") {
		if part = strings.TrimSpace(part); strings.HasPrefix(part, wordExpect) || strings.HasPrefix(part, wordProfile) {
			return words, ok
		}
	}
	return "", false
}

// readList reads one program a line; "# expect: …" may end a line, and a line
// that begins with # is a comment, or the heading of those below it.
func readList(base example, deny bool, text string) ([]example, error) {
	var examples []example
	var faults []error
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		e := base
		e.name, e.deny = fmt.Sprintf("%s:%d", base.name, i+1), deny
		switch comment, ok := strings.CutPrefix(line, "#"); {
		case line == "":
			continue
		case ok && strings.HasPrefix(strings.TrimSpace(comment), wordProfile):
			faults = append(faults, e.words(line))
			base.profiles = e.profiles
			continue
		case ok:
			continue
		}
		code, heading := line, ""
		if i := max(strings.LastIndex(line, "# "+wordExpect), strings.LastIndex(line, "# "+wordProfile)); i >= 0 {
			code, heading = line[:i], line[i:]
		}
		faults = append(faults, e.heading(heading))
		e.code = []byte(strings.TrimSpace(code))
		examples = append(examples, e)
	}
	return examples, errors.Join(faults...)
}

// heading reads a first line. A program that must be denied has expectations,
// and only such a program has.
func (e *example) heading(first string) error {
	if err := e.words(first); err != nil {
		return err
	}
	if e.deny == (len(e.expect) == 0) {
		return fmt.Errorf("%s: its first line must be # expect: rule line, …, if and only if it is to be denied", e.name)
	}
	return nil
}

// words reads "# expect: rule line, rule line; profile: name, name". Where the
// line is left out, any line will do.
func (e *example) words(comment string) error {
	text, ok := headingOf(comment)
	if !ok {
		return nil
	}
	for part := range strings.SplitSeq(text, ";") {
		part = strings.TrimSpace(part)
		if rest, ok := strings.CutPrefix(part, wordExpect); ok {
			if err := e.expects(rest); err != nil {
				return err
			}
		}
		if rest, ok := strings.CutPrefix(part, wordProfile); ok {
			e.profiles = fieldsOf(rest)
		}
	}
	return nil
}

func fieldsOf(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func (e *example) expects(list string) error {
	for _, item := range strings.Split(list, ",") {
		fields := strings.Fields(item)
		if len(fields) == 0 || len(fields) > 2 {
			return fmt.Errorf("%s: %q is not a rule and a line", e.name, item)
		}
		want := expectation{rule: fields[0]}
		if len(fields) == 2 {
			line, err := strconv.Atoi(fields[1])
			if err != nil || line < 1 {
				return fmt.Errorf("%s: %q is not a line", e.name, fields[1])
			}
			want.line = line
		}
		e.expect = append(e.expect, want)
	}
	return nil
}

// prove runs the corpus: every program that must be denied is denied by the
// rules it names at the lines it names, every other one is allowed. No rule may
// be one that was begun and not written.
func (b *builder) prove(ctx context.Context) error {
	if b.revision.admitsAll {
		return nil
	}
	examples, err := readExamples(b.folder.corpus)
	if err != nil {
		return fmt.Errorf("read corpus: %w", err)
	}
	for _, e := range examples {
		if _, ok := b.revision.languages[e.language]; !ok {
			return fmt.Errorf("%s: there are no rules for language %q", e.name, e.language)
		}
	}
	for _, deny := range []bool{true, false} {
		if !slices.ContainsFunc(examples, func(e example) bool { return e.deny == deny }) {
			return errors.New("the corpus needs programs to deny and programs to allow")
		}
	}
	if b.cfg.SkipCorpus {
		return nil
	}
	if err := b.written(); err != nil {
		return err
	}
	run := &corpusRun{b: b, fired: map[string]bool{}}
	examples = run.parsable(examples)
	first, left := examples, []example(nil)
	if b.tested() {
		first, left = firstPart(examples)
	}
	if err := run.all(ctx, first, b.cfg.Workers); err != nil {
		return err
	}
	if len(left) > 0 {
		b.revision.left = func(ctx context.Context) error { return run.all(ctx, left, 1) }
	} else {
		run.neverFired()
	}
	return nil
}

// corpusRun judges examples on a few goroutines.
type corpusRun struct {
	b *builder

	mu     sync.Mutex
	faults []error
	fired  map[string]bool // language and rule
	over   atomic.Bool     // one took too much: those that are left would take it too
}

// maxFaults bounds how many examples an error tells of.
const maxFaults = 20

func (c *corpusRun) all(ctx context.Context, examples []example, workers int) error {
	slots := make(chan struct{}, workers)
	var group sync.WaitGroup
	for _, e := range examples {
		slots <- struct{}{}
		if ctx.Err() != nil || c.over.Load() {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			c.b.revision.judged.Add(1)
			if err := c.one(ctx, e); err != nil {
				if errors.Is(err, errStopped) {
					c.over.Store(true)
				}
				c.mu.Lock()
				defer c.mu.Unlock()
				c.faults = append(c.faults, c.about(e, err))
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("run corpus: %w", err)
	}
	slices.SortFunc(c.faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	if more := len(c.faults) - maxFaults; more > 0 {
		c.faults = append(c.faults[:maxFaults], fmt.Errorf("and %d more", more))
	}
	if c.over.Load() {
		c.faults = append(c.faults, errors.New("the programs of the corpus that were left were not judged"))
	}
	return errors.Join(c.faults...)
}

// placedError is an error of an evaluation that was at a place.
type placedError struct {
	at  *ast.Location
	err error
}

func (e *placedError) Error() string { return e.err.Error() }
func (e *placedError) Unwrap() error { return e.err }

// about says which example an error is about. What kept the rules from a
// verdict is told at the rule, as far as that is known.
func (c *corpusRun) about(e example, err error) error {
	if !errors.Is(err, gateway.ErrPolicyFault) {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	at := c.b.compiled[e.language].decisionPlace()
	if rule := new(topdown.Error); errors.As(err, &rule) && rule.Location != nil {
		at = rule.Location
	}
	if stopped := new(placedError); errors.As(err, &stopped) && stopped.at != nil {
		at = stopped.at
	}
	return fmt.Errorf("%s:%d: no verdict on %s: %w", at.File, at.Row, e.name, err)
}

// parsable leaves out what no plugin parses, and warns of it.
func (c *corpusRun) parsable(examples []example) []example {
	left := map[string]int{}
	kept := slices.DeleteFunc(slices.Clone(examples), func(e example) bool {
		out := !c.b.described[e.language].plugin
		if out {
			left[e.language]++
		}
		return out
	})
	for _, id := range sortedKeys(left) {
		c.b.warn("no plugin parses %q: %d programs of the corpus are not judged", id, left[id])
	}
	return kept
}

// neverFired warns of rules that no program of the corpus breaks: a misspelt
// field in one of them would go unseen.
func (c *corpusRun) neverFired() {
	for _, id := range sortedKeys(c.b.revision.languages) {
		if !c.b.described[id].plugin {
			continue
		}
		for _, rule := range sortedKeys(c.b.revision.languages[id].rules) {
			if !c.fired[id+" "+rule] {
				c.b.warn("no program of the corpus breaks rule %q of language %q", rule, id)
			}
		}
	}
}

func (c *corpusRun) one(ctx context.Context, e example) error {
	l := c.b.revision.languages[e.language]
	tree, ended, err := c.b.trees.parse(ctx, c.b.cfg.Parse, e, l.sections)
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	if ended != nil {
		return fmt.Errorf("it does not parse: %v", ended.Status)
	}
	if err := l.follows(tree.JSON); err != nil {
		return fmt.Errorf("document does not follow its schema: %w", err)
	}
	profiles := e.profiles
	if len(profiles) == 0 {
		profiles = c.b.revision.profiles.names()
	}
	for _, name := range profiles {
		if err := c.judge(ctx, e, name, tree); err != nil {
			return fmt.Errorf("profile %q: %w", name, err)
		}
	}
	return nil
}

// corpusPatience is how many deadlines of a decision a program of the corpus may
// take: a start on a busy machine is no fault of the policy, one that hangs is.
const corpusPatience = 5

func (c *corpusRun) judge(ctx context.Context, e example, profile string, tree executor.Tree) error {
	q := gateway.Question{
		Language: e.language, Tool: e.language, Profile: profile, Caller: "corpus",
		Source: executor.Source{Language: e.language, Code: e.code}, Tree: tree,
	}
	within := corpusPatience * c.b.revision.host.deadline
	var d gateway.Decision
	err := apart(2*within, func() (err error) {
		d, err = c.b.revision.decide(ctx, q, c.b.cfg.Now(), within)
		return err
	})
	switch {
	case errors.Is(err, errLost):
		return fmt.Errorf("%w: %w", gateway.ErrPolicyFault, err)
	case errors.Is(err, errStopped):
		watch := newWatcher()
		_, _, _ = c.b.revision.watched(ctx, q, watch, c.b.revision.host.deadline) // for the place alone
		return &placedError{watch.at, err}
	case err != nil:
		return err
	}
	c.mu.Lock()
	for _, v := range d.Violations {
		c.fired[e.language+" "+v.Rule] = true
	}
	c.mu.Unlock()
	return e.compare(d)
}

// compare says how a decision differs from what the example demands.
func (e example) compare(d gateway.Decision) error {
	if !e.deny && !d.Allow {
		return &lineError{firstError(d.Violations), fmt.Errorf("it must be allowed and is denied: %s", places(d.Violations))}
	}
	if e.deny && d.Allow {
		return &lineError{e.expect[0].line, fmt.Errorf("it must be denied and is allowed (expected: %s)", e.expectations())}
	}
	for _, want := range e.expect {
		if !slices.ContainsFunc(d.Violations, want.met) {
			return &lineError{want.line, fmt.Errorf("it must break rule %q at line %d; it breaks %s", want.rule, want.line, places(d.Violations))}
		}
	}
	return nil
}

func firstError(violations []gateway.Violation) int {
	for _, v := range violations {
		if isError(v) {
			return v.Line
		}
	}
	return 0
}

func (e example) expectations() string {
	list := make([]string, 0, len(e.expect))
	for _, want := range e.expect {
		list = append(list, fmt.Sprintf("%s %d", want.rule, want.line))
	}
	return strings.Join(list, ", ")
}

func (want expectation) met(v gateway.Violation) bool {
	return v.Level == levelError && v.Rule == want.rule && (want.line == 0 || v.Line == want.line)
}

func places(violations []gateway.Violation) string {
	if len(violations) == 0 {
		return "none"
	}
	var list []string
	for _, v := range violations {
		list = append(list, fmt.Sprintf("%s %d (%s)", v.Rule, v.Line, v.Level))
	}
	return strings.Join(list, ", ")
}
