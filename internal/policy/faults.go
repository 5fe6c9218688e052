package policy

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/open-policy-agent/opa/v1/ast"
)

// Fault is one thing that keeps a folder from being put in force.
type Fault struct {
	File    string `json:"file,omitempty"`   // as in the folder; empty: no one file
	Line    int    `json:"line,omitempty"`   // from 1; 0: the file as a whole
	Column  int    `json:"column,omitempty"` // from 1; 0: the line as a whole
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"` // what to do; empty: the message says it
}

// String is file:line:column: message, and the remedy on a line below.
func (f Fault) String() string {
	text := f.Message
	if place := f.Place(); place != "" {
		text = place + ": " + text
	}
	if f.Remedy != "" {
		text += "\n  " + f.Remedy
	}
	return text
}

// Place is file:line:column as far as they are known.
func (f Fault) Place() string {
	place := f.File
	for _, n := range []int{f.Line, f.Column} {
		if n == 0 || place == "" {
			break
		}
		place += ":" + strconv.Itoa(n)
	}
	return place
}

// LoadError is why a folder is not put in force.
type LoadError struct {
	Faults []Fault
	cause  error
}

// Error tells all faults, each with its place and what to do.
func (e *LoadError) Error() string {
	lines := make([]string, 0, len(e.Faults))
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// Unwrap is the error that the load ended with.
func (e *LoadError) Unwrap() error { return e.cause }

func loadError(err error) *LoadError {
	faults := faultsOf(err, "")
	slices.SortStableFunc(faults, func(a, b Fault) int {
		if (a.File == "") != (b.File == "") {
			return len(b.File) - len(a.File) // what is about no file comes last
		}
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return &LoadError{Faults: slices.Compact(faults), cause: err}
}

// faultsOf takes an error apart into single faults. what is said in front of a
// list of errors is said in front of each.
func faultsOf(err error, prefix string) []Fault {
	if whole := new(ast.Errors); errors.As(err, whole) {
		var faults []Fault
		for _, one := range *whole {
			faults = append(faults, ofRego(one))
		}
		return faults
	}
	if one := new(ast.Error); errors.As(err, &one) {
		return []Fault{ofRego(one)}
	}
	if list, ahead, ok := joined(err); ok {
		var faults []Fault
		for _, one := range list {
			faults = append(faults, faultsOf(one, prefix+ahead)...)
		}
		return faults
	}
	return []Fault{ofText(err, prefix)}
}

// joined finds the errors.Join within err, and what is said in front of it.
func joined(err error) (list []error, ahead string, ok bool) {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		several, is := inner.(interface{ Unwrap() []error })
		if !is {
			continue
		}
		texts := make([]string, 0, len(several.Unwrap()))
		for _, one := range several.Unwrap() {
			texts = append(texts, one.Error())
		}
		if text := strings.Join(texts, "\n"); text == inner.Error() {
			return several.Unwrap(), strings.TrimSuffix(err.Error(), text), true
		}
	}
	return nil, "", false
}

// ofRego is what OPA says of a module.
func ofRego(e *ast.Error) Fault {
	f := Fault{Message: e.Code + ": " + generated.ReplaceAllString(e.Message, "_")}
	if e.Location != nil {
		f.File, f.Line, f.Column = e.Location.File, e.Location.Row, e.Location.Col
	}
	if do, ok := e.Details.(suggestion); ok {
		f.Remedy = string(do)
	} else if e.Details != nil {
		f.Remedy = wanted(e.Details.Lines())
	}
	if f.Remedy == "" {
		f.Remedy = remedyOf(f.Message)
	}
	return f
}

// generated are the names that the compiler gives to what has none.
var generated = regexp.MustCompile(`__local[0-9]+__`)

// wanted reads from the details of a type error which fields there are, and
// names the one that was meant.
func wanted(details []string) string {
	have, want := "", ""
	for _, line := range details {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "have: "); ok {
			have = strings.Trim(text, `"`)
		}
		if text, ok := strings.CutPrefix(line, "want (one of): "); ok {
			want = text
		}
	}
	if want == "" {
		return ""
	}
	fields := quoted.FindAllString(want, -1)
	for i, field := range fields {
		fields[i] = strings.Trim(field, `"`)
	}
	if near := nearest(have, fields); near != "" {
		return fmt.Sprintf("there is no %q; did you mean %q? There are: %s", have, near, strings.Join(fields, ", "))
	}
	return fmt.Sprintf("there is no %q; there are: %s", have, strings.Join(fields, ", "))
}

var quoted = regexp.MustCompile(`"[^"]*"`)

// nearest is the one of names that is meant by a misspelt one; "": none is near.
func nearest(name string, names []string) string {
	best, least := "", len(name)/3+2
	for _, candidate := range names {
		if d := levenshtein.ComputeDistance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// placeForm is a place in front of a message.
var placeForm = regexp.MustCompile(`^((?:[^\s:/]+/)+[^\s:/]+|[^\s:/]+\.(?:rego|yaml|json))(?::(\d+))?(?::(\d+))?: `)

// ofText is any other error; a place at its beginning is read from it.
func ofText(err error, prefix string) Fault {
	text := err.Error()
	f := Fault{}
	if m := placeForm.FindStringSubmatch(text); m != nil {
		f.File, text = m[1], text[len(m[0]):]
		f.Line, _ = strconv.Atoi(m[2]) // digits, or none
		f.Column, _ = strconv.Atoi(m[3])
	}
	if at := new(lineError); f.Line == 0 && errors.As(err, &at) {
		f.Line = at.line
	}
	f.Message = prefix + text
	f.Remedy = remedyOf(f.Message)
	return f
}

// lineError is an error at a line of the file that is named in front of it.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

// remedy is what to do about messages that hold a text.
type remedy struct{ text, do string }

// remedies are looked through in this order.
func remedies() []remedy {
	return []remedy{
		{"rego_parse_error", "correct the syntax there; `opa fmt` shows the usual form"},
		{"rego_unsafe_var_error", "give the variable a value first: some x in …, or x := …"},
		{"rego_recursion_error", "a rule cannot lead back to itself: write it over the index, which is flat"},
		{"rego_type_error", "compare it with the schema in schemas/"},
		{"is not read by the entry point", "rules for a language are in package rules.LANGUAGE, your own in package custom.NAME"},
		{"names no language", "write above the package line: # METADATA, # scope: package, # custom: {language: python}"},
		{"which no plugin and no file in", "put the plugin of that language into the configuration and start it (gateway plugin enable), correct the language's name, or add its schema"},
		{"the decision never reads it", "name the set deny, use the list in a rule that is read, or take it out"},
		{"and not as deny", "name the set deny"},
		{"a deny rule is written", "write the object in the head, with exactly these four keys"},
		{"has no METADATA", "write above the rule: # METADATA, # title: …, # custom: {id: …, hint: …}"},
		{"name of one of OPA's builtins", "give the function another name"},
		{"METADATA with a text of", "a hint is a sentence or two; description has no bound"},
		{"a link that leads out", "copy the file into the folder, or make the link relative and within it"},
		{"profiles have more than", "put what is long into a rule: lists stand at the top of allowlist.rego"},
		{"decision log cannot be masked", "mask is a set of paths below /input and /result, or of {\"op\", \"path\", \"value\"}; docs/decision-log.md has examples"},
		{"hint that it was begun with", "say in its METADATA what to write instead, once the rule does what it is to do"},
		{"has METADATA of rule", "one id for the METADATA and the rule"},
		{"which is no rule", "correct the id under covers"},
		{"no list ", "correct the list's name: lists stand at the top of allowlist.rego"},
		{"no rule ", "correct the rule's id: gateway policy docs lists them"},
		{"is not one that profiles can change", "profiles can change a list whose rule asks taken_out(\"LIST\", …) and changes.LIST.add"},
		{"has the level", "write error, warn or off"},
		{"unknown limit", "the limits are: " + strings.Join(limitNames(), ", ")},
		{"it ended on", "set a later date, or remove the waiver"},
		{"it must be denied and is allowed", "the rule does not find what it is there for: look with gateway policy explain FILE"},
		{"it must be allowed and is denied", "the rule finds too much, or the program belongs in corpus/deny, or its first line needs other profiles (# profile: NAME)"},
		{"it must break rule", "look with gateway policy explain FILE why it does not; or correct the rule and line in the program's first line"},
		{"it does not parse", "correct the program: the corpus holds programs that parse, and a comment of its own language may hold the first line's words"},
		{"lists and objects when it is written out", "do not put a value into another twice, again and again: the compiler would take for ever"},
		{"compile the policy: it takes too much", "take back what was changed last: OPA's compiler does not come to an end with it"},
		{"before the gateway's memory had grown", "a rule builds too much: look keys up instead of building all pairs; gateway policy bench shows which rule it is"},
		{"it has not ended within", "a builtin is given too much at once: gateway policy explain FILE shows where"},
		{"no decision within", "a rule goes through too much: look keys up instead of scanning; gateway policy bench shows which rule it is"},
		{"eval_", "test the value before it is given to the builtin, such as is_string(x)"},
		{"decision is undefined", "main.rego must answer with one object for every input"},
		{"has no rule named decision", "main.rego defines decision"},
		{"no such profile", "correct the name after # profile:, or add the profile to " + profilesFile},
		{"document does not follow its schema", "build the plugin and the schema from one source"},
		{"its first line must be", "begin the program with # expect: RULE LINE, or another comment of its language (-- expect: RULE LINE), where it is to be denied, and without it where not"},
	}
}

// remedyOf is what to do about a message; empty: it says so itself.
func remedyOf(message string) string {
	for _, r := range remedies() {
		if strings.Contains(message, r.text) {
			return r.do
		}
	}
	return ""
}

// limitNames are the limits that a profile may lower; setLimit knows them.
func limitNames() []string {
	return []string{
		"artifact_bytes", "cpu_seconds", "memory_bytes", "output_ceiling_bytes", "processes", "scratch_bytes", "stderr_bytes",
		"stdout_bytes", "threads", "wall_seconds",
	}
}
