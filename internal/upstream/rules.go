package upstream

import (
	"maps"
	"slices"
)

// Names of the rule lists that an upstream may have.
const (
	ListAllowedImports   = "allowed_imports"
	ListDeniedImports    = "denied_imports"
	ListBannedCalls      = "banned_calls"
	ListBannedAttributes = "banned_attributes"
	ListDeniedNodes      = "denied_nodes"
	ListPrivateAttrs     = "private_attributes"
	ListPrivateNames     = "private_names"
)

// When a difference shows only under a condition.
const (
	WhenBound   = "bound"   // the program gives the name a meaning of its own
	WhenDefined = "defined" // the program defines an attribute of that name
)

// setLists are the lists that hold names; the others are yes or no.
func setLists() []string {
	return []string{ListAllowedImports, ListDeniedImports, ListBannedCalls, ListBannedAttributes, ListDeniedNodes}
}

func listNames() []string {
	return append(setLists(), ListPrivateAttrs, ListPrivateNames)
}

// ruleOf names the policy's rule that should refuse what a list refuses.
func ruleOf(list string) string {
	switch list {
	case ListAllowedImports, ListDeniedImports:
		return "blocked-import"
	case ListBannedCalls:
		return "blocked-name"
	case ListBannedAttributes:
		return "blocked-attribute"
	case ListDeniedNodes:
		return "blocked-syntax"
	}
	return "private-name"
}

// policyList names the policy's own list that an operator edits for a list of
// an upstream.
func policyList(list string) string {
	switch list {
	case ListAllowedImports, ListDeniedImports:
		return "allowed_imports"
	case ListBannedCalls:
		return "blocked_names"
	case ListBannedAttributes:
		return "blocked_attributes"
	case ListDeniedNodes:
		return "blocked_syntax"
	}
	return "plain_private"
}

// field is where the rules keep a list of names; nil: it holds none.
func (r *Rules) field(list string) *[]string {
	switch list {
	case ListAllowedImports:
		return &r.AllowedImports
	case ListDeniedImports:
		return &r.DeniedImports
	case ListBannedCalls:
		return &r.BannedCalls
	case ListBannedAttributes:
		return &r.BannedAttributes
	case ListDeniedNodes:
		return &r.DeniedNodes
	}
	return nil
}

func (r *Rules) list(name string) []string {
	if field := r.field(name); field != nil {
		return *field
	}
	return nil
}

func (r *Rules) flag(name string) bool {
	return name == ListPrivateAttrs && r.PrivateAttributes || name == ListPrivateNames && r.PrivateNames
}

// merged are the rules of all files of an upstream together; nil: none are
// known. A name is refused when any file refuses it, and an import allowed when
// every file that lists imports allows it.
func (u Upstream) merged() *Rules {
	var all *Rules
	for _, f := range u.Files {
		if f.Rules == nil {
			continue
		}
		if all == nil {
			all = &Rules{}
		}
		for _, list := range setLists() {
			into, from := all.field(list), f.Rules.list(list)
			if list == ListAllowedImports && *into != nil && from != nil {
				*into = intersection(*into, from)
				continue
			}
			*into = union(*into, from)
		}
		all.PrivateAttributes = all.PrivateAttributes || f.Rules.PrivateAttributes
		all.PrivateNames = all.PrivateNames || f.Rules.PrivateNames
	}
	return all
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

func union(a, b []string) []string {
	if a == nil && b == nil {
		return nil
	}
	all := setOf(a)
	for _, n := range b {
		all[n] = true
	}
	return slices.AppendSeq([]string{}, slices.Values(sorted(all)))
}

// minus is what is in a and not in b, sorted.
func minus(a, b []string) []string {
	left := setOf(a)
	for _, n := range b {
		delete(left, n)
	}
	return sorted(left)
}

func intersection(a, b []string) []string {
	both := map[string]bool{}
	in := setOf(b)
	for _, n := range a {
		if in[n] {
			both[n] = true
		}
	}
	return slices.AppendSeq([]string{}, slices.Values(sorted(both)))
}
