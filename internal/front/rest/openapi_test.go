package rest

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
)

type documentText struct {
	OpenAPI    string
	Info       struct{ Title, Version string }
	Paths      map[string]map[string]operation
	Components struct {
		Schemas map[string]struct {
			Required   []string
			Properties map[string]json.RawMessage
		}
		Responses map[string]json.RawMessage
	}
}

type operation struct {
	OperationID string
	Security    *[]any
	Responses   map[string]struct {
		Ref         string `json:"$ref"`
		Description string
	}
}

var snakeCase = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

func readDocument(t *testing.T) documentText {
	t.Helper()
	var d documentText
	if err := json.Unmarshal(openAPI(`1.0 "quoted"`), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDocumentIsInStepWithTheRoutes(t *testing.T) {
	d := readDocument(t)
	if d.OpenAPI != "3.1.0" || d.Info.Title != "Sluice" || d.Info.Version != `1.0 "quoted"` {
		t.Errorf("head of the document: %q %+v", d.OpenAPI, d.Info)
	}
	documented := map[string]bool{}
	for _, r := range (&server{}).table() {
		if r.method == "" {
			continue
		}
		path, method := strings.TrimSuffix(r.path, "{$}"), strings.ToLower(r.method)
		op, ok := d.Paths[path][method]
		if !ok || !snakeCase.MatchString(op.OperationID) {
			t.Errorf("%s %s is not documented", r.method, r.path)
		}
		if open := op.Security != nil && len(*op.Security) == 0; open != r.open {
			t.Errorf("%s %s: the document says open %v, the table %v", r.method, r.path, open, r.open)
		}
		documented[method+path] = true
	}
	for path, item := range d.Paths {
		for method := range item {
			if !documented[method+path] {
				t.Errorf("%s %s is documented and is no route", method, path)
			}
		}
	}
}

func TestDocumentedStatusesAreThoseOfTheTable(t *testing.T) {
	d := readDocument(t)
	for path, item := range d.Paths {
		for method, op := range item {
			for status, response := range op.Responses {
				name := strings.TrimPrefix(response.Ref, "#/components/responses/")
				if _, ok := d.Components.Responses[name]; response.Ref != "" && !ok {
					t.Errorf("%s %s %s refers to %q", method, path, status, response.Ref)
				}
			}
			if method != "post" {
				continue
			}
			if _, made := op.Responses["201"]; !made && op.Responses["200"].Description == "" {
				t.Errorf("%s %s: no success is documented", method, path)
			}
			for _, status := range []string{"400", "401", "403", "404", "413", "415", "422", "429", "500", "503"} {
				if _, ok := op.Responses[status]; !ok {
					t.Errorf("%s %s: status %s is not documented", method, path, status)
				}
			}
		}
	}
}

// The schemas name the keys of the Go types, in both directions.
func TestSchemasAreInStepWithTheTypes(t *testing.T) {
	d := readDocument(t)
	for name, sample := range map[string]any{
		"Problem": problem{}, "Description": description{}, "State": state{}, "SolveRequest": solveRequest{}, "SolveAnswer": Solution{},
		"RunRequest": runRequest{}, "RunAnswer": toolcall.Full{}, "CheckRequest": checkRequest{}, "CheckAnswer": checkAnswer{},
		"ToolList": toolList{}, "CallRequest": callRequest{}, "CallAnswer": callAnswer{},
		"CallsRequest": callsRequest{}, "CallsAnswer": callsAnswer{}, "SessionRequest": sessionRequest{}, "SessionVerb": sessionVerb{},
		"Session": sessionAnswer{}, "SessionList": sessionList{}, "InterruptAnswer": interruptAnswer{},
		"PolicyAnswer": policyAnswer{}, "ProfileAnswer": profileAnswer{}, "LanguageAnswer": languageAnswer{}, "RuleAnswer": ruleAnswer{}, "ModuleAnswer": moduleAnswer{},
		"DecisionEvent": decisionEvent{}, "OutputEvent": outputEvent{},
	} {
		var want, got []string
		for i := range reflect.TypeOf(sample).NumField() {
			key, _, _ := strings.Cut(reflect.TypeOf(sample).Field(i).Tag.Get("json"), ",")
			want = append(want, key)
		}
		for key := range d.Components.Schemas[name].Properties {
			got = append(got, key)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s documents %q, the type has %q", name, got, want)
		}
		for _, key := range d.Components.Schemas[name].Required {
			if !slices.Contains(want, key) {
				t.Errorf("%s requires %q", name, key)
			}
		}
	}
}

func TestReferencesResolve(t *testing.T) {
	d := readDocument(t)
	rest := openAPIDocument
	for {
		_, after, found := strings.Cut(rest, `"#/components/schemas/`)
		if !found {
			return
		}
		name, _, _ := strings.Cut(after, `"`)
		if _, ok := d.Components.Schemas[name]; !ok {
			t.Errorf("the schema %q is not there", name)
		}
		rest = after
	}
}
