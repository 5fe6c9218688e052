package upstream

import (
	"fmt"
	"slices"
	"strings"
)

// compare lists in what a profile differs from an upstream's rules.
func compare(u Upstream, profile string, rules *Rules, s *stance) []Finding {
	c := comparison{u: u, profile: profile, rules: rules, stance: s}
	c.imports()
	c.calls()
	c.attributes()
	c.nodes()
	c.private()
	return c.found
}

type comparison struct {
	u       Upstream
	profile string
	rules   *Rules
	stance  *stance
	found   []Finding
}

func (c *comparison) refused(probe, subject string) bool { return c.stance.refused[probe][subject] }

func (c *comparison) looser(list, entry, when, format string, args ...any) {
	c.found = append(c.found, Finding{
		Level: LevelError, Kind: KindLooser, Upstream: c.u.Name, Profile: c.profile, List: list, Entry: entry, When: when, Rule: ruleOf(list),
		Message: fmt.Sprintf(format, args...),
	})
}

func (c *comparison) stricter(list, entry, format string, args ...any) {
	c.found = append(c.found, Finding{
		Level: LevelNote, Kind: KindStricter, Upstream: c.u.Name, Profile: c.profile, List: list, Entry: entry, Rule: ruleOf(list),
		Message: fmt.Sprintf(format, args...),
	})
}

func (c *comparison) imports() {
	open := !c.refused(probeImport, canaryModule)
	if open && (c.rules.AllowedImports != nil || len(c.rules.DeniedImports) > 0) {
		c.looser(ListAllowedImports, "*", "", "profile %s refuses no import; %s allows a list", c.profile, c.u.Name)
		return
	}
	if c.rules.AllowedImports != nil {
		c.allowed(setOf(c.rules.AllowedImports))
	}
	for _, root := range c.rules.DeniedImports {
		if !c.refused(probeImport, root) {
			c.looser(ListDeniedImports, root, "", "profile %s allows the import of %s, which %s refuses", c.profile, root, c.u.Name)
		}
	}
}

func (c *comparison) allowed(roots map[string]bool) {
	for _, module := range c.stance.asked {
		if moduleForm.MatchString(module) && !roots[rootOf(module)] && !roots[module] && !c.refused(probeImport, module) {
			c.looser(ListAllowedImports, module, "", "profile %s allows the import of %s, which %s does not", c.profile, module, c.u.Name)
		}
	}
	for _, root := range sorted(roots) {
		if c.refused(probeImport, root) {
			c.stricter(ListAllowedImports, root, "profile %s refuses the import of %s, which %s allows", c.profile, root, c.u.Name)
		}
	}
}

func (c *comparison) calls() {
	for _, name := range c.rules.BannedCalls {
		switch {
		case strings.Contains(name, ".") && c.pathRefused(name):
		case strings.Contains(name, ".") || !c.refused(probeName, name):
			c.looser(ListBannedCalls, name, "", "%s bans %s(), profile %s does not", c.u.Name, name, c.profile)
		case !c.refused(probeBound, name):
			c.looser(ListBannedCalls, name, WhenBound, "%s bans %s() always, profile %s not where the program gives the name a meaning of its own", c.u.Name, name, c.profile)
		}
	}
	if c.rules.BannedCalls != nil {
		for _, name := range minus(sorted(c.stance.refused[probeName]), c.rules.BannedCalls) {
			c.stricter(ListBannedCalls, name, "profile %s bans %s(), %s does not", c.profile, name, c.u.Name)
		}
	}
}

// pathRefused reports whether a dotted name is out of reach.
func (c *comparison) pathRefused(name string) bool {
	last := name[strings.LastIndex(name, ".")+1:]
	return c.refused(probePath, name) || c.refused(probeImport, rootOf(name)) || c.attributeRefused(last)
}

func (c *comparison) attributeRefused(name string) bool {
	return c.refused(probeAttribute, name) || c.refused(probePrivateAt, name)
}

func (c *comparison) attributes() {
	for _, name := range c.rules.BannedAttributes {
		switch {
		case strings.Contains(name, ".") && c.pathRefused(name):
		case strings.Contains(name, ".") || !c.attributeRefused(name):
			c.looser(ListBannedAttributes, name, "", "%s bans the attribute %s, profile %s does not", c.u.Name, name, c.profile)
		case !c.refused(probeDefined, name) && !c.refused(probePrivateAt, name):
			c.looser(ListBannedAttributes, name, WhenDefined, "%s bans the attribute %s always, profile %s not where the program defines it", c.u.Name, name, c.profile)
		}
	}
	if c.rules.BannedAttributes != nil {
		for _, name := range minus(sorted(c.stance.refused[probeAttribute]), c.rules.BannedAttributes) {
			c.stricter(ListBannedAttributes, name, "profile %s bans the attribute %s, %s does not", c.profile, name, c.u.Name)
		}
	}
}

// nodes wants every node kind not just refused but listed: the index names
// statements and a few expressions, and the policy refuses what it does not
// know, which a program can never show.
func (c *comparison) nodes() {
	for _, kind := range c.rules.DeniedNodes {
		if !c.refused(probeNode, kind) || !c.stance.listed[kind] {
			c.looser(ListDeniedNodes, kind, "", "%s refuses %s, profile %s does not", c.u.Name, kind, c.profile)
		}
	}
	if c.rules.DeniedNodes == nil {
		return
	}
	for _, kind := range minus(sorted(c.stance.refused[probeNode]), c.rules.DeniedNodes) {
		if c.stance.listed[kind] && strings.ToUpper(kind[:1]) == kind[:1] && slices.Contains(nodeKinds(), kind) {
			c.stricter(ListDeniedNodes, kind, "profile %s refuses %s, %s does not", c.profile, kind, c.u.Name)
		}
	}
}

// nodeKinds are the classes of statements and the like that Python has and
// whole languages do without.
func nodeKinds() []string {
	return []string{
		"AnnAssign", "Assert", "Assign", "AsyncComprehension", "AsyncFor", "AsyncFunctionDef", "AsyncWith", "AugAssign", "Await", "Break",
		"ClassDef", "Continue", "Delete", "DictComp", "Expr", "For", "FunctionDef", "GeneratorExp", "Global", "If", "Import", "ImportFrom",
		"Lambda", "ListComp", "Match", "NamedExpr", "Nonlocal", "Pass", "Raise", "Return", "SetComp", "Try", "TryStar", "TypeAlias", "While",
		"With", "Yield", "YieldFrom",
	}
}

func (c *comparison) private() {
	for _, name := range c.stance.asked {
		if !strings.HasPrefix(name, "_") || !wordForm.MatchString(name) {
			continue
		}
		if c.rules.PrivateAttributes && !c.refused(probePrivateAt, name) {
			c.looser(ListPrivateAttrs, name, "", "%s refuses every attribute that begins with _, profile %s lets %s pass", c.u.Name, c.profile, name)
		}
		if c.rules.PrivateNames && !c.refused(probePrivateNam, name) {
			c.looser(ListPrivateNames, name, "", "%s refuses every name that begins with _, profile %s lets %s pass", c.u.Name, c.profile, name)
		}
	}
}

// covers reports whether an exception is about a finding. One for a module
// covers the modules in it.
func (e Exception) covers(f Finding) bool {
	entry := e.Entry == f.Entry || f.List == ListAllowedImports && strings.HasPrefix(f.Entry, e.Entry+".")
	return entry && e.Upstream == f.Upstream && e.List == f.List && e.When == f.When && (e.Profile == "" || e.Profile == f.Profile)
}

// except turns findings that are meant into notes, and says which exceptions
// are about nothing.
func except(findings []Finding, exceptions []Exception) []Finding {
	used := make([]bool, len(exceptions))
	for i, f := range findings {
		if f.Kind != KindLooser {
			continue
		}
		for j, e := range exceptions {
			if e.covers(f) {
				used[j] = true
				findings[i].Level, findings[i].Kind, findings[i].Reason = LevelNote, KindExcepted, e.Reason
			}
		}
	}
	for j, e := range exceptions {
		if !used[j] {
			findings = append(findings, Finding{
				Level: LevelError, Kind: KindException, Upstream: e.Upstream, Profile: e.Profile, List: e.List, Entry: e.Entry, When: e.When,
				Message: fmt.Sprintf("the exception for %s of %s (%s) no longer applies: take it out", e.Entry, e.Upstream, e.List),
			})
		}
	}
	return findings
}
