package executor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Index is a ready-made tree document: what a policy reads of a program, by the
// place where it stands, such as every name and every attribute. A rule then
// looks names up (input.ast.names.eval) and walks no tree. It is not safe for
// concurrent use.
type Index struct {
	sections     map[string]map[string][]string
	nodes, depth uint32
}

// mostPlaces bounds the places that are kept of one key.
const mostPlaces = 16

// NewIndex makes an index with these sections; each is in the document even if
// nothing is added to it, since a rule over a missing section is an error.
func NewIndex(sections ...string) *Index {
	x := &Index{sections: map[string]map[string][]string{}}
	for _, s := range sections {
		x.sections[s] = map[string][]string{}
	}
	return x
}

// Place writes a position as the policy wants it: lines from 1, columns from 0.
func Place(line, column, endLine, endColumn int) string {
	return fmt.Sprintf("%d:%d:%d:%d", line, column, endLine, endColumn)
}

// Add notes that key stands at a Place. Of one key the first 16 places are kept.
func (x *Index) Add(section, key, place string) {
	s := x.sections[section]
	if s == nil {
		s = map[string][]string{}
		x.sections[section] = s
	}
	key = strings.ToValidUTF8(key, "\uFFFD")
	if places := s[key]; len(places) < mostPlaces && !slices.Contains(places, place) {
		s[key] = append(places, place)
	} else if places == nil {
		s[key] = []string{}
	}
}

// Node counts one node of the syntax tree, depth levels below its root.
func (x *Index) Node(depth int) {
	x.nodes++
	x.depth = max(x.depth, uint32(max(depth, 0)))
}

// Tree writes the document for l, whose schema IndexSchema describes. It gives
// ErrTreeTooLarge when it exceeds src.MaxTreeBytes.
func (x *Index) Tree(l Language, src Source) (Tree, error) {
	text, err := json.Marshal(map[string]any{
		"schema": l.TreeSchema, "language": l.ID, "grammar": l.Grammar, "ast": x.sections,
		"code": map[string]any{
			"sha256": fmt.Sprintf("%x", src.Digest()), "bytes": len(src.Code), "lines": 1 + strings.Count(string(src.Code), "\n"),
			"nodes": x.nodes, "depth": x.depth,
		},
	})
	if err != nil {
		return Tree{}, fmt.Errorf("write the tree document: %w", err)
	}
	if src.MaxTreeBytes > 0 && uint64(len(text)) > src.MaxTreeBytes {
		return Tree{}, ErrTreeTooLarge
	}
	return Tree{Schema: l.TreeSchema, JSON: text, Nodes: x.nodes, Depth: x.depth}, nil
}

// IndexSchema is the JSON Schema of Index documents with these sections.
func IndexSchema(treeSchema, language string, sections ...string) []byte {
	type object = map[string]any
	kind := func(name string) object { return object{"type": name} }
	fixed := func(value string) object { return object{"type": "string", "const": value} }
	gateways := "set by the gateway"
	properties := object{}
	for _, s := range sections {
		properties[s] = object{"type": "object", "additionalProperties": object{"type": "array", "items": kind("string")}}
	}
	text, err := json.Marshal(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": treeSchema, "type": "object", "additionalProperties": false,
		"required": []string{"schema", "language", "grammar", "code", "ast"},
		"properties": object{
			"schema": fixed(treeSchema), "language": fixed(language), "grammar": kind("string"),
			"tool": object{"type": "string", "description": gateways}, "profile": object{"type": "string", "description": gateways},
			"caller": object{"type": "string", "description": gateways}, "session": object{"type": "boolean", "description": gateways},
			"code": object{
				"type": "object", "additionalProperties": false, "required": []string{"sha256", "bytes", "lines", "nodes", "depth"},
				"properties": object{"sha256": kind("string"), "bytes": kind("integer"), "lines": kind("integer"), "nodes": kind("integer"), "depth": kind("integer")},
			},
			"ast": object{"type": "object", "additionalProperties": false, "required": sections, "properties": properties},
		},
	})
	if err != nil { // there is nothing in it that JSON cannot hold
		return nil
	}
	return text
}
