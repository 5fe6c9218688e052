package policy

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/profiles"
	"github.com/sluice-gateway/sluice/internal/regofile"
)

// load is every step between a folder and a revision that may be put in force.
func (s *Store) load(ctx context.Context) (*revision, error) {
	if s.cfg.Parse == nil && !s.cfg.SkipCorpus {
		return nil, errNoParse
	}
	folder, err := readFolder(s.cfg.FS)
	if err != nil {
		return nil, err
	}
	b := &builder{cfg: s.cfg, trees: s.trees.next(), before: s.current.Load(), folder: folder, caps: capabilities(), revision: &revision{
		host: s.host, digest: folder.digest(), languages: map[string]*language{}, loadedAt: s.cfg.Now(),
	}}
	for _, step := range []func(context.Context) error{b.parse, b.describe, b.compile, b.whole, b.profiles, b.prepare, b.mask} {
		if err := apart(s.cfg.step, func() error { return step(ctx) }); errors.Is(err, errLost) {
			return nil, fmt.Errorf("compile the policy: %w", err)
		} else if err != nil {
			return nil, err
		}
	}
	if err := b.prove(ctx); err != nil {
		return nil, err
	}
	return b.revision, nil
}

// stepPatience is how long a step of a load may take beside the proof, whose
// evaluations have bounds of their own. Each takes less than a second.
const stepPatience = time.Minute

// builder is a revision in the making.
type builder struct {
	cfg       Config
	trees     *trees
	before    *revision // in force while this one is made; nil: none is
	folder    *folder
	caps      *ast.Capabilities
	modules   []module
	described map[string]described // by language
	compiled  map[string]*compiled
	revision  *revision
}

// described is a language and where its description is from.
type described struct {
	executor.Language
	plugin bool // a plugin is there to parse it
}

// parse parses the modules and reads the entry point's METADATA.
func (b *builder) parse(context.Context) (err error) {
	for _, name := range b.folder.unread {
		b.warn("%s is not read: rules find data.profiles alone; write what is in it as a rule", name)
	}
	if b.modules, err = parseModules(b.folder.rego, b.caps); err != nil {
		return err
	}
	if err := light(b.modules); err != nil {
		return err
	}
	b.revision.name = b.revision.digest[:12]
	for _, m := range b.modules {
		if m.file == entryFile {
			return b.entry(m)
		}
	}
	return nil
}

// versionForm is what a revision's name may begin with: it stands in answers.
var versionForm = regexp.MustCompile(`^[A-Za-z0-9._+-]{1,64}$`)

// entry reads the METADATA of main.rego: version, admits.
func (b *builder) entry(m module) error {
	at := m.parsed.Package.Location
	if !m.entry {
		return located(at, "%s must be of package %s", entryFile, entryPackage)
	}
	custom := regofile.Custom(m.parsed)
	if version, ok := custom["version"]; ok {
		text := fmt.Sprint(version)
		if !versionForm.MatchString(text) {
			return located(at, "METADATA has the version %q: it is up to 64 of A-Z a-z 0-9 . _ + -", text)
		}
		b.revision.name = text + "-" + b.revision.name
	}
	if admits, ok := custom["admits"]; ok {
		if admits != "all" {
			return located(at, "METADATA says admits: %v; it can only say all", admits)
		}
		b.revision.admitsAll = true
	}
	return nil
}

// describe gathers the languages and their schemas: a plugin's description
// comes first, a schema of the folder serves where there is none.
func (b *builder) describe(context.Context) error {
	b.described = map[string]described{}
	for _, l := range b.cfg.Languages {
		b.described[l.ID] = described{l, true}
	}
	for _, file := range sortedKeys(b.folder.schemas) {
		l, err := languageOf(file, b.folder.schemas[file])
		if err != nil {
			return err
		}
		have, ok := b.described[l.ID]
		switch {
		case !ok:
			b.described[l.ID] = described{l, false}
		case have.TreeSchema != l.TreeSchema:
		case len(have.Schema) == 0:
			have.Schema = l.Schema
			b.described[l.ID] = have
		case !sameJSON(have.Schema, l.Schema):
			b.warn("%s differs from the schema %s that the plugin describes; the plugin's is used", file, l.TreeSchema)
		}
	}
	return b.knownLanguages()
}

func (b *builder) warn(format string, args ...any) {
	b.revision.warnings = append(b.revision.warnings, fmt.Sprintf(format, args...))
}

// knownLanguages refuses rules for a language that nobody describes: its name
// is misspelt, and they would never run.
func (b *builder) knownLanguages() error {
	var faults []error
	for _, m := range b.modules {
		for _, id := range m.languages {
			if _, ok := b.described[id]; !ok {
				faults = append(faults, located(m.parsed.Package.Location,
					"%s is for language %q, which no plugin and no file in %s/ describes", m.parsed.Package, id, schemasDir))
			}
		}
	}
	return errors.Join(faults...)
}

// compile compiles every language that there are rules for; all of them when
// the policy admits everything.
func (b *builder) compile(context.Context) error {
	b.compiled = map[string]*compiled{}
	for _, id := range sortedKeys(b.described) {
		if !b.judges(id) {
			b.warn("there are no rules for language %q: its programs are answered with 503", id)
			continue
		}
		if err := b.compileOne(b.described[id]); err != nil {
			return fmt.Errorf("language %q: %w", id, err)
		}
	}
	return nil
}

func (b *builder) judges(language string) bool {
	return b.revision.admitsAll || slices.ContainsFunc(b.modules, func(m module) bool {
		return slices.Equal(regofile.Path(m.parsed), []string{rulesPackage, language})
	})
}

func (b *builder) compileOne(d described) error {
	var schema map[string]any
	if len(d.Schema) > 0 || !b.revision.admitsAll {
		var err error
		if schema, err = inputSchema(d.Language); err != nil {
			return err
		}
	}
	c, err := compile(forLanguage(b.modules, d.ID), schema, b.caps)
	if err != nil {
		return err
	}
	if err := c.unreachable(); err != nil {
		return err
	}
	rules, err := collectRules(c.modules)
	if err != nil {
		return err
	}
	sections := c.sections()
	input, err := newInputCheck(d.Language, schema, sections, b.cfg.MaxDocumentBytes)
	if err != nil {
		return err
	}
	b.compiled[d.ID] = c
	l := &language{input: input, sections: sections, rules: rules, source: c}
	if schema != nil {
		l.proof, err = proof(schema)
	}
	b.revision.languages[d.ID] = l
	return err
}

// whole refuses a folder without rules, profiles or corpus, unless it says that
// it admits everything; and one that says so and has them.
func (b *builder) whole(context.Context) error {
	rules := slices.ContainsFunc(b.modules, func(m module) bool { return !m.entry && !m.mask })
	parts := map[string]bool{"rules": rules, profilesFile: b.folder.profiles != nil, corpusDir + "/": len(b.folder.corpus) > 0}
	for _, part := range sortedKeys(parts) {
		switch there := parts[part]; {
		case b.revision.admitsAll && there:
			return fmt.Errorf("%s says that it admits everything, and there is %s beside it", entryFile, part)
		case !b.revision.admitsAll && !there:
			return fmt.Errorf("policy folder has no %s: it loads only when the METADATA of %s says custom: {admits: all}", part, entryFile)
		}
	}
	return nil
}

// profiles reads and checks profiles.yaml against the rules and lists of all
// languages.
func (b *builder) profiles(context.Context) error {
	set, err := readProfiles(b.folder.profiles)
	if err != nil {
		return err
	}
	now := b.cfg.Now()
	if err := errors.Join(b.named().check(set, now), b.needed(set)); err != nil {
		return err
	}
	if b.revision.admitsAll {
		set.Written[admitAll], set.Whole[admitAll] = profiles.Profile{}, profiles.Profile{}
	}
	b.revision.profiles = newProfiles(set, now)
	return nil
}

// needed warns of profiles that others name and that are not there; taking one
// away that is in force would fail every request of those who name it.
func (b *builder) needed(set *profiles.Set) error {
	if b.cfg.Needed == nil || b.revision.admitsAll {
		return nil
	}
	var faults []error
	wanted := b.cfg.Needed()
	for _, who := range sortedKeys(wanted) {
		if _, ok := set.Written[wanted[who]]; ok {
			continue
		}
		missing := fmt.Errorf("%s: there is no profile %q, which %s names; there are %s",
			profilesFile, wanted[who], who, strings.Join(set.Names(), ", "))
		if b.before != nil && !b.before.admitsAll && b.before.profiles.has(wanted[who]) {
			faults = append(faults, missing)
		} else {
			b.warn("%v", missing)
		}
	}
	return errors.Join(faults...)
}

// named gathers what a profile may name.
func (b *builder) named() names {
	n := names{rules: map[string]bool{}, lists: map[string]bool{}, texts: map[string]bool{}}
	for language, c := range b.compiled {
		for id := range b.revision.languages[language].rules {
			n.rules[id] = true
		}
		for _, module := range c.modules {
			for _, rule := range module.Rules {
				if len(rule.Head.Args) == 0 {
					n.lists[string(rule.Head.Name)] = true
				}
			}
			ast.WalkTerms(module, func(term *ast.Term) bool {
				if text, ok := term.Value.(ast.String); ok {
					n.texts[string(text)] = true
				}
				return false
			})
		}
	}
	return n
}

func (b *builder) prepare(ctx context.Context) error {
	for id, c := range b.compiled {
		query, err := c.prepare(ctx, b.revision.profiles.store)
		if err != nil {
			return fmt.Errorf("language %q: %w", id, err)
		}
		b.revision.languages[id].query = query
		if b.revision.languages[id].importable, err = c.prepareImportable(ctx, id, b.revision.profiles.store); err != nil {
			return fmt.Errorf("language %q: %w", id, err)
		}
	}
	return nil
}
