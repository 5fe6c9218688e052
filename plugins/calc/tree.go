package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluice-gateway/sluice/executor"
)

// treeSchema names the document that the policy reads; calcast-1.json is its
// JSON Schema.
const treeSchema = "calcast/1"

const (
	maxPlaces  = 16 // of one key; the rest is counted under truncated
	maxLiteral = 64 // characters of a literal that are shown
)

// document is the plugin's part of what the policy sees: an index of what the
// expression uses, and the tree itself.
type document struct {
	Schema   string         `json:"schema"`
	Language string         `json:"language"`
	Grammar  string         `json:"grammar"`
	Code     codeFacts      `json:"code"`
	AST      map[string]any `json:"ast"`
}

type codeFacts struct {
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
	Lines  int    `json:"lines"`
	Nodes  int    `json:"nodes"`
	Depth  int    `json:"depth"`
}

type callFact struct {
	At       string   `json:"at"`
	Args     int      `json:"args"`
	Keywords []string `json:"keywords"`
}

type literalFact struct {
	At   string `json:"at"`
	Text string `json:"text"`
}

// treeNode is one node of the section "tree".
type treeNode struct {
	Type     string      `json:"_type"`
	Loc      string      `json:"loc"`
	ID       string      `json:"id,omitempty"`
	Attr     string      `json:"attr,omitempty"`
	Literal  string      `json:"literal,omitempty"`
	Text     string      `json:"text,omitempty"`
	Ops      []string    `json:"ops,omitempty"`
	Keywords []string    `json:"keywords,omitempty"`
	Kids     []*treeNode `json:"kids,omitempty"`
}

// dump writes the document of root. sections names the parts of it that are
// wanted, nil means all; limit bounds the bytes, 0 is no bound.
func dump(root *node, nodes int, src executor.Source, limit uint64) (executor.Tree, error) {
	ix := newIndex()
	ix.walk(root)
	doc := document{
		Schema: treeSchema, Language: languageID, Grammar: grammar,
		Code: codeFacts{
			SHA256: fmt.Sprintf("%x", src.Digest()), Bytes: len(src.Code), Lines: 1 + strings.Count(string(src.Code), "\n"),
			Nodes: nodes, Depth: root.depth,
		},
		AST: ix.sections(root, nodes, src.Sections),
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(doc); err != nil {
		return executor.Tree{}, fmt.Errorf("encode tree: %w", err)
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if limit > 0 && uint64(len(text)) > limit {
		return executor.Tree{}, executor.ErrTreeTooLarge
	}
	return executor.Tree{Schema: treeSchema, JSON: text, Nodes: uint32(nodes), Depth: uint32(root.depth)}, nil
}

// index collects places by what is found there.
type index struct {
	places    map[string]map[string][]string // section → key → positions
	calls     map[string][]callFact
	literals  map[string][]literalFact
	truncated map[string]map[string]int
}

func newIndex() *index {
	ix := &index{
		places: map[string]map[string][]string{}, calls: map[string][]callFact{},
		literals: map[string][]literalFact{}, truncated: map[string]map[string]int{},
	}
	for _, section := range []string{"names", "paths", "operators", "kinds"} {
		ix.places[section] = map[string][]string{}
	}
	return ix
}

// room tells whether one more of n may be kept, and counts it if not.
func (ix *index) room(section, key string, n int) bool {
	if n < maxPlaces {
		return true
	}
	if ix.truncated[section] == nil {
		ix.truncated[section] = map[string]int{}
	}
	ix.truncated[section][key]++
	return false
}

func (ix *index) place(section, key string, at span) {
	if found := ix.places[section]; ix.room(section, key, len(found[key])) {
		found[key] = append(found[key], at.String())
	}
}

// walk indexes n and all below it; the parser bounds the depth.
func (ix *index) walk(n *node) {
	ix.place("kinds", string(n.kind), n.at)
	for i, op := range n.ops {
		ix.place("operators", op, n.opsAt[i])
	}
	switch n.kind {
	case kName:
		ix.place("names", n.text, n.at)
	case kAttribute:
		ix.place("paths", n.dotted(), n.at)
	case kCall:
		ix.call(n)
	case kConstant:
		ix.literal(n.literal, n)
	case kText, kBytes, kFormat:
		ix.literal(strings.ToLower(string(n.kind)), n)
	}
	for _, kid := range n.kids {
		if n.kind == kAttribute && kid.kind == kName {
			break // the root of a path stands under paths
		}
		ix.walk(kid)
	}
}

// call indexes under the function's dotted name, or "" when it has none.
func (ix *index) call(n *node) {
	name := n.kids[0].dotted()
	if strings.HasPrefix(name, ".") {
		name = ""
	}
	if ix.room("calls", name, len(ix.calls[name])) {
		ix.calls[name] = append(ix.calls[name], callFact{
			At: n.at.String(), Args: len(n.kids) - 1 - len(n.keywords), Keywords: append([]string{}, n.keywords...),
		})
	}
}

func (ix *index) literal(name string, n *node) {
	if ix.room("literals", name, len(ix.literals[name])) {
		ix.literals[name] = append(ix.literals[name], literalFact{At: n.at.String(), Text: clip(n.text)})
	}
}

// clip is text up to maxLiteral characters.
func clip(text string) string {
	if utf8.RuneCountInString(text) <= maxLiteral {
		return text
	}
	return string([]rune(text)[:maxLiteral])
}

// sections gives those that are wanted; what was cut is always told.
func (ix *index) sections(root *node, nodes int, wanted []string) map[string]any {
	all := map[string]func() any{
		"names":     func() any { return ix.places["names"] },
		"paths":     func() any { return ix.places["paths"] },
		"operators": func() any { return ix.places["operators"] },
		"kinds":     func() any { return ix.places["kinds"] },
		"calls":     func() any { return ix.calls },
		"literals":  func() any { return ix.literals },
		"truncated": func() any { return ix.truncated },
		"nodes":     func() any { return nodes },
		"depth":     func() any { return root.depth },
		"tree":      func() any { return treeOf(root) },
	}
	ast := map[string]any{}
	for name, section := range all {
		if wanted == nil || name == "truncated" || slices.Contains(wanted, name) {
			ast[name] = section()
		}
	}
	return ast
}

func treeOf(n *node) *treeNode {
	t := &treeNode{Type: string(n.kind), Loc: n.at.String(), Literal: n.literal, Ops: n.ops, Keywords: n.keywords}
	switch n.kind {
	case kName:
		t.ID = n.text
	case kAttribute:
		t.Attr = n.text
	default:
		t.Text = clip(n.text)
	}
	for _, kid := range n.kids {
		t.Kids = append(t.Kids, treeOf(kid))
	}
	return t
}
