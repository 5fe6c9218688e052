package upstream

import (
	"fmt"
	"slices"
	"strings"
)

// alike is from which share of common entries on two sets are taken for the
// same one under another name.
const alike = 0.5

// binding says which sets of a file make up which rule list.
type binding struct {
	rules   *Rules
	from    map[string][]string
	missing []string // in sentences
	renamed []string // in sentences
}

// bind finds a file's rule lists among its sets: by the names that the pin
// gives, else by names that speak for themselves, else by what they hold. Where
// lenient, a set that is gone is looked for under another name.
func bind(f File, sets *Sets, lenient bool) binding {
	b := binding{rules: &Rules{}, from: map[string][]string{}}
	recorded := f.Rules
	if recorded == nil {
		recorded = &Rules{}
	}
	for _, list := range setLists() {
		names, explicit := f.From[list]
		if !explicit {
			names = guess(list, recorded.list(list), sets, f.From)
		}
		b.take(list, names, recorded.list(list), sets, lenient)
	}
	if b.rules.DeniedNodes == nil && len(sets.Guards.DeniedNodes) > 0 {
		b.rules.DeniedNodes = sets.Guards.DeniedNodes
	}
	b.rules.PrivateAttributes, b.rules.PrivateNames = sets.Guards.PrivateAttributes, sets.Guards.PrivateNames
	return b
}

// take joins the sets of those names into a list.
func (b *binding) take(list string, names, recorded []string, sets *Sets, lenient bool) {
	into := b.rules.field(list)
	for _, name := range names {
		set, ok := sets.find(name)
		if !ok {
			other, found := closest(recorded, sets)
			if !found || !lenient {
				b.missing = append(b.missing, fmt.Sprintf("%s: %s: %s", list, name, sets.why(name)))
				continue
			}
			b.renamed = append(b.renamed, fmt.Sprintf("%s: %s seems to be called %s now", list, name, other.Name))
			set = other
		}
		if !slices.Contains(b.from[list], set.Name) {
			b.from[list] = append(b.from[list], set.Name)
		}
		for _, e := range set.Entries {
			if !entryForm.MatchString(e) {
				b.missing = append(b.missing, fmt.Sprintf("%s: %s holds %.60q, which is no name", list, set.Name, e))
			}
		}
		*into = union(*into, set.Entries)
	}
	if len(names) == 0 && len(recorded) > 0 && (list != ListDeniedNodes || len(sets.Guards.DeniedNodes) == 0) {
		b.missing = append(b.missing, fmt.Sprintf("%s: no set is named so, or holds what is recorded", list))
	}
}

// guess names the sets that seem to make up a list.
func guess(list string, recorded []string, sets *Sets, from map[string][]string) []string {
	var named []string
	for _, set := range sets.Sets {
		taken := false
		for _, others := range from {
			taken = taken || slices.Contains(others, set.Name)
		}
		if taken || classify(set.Name) != list {
			continue
		}
		if recorded != nil && slices.Equal(set.Entries, recorded) {
			return []string{set.Name}
		}
		named = append(named, set.Name)
	}
	if len(named) == 0 {
		if set, ok := closest(recorded, sets); ok {
			named = []string{set.Name}
		}
	}
	return named
}

// closest is the set that has most in common with what is recorded.
func closest(recorded []string, sets *Sets) (Set, bool) {
	best, share := Set{}, 0.0
	for _, set := range sets.Sets {
		if s := similarity(recorded, set.Entries); s > share {
			best, share = set, s
		}
	}
	return best, share >= alike
}

// similarity is the share of entries that two sets have in common.
func similarity(a, b []string) float64 {
	all := len(union(a, b))
	if all == 0 {
		return 0
	}
	return float64(len(intersection(a, b))) / float64(all)
}

// classify says which list a set's name speaks of; "" is none.
func classify(name string) string {
	name = strings.ToLower(name)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
	}
	denies := has("ban", "block", "deny", "denied", "forbid", "disallow", "unsafe", "danger", "reject", "prohibit")
	switch {
	case denies && has("attr", "method"):
		return ListBannedAttributes
	case denies && has("node", "syntax", "stmt", "statement"):
		return ListDeniedNodes
	case denies && has("import", "module", "package"):
		return ListDeniedImports
	case denies && has("call", "builtin", "func", "name"):
		return ListBannedCalls
	case !denies && has("allow", "permit", "safe", "approved") && has("import", "module", "package"):
		return ListAllowedImports
	}
	return ""
}
