package policy

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// sections lists the members of input.ast that the compiled modules read,
// sorted; nil when a reference is bare or dynamic, so that any may be read.
// The compiler has resolved imports and local names by then.
func (c *compiled) sections() []string {
	found, all := []string{}, false
	for _, module := range c.compiler.Modules {
		ast.WalkRefs(module, func(ref ast.Ref) bool {
			name, whole, ok := sectionOf(ref)
			if all = all || whole; ok && !slices.Contains(found, name) {
				found = append(found, name)
			}
			return false
		})
	}
	if all {
		return nil
	}
	slices.Sort(found)
	return found
}

// sectionOf says which section ref reads, or that it may read any.
func sectionOf(ref ast.Ref) (name string, all, ok bool) {
	if len(ref) == 0 || !ref[0].Equal(ast.InputRootDocument) {
		return "", false, false
	}
	if len(ref) == 1 {
		return "", true, false
	}
	member, constant := ref[1].Value.(ast.String)
	switch {
	case !constant:
		return "", true, false
	case member != keyAST:
		return "", false, false
	case len(ref) == 2:
		return "", true, false
	}
	section, constant := ref[2].Value.(ast.String)
	return string(section), !constant, constant
}
