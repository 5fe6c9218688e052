package targets

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Program is one thing to run on every target.
type Program struct {
	Name       string
	Code       string // Python
	Want       string // what it prints
	Figure     bool   // it shows a figure
	Refused    bool   // a policy is to refuse it
	Expression string // for the calculator; Code does the same in Python
}

// programOrder is the order of the tables.
var programOrder = [...]string{"factor", "factorint", "calculus", "linalg", "figure", "mixed", "refused", "cell", "calculator"}

// Programs reads NAME.py and NAME.txt (what it prints) of every program.
func Programs(files fs.FS) ([]Program, error) {
	all := make([]Program, 0, len(programOrder))
	for _, name := range programOrder {
		code, err := fs.ReadFile(files, name+".py")
		if err != nil {
			return nil, fmt.Errorf("read a program: %w", err)
		}
		want, err := fs.ReadFile(files, name+".txt")
		if err != nil {
			return nil, fmt.Errorf("read what a program prints: %w", err)
		}
		p := Program{Name: name, Code: string(code), Want: string(want), Figure: name == "figure", Refused: name == "refused"}
		if name == "calculator" {
			p.Expression = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(p.Code), "print("), ")")
		}
		all = append(all, p)
	}
	return all, nil
}

// Choose keeps the named programs, in their order; no names are all.
func Choose(all []Program, names []string) ([]Program, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []Program
	for _, p := range all {
		for _, name := range names {
			if p.Name == name {
				chosen = append(chosen, p)
			}
		}
	}
	if len(chosen) != len(names) {
		return nil, errors.New("choose programs: there are " + strings.Join(programOrder[:], ", "))
	}
	return chosen, nil
}

// withoutBrowser is the program for an interpreter that would open a browser to
// show a figure: the figure is written as JSON and thrown away.
func (p Program) withoutBrowser() string {
	return strings.ReplaceAll(p.Code, "fig.show()", "fig.to_json()")
}
