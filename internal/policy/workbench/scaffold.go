package workbench

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sluice-gateway/sluice/internal/policy"
)

// File is a file of a policy folder that is to be written.
type File struct {
	Name string
	Text string
}

// Scaffold is what a new rule consists of.
type Scaffold struct {
	Language string   // the language that it judges
	Rule     string   // its id: words of small letters and digits, with - between
	Refuses  []string // names, or dotted names of a library; empty: one that is to be replaced
}

var (
	ruleForm    = regexp.MustCompile(`^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`)
	subjectForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$`)
)

// Files are the rule with its METADATA, its test, a program that it refuses and
// one that it lets pass. The names are of files that folder does not have; the
// rule passes its test and its corpus as it stands. It has yet to be given its
// hint: until then no folder that holds it is put in force, so that a rule which
// is being written does not judge the programs of a gateway that serves.
func (s Scaffold) Files(folder fs.FS) ([]File, error) {
	if err := s.check(folder); err != nil {
		return nil, err
	}
	if len(s.Refuses) == 0 {
		s.Refuses = []string{s.example()}
	}
	base := strings.ReplaceAll(s.Rule, "-", "_")
	rule, test := nameTemplate, nameTestTemplate
	if s.dotted() {
		rule, test = pathTemplate, pathTestTemplate
	}
	files := []File{
		{"custom/" + base + ".rego", s.fill(rule)},
		{"custom/" + base + testSuffix, s.fill(test)},
		{s.corpusName("deny"), s.refused()},
		{s.corpusName("allow"), s.passing()},
	}
	for _, f := range files {
		if _, err := fs.Stat(folder, f.Name); err == nil {
			return nil, fmt.Errorf("%s is there already", f.Name)
		}
	}
	return files, nil
}

func (s Scaffold) check(folder fs.FS) error {
	if !ruleForm.MatchString(s.Rule) {
		return fmt.Errorf("rule %q: an id is words of small letters and digits with - between, such as no-numpy-load", s.Rule)
	}
	for _, name := range s.Refuses {
		if !subjectForm.MatchString(name) {
			return fmt.Errorf("%q is neither a name nor a dotted name of a library", name)
		}
		if dotted := strings.Contains(name, "."); dotted && s.Language != python {
			return fmt.Errorf("%q: in language %q a rule begins with a plain name", name, s.Language)
		} else if dotted != strings.Contains(s.Refuses[0], ".") {
			return fmt.Errorf("%q beside %q: plain names and dotted names of libraries are two rules", name, s.Refuses[0])
		}
	}
	return s.fits(folder)
}

// fits says whether the folder judges the language and has no such rule yet.
func (s Scaffold) fits(folder fs.FS) error {
	modules, err := parseAll(folder)
	if err != nil {
		return err
	}
	var languages []string
	for _, file := range sortedKeys(modules) {
		m := modules[file]
		if ref := m.Package.Path; len(ref) == 3 && ref[1].Value.Compare(ast.String("rules")) == 0 && !strings.HasSuffix(file, testSuffix) {
			languages = append(languages, strings.Trim(ref[2].String(), `"`))
		}
		for _, a := range m.Annotations {
			if a.Custom["id"] == s.Rule {
				return fmt.Errorf("rule %q is there already: %s:%d", s.Rule, file, a.Location.Row)
			}
		}
	}
	slices.Sort(languages)
	languages = slices.Compact(languages)
	if !slices.Contains(languages, s.Language) {
		return fmt.Errorf("the folder has no rules for language %q; it has some for: %s", s.Language, strings.Join(languages, ", "))
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// python is the language in which names of libraries are followed.
const python = "python"

func (s Scaffold) example() string {
	if s.Language == python {
		return "numpy.example"
	}
	return "example"
}

// dotted says whether parts of a library are refused, and not plain names.
func (s Scaffold) dotted() bool { return strings.Contains(s.Refuses[0], ".") }

func (s Scaffold) fill(template string) string {
	quoted := make([]string, 0, len(s.Refuses))
	for _, name := range s.Refuses {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	module, last := s.Refuses[0], s.Refuses[0]
	if i := strings.LastIndexByte(last, '.'); i >= 0 {
		module, last = last[:i], last[i+1:]
	}
	return strings.NewReplacer(
		"LANGUAGE", s.Language, "RULE", s.Rule, "PACKAGE", strings.ReplaceAll(s.Rule, "-", "_"), "MODULE", module, "LAST", last,
		"LIST", strings.Join(quoted, ", "), "FIRST", s.Refuses[0], "NAMES", strings.Join(s.Refuses, ", "), "HINT", policy.UnwrittenHint,
	).Replace(template)
}

const headTemplate = `# METADATA
# scope: package
# custom:
#   language: LANGUAGE
package custom.PACKAGE

# What the rule looks for in the program.
refused := {LIST}

# METADATA
# title: Use of NAMES
# description: Say here why it is refused.
# custom:
#   id: RULE
#   hint: "HINT"
`

const nameTemplate = headTemplate + `deny contains {"rule": "RULE", "msg": msg, "at": at, "subject": name} if {
	some name in refused
	some at in input.ast.names[name]
	msg := sprintf("%s is blocked", [name])
}
`

// pathTemplate finds a part of a library by each of the ways in which a program
// can come to it.
const pathTemplate = headTemplate + `deny contains {"rule": "RULE", "msg": msg, "at": at, "subject": name} if {
	some [name, at] in uses
	msg := sprintf("%s is blocked", [name])
}

# By its path, with renamed imports followed.
uses contains [name, at] if {
	some name in refused
	some at in input.ast.paths[name]
}

# By its last word alone, where all of its module is imported by *.
uses contains [name, at] if {
	some name, [module, last] in parts
	module in input.ast.aliases["*"]
	not own(last)
	some at in input.ast.names[last]
}

# As an attribute of anything, where the module is handed on as a value.
uses contains [name, at] if {
	some name, [module, last] in parts
	input.ast.values[module]
	some at in input.ast.attributes[last]
}

own(name) if "firm" in input.ast.bound[name]

parts[name] := [module, last] if {
	some name in refused
	last := regex.replace(name, ` + "`^.*\\.`" + `, "")
	module := trim_suffix(name, concat("", [".", last]))
}
`

const nameTestTemplate = `package custom.PACKAGE_test

import data.custom.PACKAGE

document(names) := {"ast": {"names": {name: ["1:0:1:4"] | some name in names}}}

test_refused if {
	some finding in PACKAGE.deny with input as document(["FIRST"])
	finding.rule == "RULE"
	finding.subject == "FIRST"
	finding.at == "1:0:1:4"
}

test_others_pass if count(PACKAGE.deny) == 0 with input as document(["another"])
`

const pathTestTemplate = `package custom.PACKAGE_test

import data.custom.PACKAGE

refused(ast) if {
	some finding in PACKAGE.deny with input as {"ast": ast}
	finding.rule == "RULE"
	finding.subject == "FIRST"
	finding.at == "1:0:1:4"
}

test_by_its_path if refused({"paths": {"FIRST": ["1:0:1:4"]}})

test_after_a_star_import if refused({"aliases": {"*": ["MODULE"]}, "names": {"LAST": ["1:0:1:4"]}})

test_of_a_module_that_is_handed_on if refused({"values": {"MODULE": ["2:0:2:5"]}, "attributes": {"LAST": ["1:0:1:4"]}})

test_own_function_passes if not refused({
	"aliases": {"*": ["MODULE"]},
	"bound": {"LAST": ["def", "firm"]},
	"names": {"LAST": ["1:0:1:4"]},
})

test_others_pass if not refused({"paths": {"another": ["1:0:1:4"]}})
`

func (s Scaffold) corpusName(kind string) string {
	if s.Language == python {
		return path.Join("corpus", kind, s.Rule+".py")
	}
	return path.Join("corpus", s.Language, kind, s.Rule+".txt")
}

// refused is a program that names all that is refused, and says so in its
// heading.
func (s Scaffold) refused() string {
	names := s.Refuses
	if s.Language != python {
		names = names[:1] // a program of one expression
	}
	var imports, calls []string
	for _, name := range names {
		if root, _, dotted := strings.Cut(name, "."); dotted && !slices.Contains(imports, "import "+root) {
			imports = append(imports, "import "+root)
		}
		calls = append(calls, name+"(1)")
	}
	lines := imports
	if len(imports) > 0 {
		lines = append(lines, "")
	}
	var expected []string
	for i := range calls {
		expected = append(expected, fmt.Sprintf("%s %d", s.Rule, len(lines)+i+2))
	}
	heading := "# expect: " + strings.Join(expected, ", ")
	return strings.Join(slices.Concat([]string{heading}, lines, calls), "\n") + "\n"
}

// passing is a program that is to be replaced by one that is near to what is
// refused and passes.
func (s Scaffold) passing() string {
	switch s.Language {
	case python:
	case "calc":
		return "1\n"
	default:
		return "print(1)\n"
	}
	return "# Put a program here that is near to what is refused and must pass.\nprint(1)\n"
}
