package policy

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Program is one program of a policy's corpus.
type Program struct {
	Name     string // its file, and the line where a file holds several
	Language string
	Code     []byte
	Deny     bool     // the corpus wants it refused
	Profiles []string // under which it is judged; empty: all of the policy's
}

// Programs lists the corpus of a policy folder in the order of its files.
func Programs(folder fs.FS) ([]Program, error) {
	read, err := readFolder(folder)
	if err != nil {
		return nil, err
	}
	examples, err := readExamples(read.corpus)
	if err != nil {
		return nil, fmt.Errorf("read corpus: %w", err)
	}
	programs := make([]Program, 0, len(examples))
	for _, e := range examples {
		programs = append(programs, Program{Name: e.name, Language: e.language, Code: e.code, Deny: e.deny, Profiles: slices.Clone(e.profiles)})
	}
	return programs, nil
}

// ReadFile reads a file of a policy folder as a load does: a regular one, of a
// bounded size.
func ReadFile(folder fs.FS, name string) ([]byte, error) {
	body, err := readFile(folder, name)
	if err != nil {
		return nil, about(name, err)
	}
	return body, nil
}

// ProfilesOf lists the profiles of a policy that a Store gave, sorted.
func ProfilesOf(p gateway.Policy) []string {
	if r, ok := p.(*revision); ok {
		return r.profiles.names()
	}
	return nil
}

// Capabilities is what rules may use: OPA's builtins without those that look at
// the world or the clock.
func Capabilities() *ast.Capabilities { return capabilities() }
