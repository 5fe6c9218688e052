package executortest

import (
	"context"
	"encoding/json"
	"reflect"
	"regexp"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

func describeChecks() []check {
	return []check{
		{"D01", "the same answer twice", checkSameAnswer},
		{"D02", "a description that holds together", checkDescription},
		{"D03", "schemas are JSON objects", checkSchemas},
		{"D04", "an answer before the settings, at once", checkAnswersEarly},
	}
}

func checkSameAnswer(r reporter, s *suite) {
	if again := s.exec.Describe(); !reflect.DeepEqual(again, s.about) {
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
		r.Errorf("an unknown feature changes the answer")
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
	languages := map[string]bool{}
	for _, l := range d.Languages {
		languages[l.ID] = true
		if !treeSchema.MatchString(l.TreeSchema) {
			r.Errorf("language %q: tree schema %q is not of the form NAME/VERSION", l.ID, l.TreeSchema)
		}
	}
	names := map[string]bool{}
	for _, t := range d.Tools {
		checkTool(r, t, languages)
		for _, name := range append([]string{t.Name}, t.Aliases...) {
			if names[name] {
				r.Errorf("tool name %q stands twice", name)
			}
			names[name] = true
		}
	}
	if _, err := s.host.Describe(context.Background(), "test", "samples"); err != nil {
		r.Errorf("the host does not take the description: %v", err)
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
	check := func(what string, schema []byte) {
		var object map[string]any
		if err := json.Unmarshal(schema, &object); err != nil {
			r.Errorf("%s is not a JSON object: %v", what, err)
		}
	}
	if len(s.about.ConfigSchema) > 0 {
		check("the schema of the settings", s.about.ConfigSchema)
	}
	for _, l := range s.about.Languages {
		check("the tree schema of "+l.ID, l.Schema)
	}
}

func checkAnswersEarly(r reporter, s *suite) {
	began := time.Now()
	s.exec.Describe()
	if took := time.Since(began); took > tolerance {
		r.Errorf("took %s", took)
	}
}
