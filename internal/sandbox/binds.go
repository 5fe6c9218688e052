package sandbox

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// step is one thing to make in a new root. Directories above Path are made on
// the way.
type step struct {
	Kind   stepKind
	Path   string
	Target string // of a link
}

type stepKind string

const (
	stepLink stepKind = "link"
	stepDir  stepKind = "dir"  // bind a directory
	stepFile stepKind = "file" // bind anything else
)

// looker tells what is at a path, without following a link there.
type looker func(p string) (mode fs.FileMode, link string, err error)

// maxLinks bounds the symbolic links on the way to one path, as the kernel does.
const maxLinks = 40

// planBinds turns wanted paths into steps: each path's real place is bound, and
// each symbolic link met on the way is made again, so that the path works
// inside by the name given. What lies under a bound directory is left out.
func planBinds(paths []string, look looker) ([]step, error) {
	found := map[string]step{}
	for _, p := range paths {
		if err := follow(p, look, found); err != nil {
			return nil, err
		}
	}
	var steps []step
	for p, s := range found {
		if !covered(p, found) {
			steps = append(steps, s)
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return strings.Compare(a.Path, b.Path) })
	return steps, nil
}

func follow(wanted string, look looker, found map[string]step) error {
	at, rest, links := "/", parts(wanted), 0
	mode := fs.ModeDir
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		m, link, err := look(next)
		if err != nil {
			return fmt.Errorf("bind %q: %w", wanted, err)
		}
		if m&fs.ModeSymlink == 0 {
			at, mode = next, m
			continue
		}
		if links++; links > maxLinks {
			return fmt.Errorf("bind %q: more than %d symbolic links on the way", wanted, maxLinks)
		}
		found[next] = step{Kind: stepLink, Path: next, Target: link}
		if path.IsAbs(link) {
			at = "/"
		}
		rest = append(parts(link), rest...)
	}
	return bindAt(wanted, at, mode, found)
}

func bindAt(wanted, at string, mode fs.FileMode, found map[string]step) error {
	if at == "/" {
		return fmt.Errorf("bind %q: it is the root itself", wanted)
	}
	kind := stepFile
	if mode.IsDir() {
		kind = stepDir
	}
	found[at] = step{Kind: kind, Path: at}
	return nil
}

// covered reports whether a directory above p is bound, which shows p already.
func covered(p string, found map[string]step) bool {
	for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
		if found[dir].Kind == stepDir {
			return true
		}
	}
	return false
}

func parts(p string) []string {
	return strings.FieldsFunc(path.Clean("/"+p), func(r rune) bool { return r == '/' })
}
