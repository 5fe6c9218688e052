package pluginhost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSchema bounds a plugin's own schema, in bytes.
const maxSchema = 256 << 10

// checkConfig holds a plugin's settings against the schema that it describes.
// Without a schema it takes none.
func checkConfig(schema, config []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(config))
	if err != nil {
		return fmt.Errorf("read the plugin's settings: %w", err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return errors.New("read the plugin's settings: they are not an object")
	}
	if len(schema) == 0 {
		if len(object) > 0 {
			return errors.New("check the plugin's settings: it takes none")
		}
		return nil
	}
	compiled, err := compileSchema(schema)
	if err != nil {
		return fmt.Errorf("compile the schema of the plugin's settings: %w", err)
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("check the plugin's settings: %s", placesOf(err))
	}
	return nil
}

// placesOf are the lines of a fault that say where and what; its first line
// names the schema as a file, which it is not.
func placesOf(err error) string {
	if _, places, ok := strings.Cut(err.Error(), "\n"); ok {
		return strings.ReplaceAll(strings.ReplaceAll(places, "\n- ", "; "), "- at", "at")
	}
	return err.Error()
}

// takesRequire tells whether a plugin has the setting "require": it runs programs
// in processes of their own, and sees itself to the walls around them.
func takesRequire(schema []byte) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Properties["require"] != nil
}

// withRequire adds what is required to the settings of a plugin that takes it,
// over whatever they say themselves.
func withRequire(schema, config []byte, require []string) ([]byte, error) {
	if len(require) == 0 || !takesRequire(schema) {
		return config, nil
	}
	var settings map[string]any
	if err := json.Unmarshal(config, &settings); err != nil {
		return nil, fmt.Errorf("read the plugin's settings: %w", err)
	}
	settings["require"] = require
	return json.Marshal(settings)
}

// noLoader refuses references out of the schema: a plugin must not make the
// gateway read files.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %q leaves the schema", clip(url, maxLogValue))
}

func compileSchema(schema []byte) (*jsonschema.Schema, error) {
	if len(schema) > maxSchema {
		return nil, fmt.Errorf("it has more than %d bytes", maxSchema)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	const name = "settings.json"
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, err
	}
	return compiler.Compile(name)
}
