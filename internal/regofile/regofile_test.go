package regofile_test

import (
	"slices"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sluice-gateway/sluice/internal/regofile"
)

func TestWhatAModuleDeclares(t *testing.T) {
	for text, want := range map[string][]string{
		"package custom.a": nil,
		"# METADATA\n# custom: {language: calc}\npackage custom.a":                                                  {"calc"}, // a comment above a package is about the package
		"# METADATA\n# scope: subpackages\n# custom: {languages: [calc, 7, python]}\npackage custom.a":              {"calc", "python"},
		"# METADATA\n# scope: package\n# custom: {language: calc, languages: [python]}\npackage custom.a":           {"calc", "python"},
		"package custom.a\n# METADATA\n# custom: {language: calc}\nx := 1":                                          nil,
		"# METADATA\n# scope: package\n# custom: {language: [calc], languages: python, other: 1}\npackage custom.a": nil,
	} {
		m, err := ast.ParseModuleWithOpts("a.rego", text, ast.ParserOptions{ProcessAnnotation: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := regofile.Languages(m); !slices.Equal(got, want) {
			t.Errorf("%s: languages %q, want %q", text, got, want)
		}
		if got := regofile.Path(m); !slices.Equal(got, []string{"custom", "a"}) {
			t.Errorf("%s: path %q", text, got)
		}
		if regofile.Custom(m) == nil {
			t.Errorf("%s: nil", text)
		}
	}
}
