package workbench

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
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
// rule passes its test and its corpus as it stands.
func (s Scaffold) Files(folder fs.FS) ([]File, error) {
	if err := s.check(folder); err != nil {
		return nil, err
	}
	if len(s.Refuses) == 0 {
		s.Refuses = []string{s.example()}
	}
	base := strings.ReplaceAll(s.Rule, "-", "_")
	files := []File{
		{"custom/" + base + ".rego", s.fill(ruleTemplate)},
		{"custom/" + base + testSuffix, s.fill(testTemplate)},
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

// section is where the document has the refused names.
func (s Scaffold) section() string {
	if slices.ContainsFunc(s.Refuses, func(name string) bool { return strings.Contains(name, ".") }) {
		return "paths"
	}
	return "names"
}

func (s Scaffold) fill(template string) string {
	quoted := make([]string, 0, len(s.Refuses))
	for _, name := range s.Refuses {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return strings.NewReplacer(
		"LANGUAGE", s.Language, "RULE", s.Rule, "PACKAGE", strings.ReplaceAll(s.Rule, "-", "_"), "SECTION", s.section(),
		"LIST", strings.Join(quoted, ", "), "FIRST", s.Refuses[0], "NAMES", strings.Join(s.Refuses, ", "),
	).Replace(template)
}

const ruleTemplate = `# METADATA
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
#   hint: "Say here what to write instead: whoever wrote the program reads it before the next try."
deny contains {"rule": "RULE", "msg": msg, "at": at, "subject": name} if {
	some name in refused
	some at in input.ast.SECTION[name]
	msg := sprintf("%s is blocked", [name])
}
`

const testTemplate = `package custom.PACKAGE_test

import data.custom.PACKAGE

document(names) := {"ast": {"SECTION": {name: ["1:0:1:4"] | some name in names}}}

test_refused if {
	some finding in PACKAGE.deny with input as document(["FIRST"])
	finding.rule == "RULE"
	finding.subject == "FIRST"
	finding.at == "1:0:1:4"
}

test_others_pass if count(PACKAGE.deny) == 0 with input as document(["another"])
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
