package policy

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sluice-gateway/sluice/internal/regofile"
)

// Packages of a policy: data.gateway, data.rules.<language>, data.custom.<name>;
// data.system.log masks the decision log.
const (
	entryPackage  = "gateway"
	rulesPackage  = "rules"
	customPackage = "custom"
	decisionRule  = "decision"
	denyRule      = "deny"
)

// module is one parsed file and the languages that it is for; every language
// when it is of the entry package.
type module struct {
	file      string
	parsed    *ast.Module
	entry     bool
	mask      bool // of the decision log
	languages []string
}

// parseModules parses every Rego file and says what each is for. A package
// that the entry point does not read is an error: its rules would never run.
func parseModules(files map[string]string, caps *ast.Capabilities) ([]module, error) {
	modules := make([]module, 0, len(files))
	for _, file := range sortedKeys(files) {
		parsed, err := ast.ParseModuleWithOpts(file, files[file], ast.ParserOptions{
			Capabilities: caps, ProcessAnnotation: true, RegoVersion: ast.RegoV1,
		})
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", file, err)
		}
		if err := hidesBuiltin(parsed); err != nil {
			return nil, err
		}
		m, err := classify(file, parsed)
		if err != nil {
			return nil, err
		}
		modules = append(modules, m)
	}
	return modules, nil
}

func classify(file string, parsed *ast.Module) (module, error) {
	m := module{file: file, parsed: parsed}
	path := regofile.Path(parsed)
	switch {
	case len(path) == 1 && path[0] == entryPackage:
		m.entry = true
		return m, nil
	case slices.Equal(path, []string{maskParent, maskPackage}):
		m.mask = true
		return m, nil
	case len(path) == 2 && path[0] == rulesPackage:
		m.languages = []string{path[1]}
		return m, nil
	case len(path) == 2 && path[0] == customPackage:
		languages, err := customLanguages(parsed)
		m.languages = languages
		return m, err
	}
	return m, located(parsed.Package.Location, "%s is not read by the entry point: packages are gateway, rules.<language>, custom.<name> and system.log", parsed.Package)
}

// customLanguages reads custom.language (one name) or custom.languages (a
// list) from a custom package's METADATA.
func customLanguages(m *ast.Module) ([]string, error) {
	languages := regofile.Languages(m)
	if len(languages) == 0 {
		return nil, located(m.Package.Location, "%s names no language: its METADATA (scope: package) needs custom: {language: …}", m.Package)
	}
	return languages, nil
}

// forLanguage picks the modules that judge language.
func forLanguage(modules []module, language string) map[string]*ast.Module {
	picked := map[string]*ast.Module{}
	for _, m := range modules {
		if m.entry || slices.Contains(m.languages, language) {
			picked[m.file] = m.parsed
		}
	}
	return picked
}

// located is an error that begins with file:line.
func located(at *ast.Location, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if at == nil {
		return fmt.Errorf("%s", text)
	}
	return fmt.Errorf("%s:%d: %s", at.File, at.Row, text)
}

// hidesBuiltin refuses a function that is named like one of OPA's: in all files of
// its package it would take that one's place, without a word.
func hidesBuiltin(m *ast.Module) error {
	for _, rule := range m.Rules {
		if len(rule.Head.Args) == 0 || len(rule.Head.Ref()) != 1 {
			continue
		}
		name := string(rule.Head.Name)
		for _, b := range ast.CapabilitiesForThisVersion().Builtins {
			if b.Name == name {
				return located(rule.Location, "the function %s has the name of one of OPA's builtins, which the package would no longer have", name)
			}
		}
	}
	return nil
}
