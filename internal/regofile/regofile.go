// Package regofile says what a Rego module declares of itself: the package that it
// is, and whom its METADATA says that it is for. Those who judge by a policy and
// those who compare it with another one must not read it differently.
//
// The package must never evaluate a rule.
package regofile

import (
	"maps"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Path is the package's path below data.
func Path(m *ast.Module) []string {
	path := make([]string, 0, len(m.Package.Path)-1)
	for _, term := range m.Package.Path[1:] {
		text, ok := term.Value.(ast.String)
		if !ok {
			return nil
		}
		path = append(path, string(text))
	}
	return path
}

// Custom is the custom part of a module's package METADATA; empty, not nil,
// where it has none.
func Custom(m *ast.Module) map[string]any {
	custom := map[string]any{}
	for _, a := range m.Annotations {
		if a.Scope == "package" || a.Scope == "subpackages" {
			maps.Copy(custom, a.Custom)
		}
	}
	return custom
}

// Languages are those that the METADATA of a custom package names: language, one
// name, or languages, a list.
func Languages(m *ast.Module) []string {
	custom := Custom(m)
	var languages []string
	if one, ok := custom["language"].(string); ok {
		languages = append(languages, one)
	}
	list, _ := custom["languages"].([]any)
	for _, item := range list {
		if name, ok := item.(string); ok {
			languages = append(languages, name)
		}
	}
	return languages
}
