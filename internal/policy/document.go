package policy

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

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
	members  []string             // of the document, by the schema, without the gateway's
	kinds    map[string]string    // sections that the rules read, and their JSON type by the schema ("": any)
	whole    bool                 // the rules may read any section
	terms    map[string]*ast.Term // keys of the document and of ast
	maxBytes int
}

// newInputCheck works out what the document must hold for rules that read
// sections; nil sections are all that the schema lists, as far as the plugin
// says that it always sends them.
func newInputCheck(l executor.Language, schema map[string]any, sections []string, maxBytes int) (inputCheck, error) {
	check := inputCheck{
		language: l.ID, schema: l.TreeSchema, members: pluginMembers(schema), kinds: map[string]string{},
		whole: sections == nil, terms: map[string]*ast.Term{}, maxBytes: maxBytes,
	}
	known := sectionSchemas(schema)
	for _, key := range slices.Concat(check.members, gatewayMembers(), sortedKeys(known)) {
		check.terms[key] = ast.StringTerm(key)
	}
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
		_, ok := v.(map[string]any) // a section lies above textDepth
		return ok
	case "array":
		switch v.(type) {
		case []any, []string:
			return true
		}
		return false
	}
	return v != nil
}

// value is the input that rules see. Where the rules read known sections alone,
// what they look at is converted when they first do: none of them then holds
// input or input.ast itself, so that nothing hashes or compares these two.
func (c inputCheck) value(doc map[string]any) (ast.Value, error) {
	tree, ok := doc[keyAST].(map[string]any)
	if c.whole || !ok {
		return ast.InterfaceToValue(doc)
	}
	root, err := c.lazyMembers(doc)
	if err != nil {
		return nil, err
	}
	sections, err := c.lazyMembers(tree)
	if err != nil {
		return nil, err
	}
	root.Get(c.term(keyAST)).Value = sections
	return root, nil
}

// lazyMembers is an object whose members are converted when they are asked
// for. Its own hash is that of its keys.
func (c inputCheck) lazyMembers(object map[string]any) (ast.Object, error) {
	pairs := make([][2]*ast.Term, 0, len(object))
	terms := make([]ast.Term, len(object))
	for name := range object {
		term := &terms[len(pairs)]
		term.Value = ast.NullValue
		pairs = append(pairs, [2]*ast.Term{c.term(name), term})
	}
	lazy := ast.NewObject(pairs...)
	for _, pair := range pairs {
		name, _ := pair[0].Value.(ast.String)
		value, err := lazyValue(object[string(name)])
		if err != nil {
			return nil, err
		}
		pair[1].Value = value
	}
	return lazy, nil
}

func lazyValue(member any) (ast.Value, error) {
	section, ok := member.(map[string]any)
	switch {
	case !ok:
		return ast.InterfaceToValue(member)
	case len(section) == 0:
		return ast.InternedEmptyObjectValue, nil
	}
	return ast.LazyObject(section), nil
}

// term is the shared term of a key of the document.
func (c inputCheck) term(key string) *ast.Term {
	if term, ok := c.terms[key]; ok {
		return term
	}
	return ast.StringTerm(key)
}
