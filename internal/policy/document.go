package policy

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Members of the document. The first five are the plugin's, the others the
// gateway's.
const (
	keySchema   = "schema"
	keyLanguage = "language"
	keyGrammar  = "grammar"
	keyCode     = "code"
	keyAST      = "ast"
	keyTool     = "tool"
	keyProfile  = "profile"
	keyCaller   = "caller"
	keySession  = "session"
	keySHA256   = "sha256"
)

// inputCheck is what a document must show before rules are asked about it: a
// rule over a section that is not there finds nothing.
type inputCheck struct {
	language string
	schema   string
	members  []string          // of the document, by the schema, without the gateway's
	kinds    map[string]string // sections that the rules read, and their JSON type by the schema ("": any)
	maxBytes int
}

// newInputCheck works out what the document must hold for rules that read
// sections; nil sections are all that the schema lists, as far as the plugin
// says that it always sends them.
func newInputCheck(l executor.Language, schema map[string]any, sections []string, maxBytes int) (inputCheck, error) {
	check := inputCheck{
		language: l.ID, schema: l.TreeSchema, members: pluginMembers(schema), kinds: map[string]string{}, maxBytes: maxBytes,
	}
	known := sectionSchemas(schema)
	if sections == nil {
		sections = sortedKeys(known)
	}
	for _, name := range sections {
		section, ok := known[name]
		if !ok && schema != nil {
			return check, fmt.Errorf("schema %s has no section %q", l.TreeSchema, name)
		}
		check.kinds[name] = kindOf(section, schema)
	}
	return check, nil
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

// document reads a plugin's document, proves that it is about this source and
// holds what the rules read, and adds the gateway's part. A fault in it is the
// plugin's.
func (c inputCheck) document(q gateway.Question) (map[string]any, error) {
	doc, err := c.read(q.Tree)
	if err != nil {
		return nil, fmt.Errorf("%w: document of %s: %w", gateway.ErrPluginFault, c.language, err)
	}
	if err := c.matches(doc, q); err != nil {
		return nil, fmt.Errorf("%w: document of %s: %w", gateway.ErrPluginFault, c.language, err)
	}
	doc[keyTool], doc[keyProfile], doc[keyCaller], doc[keySession] = q.Tool, q.Profile, q.Caller, q.Session
	return doc, nil
}

func (c inputCheck) read(t executor.Tree) (map[string]any, error) {
	if len(t.JSON) > c.maxBytes {
		return nil, fmt.Errorf("%d bytes, at most %d", len(t.JSON), c.maxBytes)
	}
	value, err := readJSON(t.JSON)
	if err != nil {
		return nil, err
	}
	doc, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is no object")
	}
	return doc, nil
}

func (c inputCheck) matches(doc map[string]any, q gateway.Question) error {
	for key := range doc {
		if !slices.Contains(c.members, key) {
			return fmt.Errorf("unknown member %.64q", key)
		}
	}
	code, _ := doc[keyCode].(map[string]any)
	digest := q.Source.Digest()
	switch {
	case doc[keyLanguage] != c.language || q.Language != c.language:
		return fmt.Errorf("it is about language %.64q, asked was %q", textOf(doc[keyLanguage]), q.Language)
	case doc[keySchema] != c.schema || q.Tree.Schema != c.schema:
		return fmt.Errorf("it follows schema %.64q (%.64q), described was %q", textOf(doc[keySchema]), q.Tree.Schema, c.schema)
	case code[keySHA256] != hex.EncodeToString(digest[:]):
		return fmt.Errorf("it is about another source")
	}
	return c.sections(doc)
}

// sections proves that every section that the rules read is there and of its
// kind.
func (c inputCheck) sections(doc map[string]any) error {
	tree, ok := doc[keyAST].(map[string]any)
	if !ok {
		return fmt.Errorf("it has no object %q", keyAST)
	}
	for name, kind := range c.kinds {
		section, ok := tree[name]
		if !ok {
			return fmt.Errorf("section %q is missing", name)
		}
		if !isKind(section, kind) {
			return fmt.Errorf("section %q is no %s", name, kind)
		}
	}
	return nil
}

func isKind(v any, kind string) bool {
	switch kind {
	case "object":
		_, ok := v.(map[string]any)
		return ok
	case "array":
		switch v.(type) {
		case []any, []string:
			return true
		}
		return false
	}
	return true
}
