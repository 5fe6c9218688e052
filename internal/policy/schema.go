package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sluice-gateway/sluice/executor"
)

// inputSchema is a language's schema with the gateway's own part of the
// document added to it.
func inputSchema(l executor.Language) (map[string]any, error) {
	var schema map[string]any
	if err := json.Unmarshal(l.Schema, &schema); err != nil {
		return nil, fmt.Errorf("read schema %s: %w", l.TreeSchema, err)
	}
	properties, ok := schema["properties"].(map[string]any)
	if !ok || schema["additionalProperties"] != false {
		return nil, fmt.Errorf("read schema %s: it must list its properties and refuse others (additionalProperties: false)", l.TreeSchema)
	}
	for _, name := range gatewayMembers() {
		properties[name] = map[string]any{"type": "string"}
	}
	properties[keySession] = map[string]any{"type": "boolean"}
	return schema, nil
}

// languageOf reads which language a schema file is for from the constants of
// its members language and schema.
func languageOf(file string, body []byte) (executor.Language, error) {
	var schema struct {
		Properties struct {
			Language struct{ Const string } `json:"language"`
			Schema   struct{ Const string } `json:"schema"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(body, &schema); err != nil {
		return executor.Language{}, fmt.Errorf("read %s: %w", file, err)
	}
	l := executor.Language{ID: schema.Properties.Language.Const, TreeSchema: schema.Properties.Schema.Const, Schema: body}
	if l.ID == "" || l.TreeSchema == "" {
		return l, fmt.Errorf("read %s: properties language and schema must each be a const", file)
	}
	return l, nil
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return bytes.Equal(a, b) || (json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y))
}

// proof compiles schema to hold documents of the corpus against it: OPA's type
// checker knows the schema, and only this knows whether the plugin follows it.
func proof(schema map[string]any) (*jsonschema.Schema, error) {
	const name = "urn:input-document"
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(name, schema); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	return compiled, nil
}

// noLoader keeps a schema from naming another one by its address.
type noLoader struct{}

// Load implements jsonschema.URLLoader by refusing.
func (noLoader) Load(string) (any, error) { return nil, errors.New("a schema must stand alone") }

// follows says how a plugin's document differs from its schema.
func (l *language) follows(doc []byte) error {
	if l.proof == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return fmt.Errorf("read document: %w", err)
	}
	if whole, ok := value.(map[string]any); ok {
		whole[keyTool], whole[keyProfile], whole[keyCaller], whole[keySession] = "", "", "", false
	}
	return l.proof.Validate(value)
}

// pluginMembers are the members that the plugin may send; the usual ones when
// there is no schema.
func pluginMembers(schema map[string]any) []string {
	if schema == nil {
		return []string{keySchema, keyLanguage, keyGrammar, keyCode, keyAST}
	}
	properties, _ := schema["properties"].(map[string]any)
	return slices.DeleteFunc(sortedKeys(properties), func(name string) bool {
		return slices.Contains(gatewayMembers(), name)
	})
}

func gatewayMembers() []string { return []string{keyTool, keyProfile, keyCaller, keySession} }

// sectionSchemas are the schemas of the members of ast.
func sectionSchemas(schema map[string]any) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	tree, _ := resolve(properties[keyAST], schema).(map[string]any)
	sections, _ := tree["properties"].(map[string]any)
	return sections
}

func kindOf(section any, root map[string]any) string {
	object, _ := resolve(section, root).(map[string]any)
	return textOf(object["type"])
}

// resolve follows one {"$ref": "#/$defs/NAME"}.
func resolve(schema any, root map[string]any) any {
	object, _ := schema.(map[string]any)
	ref := textOf(object["$ref"])
	for _, section := range []string{"$defs", "definitions"} {
		prefix := "#/" + section + "/"
		if len(ref) <= len(prefix) || ref[:len(prefix)] != prefix {
			continue
		}
		defs, _ := root[section].(map[string]any)
		return defs[ref[len(prefix):]]
	}
	return schema
}
