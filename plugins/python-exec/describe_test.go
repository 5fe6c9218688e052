package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestLibraries: what is described is what the environment holds.
func TestLibraries(t *testing.T) {
	described := map[string]string{}
	for _, l := range libraries() {
		described[l.Name] = l.Version
	}
	out, err := exec.Command(interpreterPath(t), "-I", "-B", "-c", `
import importlib.metadata, json
print(json.dumps({d.metadata["Name"].lower(): d.version for d in importlib.metadata.distributions()}))`).Output()
	if err != nil {
		t.Fatal(err)
	}
	var installed map[string]string
	if err := json.Unmarshal(out, &installed); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(described, installed) {
		t.Errorf("described %v, installed %v", described, installed)
	}
	known, err := readLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range known {
		if described[l.Distribution] == "" {
			t.Errorf("%s stands in libraries.yaml and not in requirements.lock", l.Distribution)
		}
	}
}

// TestLockHasHashes: every package is pinned, with hashes of files for the
// interpreters that the plugin supports.
func TestLockHasHashes(t *testing.T) {
	if n := len(libraries()); n < 4 {
		t.Fatalf("%d packages", n)
	}
	for _, block := range strings.Split(lockText, "\n\n") {
		if strings.Contains(block, "==") && !strings.Contains(block, "--hash=sha256:") {
			t.Errorf("no hash: %q", block)
		}
	}
}

func TestDescribeIsPure(t *testing.T) {
	a, b := newPlugin().Describe(), newPlugin().Describe()
	if !reflect.DeepEqual(a, b) {
		t.Error("two descriptions differ")
	}
	for _, text := range append([][]byte{a.ConfigSchema}, a.Languages[0].Schema, a.Tools[0].Parameters) {
		if !json.Valid(text) {
			t.Errorf("not JSON: %.60q", text)
		}
	}
}

// TestConfigSchema holds parseSettings and the described schema in step.
func TestConfigSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(configSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		`{"python":".venv/bin/python"}`:                     true,
		`{"python":"p","waiting_children":3,"hash_seed":0}`: true,
		`{"python":"p","hash_seed":null,"uid_base":70000}`:  true,
		`{}`:                            false,
		`{"python":""}`:                 false,
		`{"python":"p","waiting":3}`:    false,
		`{"python":"p","hash_seed":-1}`: false,
		`{"python":"p","uid_base":-1}`:  false,
		`{"python":"p","python":"q"}`:   false,
		`{"python":3}`:                  false,
		`[]`:                            false,
	} {
		_, err := parseSettings([]byte(text))
		if (err == nil) != good {
			t.Errorf("parseSettings(%s): %v", text, err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != good && !strings.Contains(text, `"python":"q"`) {
			t.Errorf("schema, %s: %v", text, err)
		}
	}
}

// TestSettingsAreDocumented: each is told in docs/configuration.md.
func TestSettingsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal([]byte(configSchema), &schema); err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "## Settings of the Python plugin")
	if !ok || len(schema.Properties) < 5 {
		t.Fatalf("no section, or %d settings", len(schema.Properties))
	}
	for name := range schema.Properties {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("docs/configuration.md says nothing of %s", name)
		}
	}
}

// TestReadOnly: the interpreter's root holds no folder of the host as a whole.
func TestReadOnly(t *testing.T) {
	path, err := filepath.Abs(interpreterPath(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := surveyInterpreter(t.Context(), path, settings{}.environment())
	if err != nil {
		t.Fatal(err)
	}
	paths := s.readOnly(path)
	for _, whole := range []string{"/", "/usr", "/etc", "/home", "/root", "/usr/lib", "/var", "/proc", "/usr/bin"} {
		if slices.Contains(paths, whole) {
			t.Errorf("%s is shown to programs whole", whole)
		}
	}
	if !slices.Contains(paths, path) {
		t.Errorf("the interpreter itself is missing from %q", paths)
	}
}
