package executortest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sluice-gateway/sluice/executor"
)

func describeChecks() []check {
	return []check{
		{"D01", "the same answer twice", checkSameAnswer, false},
		{"D02", "a description that holds together", checkDescription, false},
		{"D03", "schemas are JSON objects", checkSchemas, false},
		{"D04", "an answer before the settings, at once", checkAnswersEarly, false},
	}
}

func checkSameAnswer(r reporter, s *suite) {
	if s.exec != nil && !reflect.DeepEqual(s.exec.Describe(), s.about) {
		r.Errorf("the second answer differs from the first")
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	with, err := s.host.Describe(ctx, "test", "samples")
	if err != nil {
		r.Fatalf("%v", err)
	}
	other, err := s.host.Describe(ctx, "another version", "samples", "a-feature-nobody-knows")
	if err != nil {
		r.Fatalf("%v", err)
	}
	if !reflect.DeepEqual(with, other) {
		r.Errorf("the second answer differs from the first; its features alone were other ones")
	}
}

var (
	semver     = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
	treeSchema = regexp.MustCompile(`^[a-z][a-z0-9-]*/[0-9][0-9.]*$`)
)

func checkDescription(r reporter, s *suite) {
	d := s.about
	if !semver.MatchString(d.Version) {
		r.Errorf("version %q is not semantic", d.Version)
	}
	if d.Capacity.MaxConcurrent == 0 || d.Capacity.MaxSourceBytes == 0 || d.Capacity.MaxTreeBytes == 0 {
		r.Errorf("capacity does not say how many at once, how much source and how large a tree: %+v", d.Capacity)
	}
	checkTools(r, d.Tools, checkLanguages(r, d.Languages))
	if _, err := s.host.Describe(context.Background(), "test", "samples"); err != nil {
		r.Errorf("the host does not take the description: %v", err)
	}
}

// checkLanguages gives the ids that tools may name.
func checkLanguages(r reporter, list []executor.Language) map[string]bool {
	languages := map[string]bool{}
	for _, l := range list {
		languages[l.ID] = true
		if !treeSchema.MatchString(l.TreeSchema) {
			r.Errorf("language %q: tree schema %q is not of the form NAME/VERSION", l.ID, l.TreeSchema)
		}
		for _, kind := range []string{"ok", "syntax_error", "canary"} {
			if l.Lacks[kind] != "" {
				r.Errorf("language %q says that it lacks %q, which every language has", l.ID, kind)
			}
		}
	}
	return languages
}

func checkTools(r reporter, tools []executor.Tool, languages map[string]bool) {
	names := map[string]bool{}
	for _, t := range tools {
		checkTool(r, t, languages)
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if names[name] {
				r.Errorf("tool name %q stands twice", name)
			}
			names[name] = true
		}
	}
}

func checkTool(r reporter, t executor.Tool, languages map[string]bool) {
	if !languages[t.Language] {
		r.Errorf("tool %q is of language %q, which is not described", t.Name, t.Language)
	}
	if t.Description == "" {
		r.Errorf("tool %q has no description", t.Name)
	}
	var parameters struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(t.Parameters, &parameters); err != nil {
		r.Errorf("tool %q: parameters: %v", t.Name, err)
		return
	}
	if _, ok := parameters.Properties[t.SourceArgument]; !ok && t.SourceArgument != "" {
		r.Errorf("tool %q: the source's argument %q is none of its parameters", t.Name, t.SourceArgument)
	}
}

func checkSchemas(r reporter, s *suite) {
	const stranger = `{"a-setting-that-nobody-knows": 1}`
	if len(s.about.ConfigSchema) > 0 {
		schema, err := compile(s.about.ConfigSchema)
		if err != nil {
			r.Fatalf("the schema of the settings: %v", err)
		}
		if err := holds(schema, s.program.settings()); s.proc != nil && err != nil {
			r.Errorf("the settings at hand are against the plugin's own schema: %v", err)
		}
		if holds(schema, []byte(stranger)) == nil {
			r.Errorf("the schema of the settings lets %s pass: say additionalProperties: false", stranger)
		}
	}
	for _, l := range s.about.Languages {
		if _, err := compile(l.Schema); err != nil {
			r.Errorf("the tree schema of %s: %v", l.ID, err)
			continue
		}
		if !closed(l.Schema) {
			r.Errorf("the tree schema of %s: it must list its properties, schema, language, grammar, code and ast among them, and say additionalProperties: false, or no gateway loads rules for it", l.ID)
		}
	}
}

// closed says whether a schema lists the members of a tree and refuses others:
// a rule over a member that no tree has is a fault, and is found by it.
func closed(text []byte) bool {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Additional *bool                      `json:"additionalProperties"`
	}
	if err := json.Unmarshal(text, &schema); err != nil || schema.Additional == nil || *schema.Additional {
		return false
	}
	for _, name := range []string{"schema", "language", "grammar", "code", "ast"} {
		if schema.Properties[name] == nil {
			return false
		}
	}
	return true
}

func checkAnswersEarly(r reporter, s *suite) {
	limit := tolerance
	if s.proc != nil {
		limit += 2 * time.Second
	}
	if s.early > limit {
		r.Errorf("took %s, more than %s", s.early, limit)
	}
}

// compile reads a JSON Schema 2020-12 that stands by itself.
func compile(text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if _, ok := doc.(map[string]any); !ok {
		return nil, fmt.Errorf("%.40q is not a JSON object", text)
	}
	const name = "schema.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema refers to nothing outside
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// holds says how doc is against a schema.
func holds(schema *jsonschema.Schema, doc []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
