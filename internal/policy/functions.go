package policy

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// suggestion is what to do about an error of the compiler, as its details.
type suggestion string

// Lines implements ast.ErrorDetails.
func (s suggestion) Lines() []string { return []string{string(s)} }

// suggestFunctions says of each function that is not there whether it is one
// that rules may not use, or which one may be meant.
func suggestFunctions(faults ast.Errors, modules map[string]*ast.Module, caps *ast.Capabilities) {
	for _, fault := range faults {
		name, ok := strings.CutPrefix(fault.Message, "undefined function ")
		if !ok || fault.Details != nil {
			continue
		}
		fault.Details = suggestion(aboutFunction(name, fault.Location, modules, caps))
	}
}

func aboutFunction(name string, at *ast.Location, modules map[string]*ast.Module, caps *ast.Capabilities) string {
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		if b.Name == name && name == ast.ReachablePathsBuiltin.Name {
			return name + " takes exponential time and cannot be stopped: use graph.reachable"
		}
		if b.Name == name {
			return name + " looks at the world or the clock: a rule decides from input and data alone"
		}
	}
	var known []string
	for _, b := range caps.Builtins {
		if b.Infix == "" && b.Name != ast.Print.Name && !strings.HasPrefix(b.Name, "internal.") {
			known = append(known, b.Name)
		}
	}
	if at != nil && modules[at.File] != nil {
		known = append(known, functionsBeside(modules[at.File], modules)...)
	}
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("there is no function %s; did you mean %s?", name, near)
	}
	return "there is no function " + name + ", in this package or among OPA's builtins"
}

// functionsBeside are the functions of a module's package.
func functionsBeside(m *ast.Module, modules map[string]*ast.Module) (names []string) {
	for _, other := range modules {
		if !other.Package.Equal(m.Package) {
			continue
		}
		for _, rule := range other.Rules {
			if len(rule.Head.Args) > 0 {
				names = append(names, string(rule.Head.Name))
			}
		}
	}
	return names
}
