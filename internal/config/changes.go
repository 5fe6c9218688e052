package config

import (
	"cmp"
	"slices"
	"strings"
)

// Change is one key whose value differs between two configurations, as it would
// be written in the file; empty: the key is not there.
type Change struct{ Path, Before, After string }

// Changes lists the keys in which after differs from l, sorted by path. Keys
// never hold secrets, so they may be told.
func (l *Loaded) Changes(after *Loaded) []Change {
	was, is := textsOf(&l.Config), textsOf(&after.Config)
	var changes []Change
	for path, text := range was {
		if is[path] != text {
			changes = append(changes, Change{Path: path, Before: text, After: is[path]})
		}
	}
	for path, text := range is {
		if _, known := was[path]; !known {
			changes = append(changes, Change{Path: path, After: text})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// String is the change in a few words.
func (c Change) String() string {
	return c.Path + ": " + cmp.Or(c.Before, `""`) + " → " + cmp.Or(c.After, `""`)
}

func textsOf(c *Config) map[string]string {
	texts := map[string]string{}
	for _, leaf := range leavesOf(c) {
		texts[leaf.path] = formatValue(leaf.value)
	}
	return texts
}
