// Package archtest keeps the shape of the project: which room may import what,
// how long a file may be, and where each technology may be named.
//
// Begin with the table in rooms.go; the tests read the source files themselves,
// so that nothing stale passes. A row may be widened in the commit that needs
// it, with the reason beside it. The package must never be imported by another.
package archtest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the project's module path.
const Module = "github.com/sluice-gateway/sluice"

// Import is one import of one file.
type Import struct {
	File string // slash-separated, from the project's root
	Path string
	Test bool // in a _test.go file
}

// Imports reads the import clauses of every Go file below root, apart from
// hidden folders, testdata and examples that are modules of their own.
func Imports(root string) ([]Import, error) {
	var all []Import
	err := walkGo(root, func(file string) error {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(file)), nil, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("parse %s: %w", file, err)
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("read an import of %s: %w", file, err)
			}
			all = append(all, Import{File: file, Path: name, Test: strings.HasSuffix(file, "_test.go")})
		}
		return nil
	})
	return all, err
}

func walkGo(root string, visit func(file string) error) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			hidden := strings.HasPrefix(base, ".") && name != root
			if hidden || base == "testdata" || base == "bin" || name != root && isModule(name) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(rel))
	})
}

// isModule says whether a folder is a module of its own.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// Breach says in a sentence why an import is against the table, or "".
func Breach(table []Room, imp Import) string {
	if standard(imp.Path) {
		return ""
	}
	dir := path.Dir(imp.File)
	room, ok := roomOf(table, dir)
	if !ok {
		return fmt.Sprintf("%s lies in no room of the table: add a row for %s to internal/archtest/rooms.go that says what the room is for and what it may import", imp.File, dir)
	}
	inner, own := strings.CutPrefix(imp.Path, Module+"/")
	switch {
	case own && room.mayOwn(dir, inner, imp.Test), !own && room.mayThird(imp.Path, imp.Test):
		return ""
	case own:
		return fmt.Sprintf("%s imports %s, but %s (%s) may import these rooms alone: %s", imp.File, inner, room.Dir, room.For, list(room.Own))
	}
	return fmt.Sprintf("%s imports %s, but in %s (%s) these modules alone may be named: %s", imp.File, imp.Path, room.Dir, room.For, list(room.Third))
}

func (r Room) mayOwn(dir, inner string, test bool) bool {
	return inner == dir || within(inner, r.Dir) || allowed(r.Own, inner) || test && allowed(r.TestOwn, inner)
}

func (r Room) mayThird(name string, test bool) bool {
	return allowed(r.Third, name) || test && (allowed(r.TestThird, name) || allowed(testTools(), name))
}

// roomOf finds the row with the longest folder that holds dir.
func roomOf(table []Room, dir string) (Room, bool) {
	best, ok := Room{}, false
	for _, r := range table {
		if within(dir, r.Dir) && (!ok || len(r.Dir) > len(best.Dir)) {
			best, ok = r, true
		}
	}
	return best, ok
}

func within(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }

// allowed reports whether name is one of list or lies below it; a row ending in
// "!" allows just that package.
func allowed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		if exact, ok := strings.CutSuffix(entry, "!"); ok {
			return name == exact
		}
		return within(name, entry)
	})
}

func standard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

func list(entries []string) string {
	if len(entries) == 0 {
		return "none (the standard library is always allowed)"
	}
	return strings.Join(entries, ", ")
}
