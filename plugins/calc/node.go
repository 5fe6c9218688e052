package main

import "fmt"

// span is a place in the text: lines from 1, columns from 0, in characters.
type span struct{ line, col, endLine, endCol int }

// String is the position as the tree document writes it.
func (s span) String() string {
	return fmt.Sprintf("%d:%d:%d:%d", s.line, s.col, s.endLine, s.endCol)
}

// to is the span from the beginning of s to the end of last.
func (s span) to(last span) span {
	return span{s.line, s.col, last.endLine, last.endCol}
}

// kind names what a node is; the names are those of Python's own grammar, but
// for Chain and Power (both BinOp there) and BareTuple (a tuple that no bracket
// shows, which is how a thousands comma reads).
type kind string

const (
	kConstant  kind = "Constant"
	kName      kind = "Name"
	kAttribute kind = "Attribute" // kids[0].text
	kSubscript kind = "Subscript" // kids[0][kids[1]]
	kSlice     kind = "Slice"
	kCall      kind = "Call" // kids[0](kids[1:]); the last len(keywords) kids are keyword arguments
	kStarred   kind = "Starred"
	kUnary     kind = "UnaryOp" // ops, outermost first, before kids[0]
	kChain     kind = "Chain"   // kids joined by ops of one precedence, from the left
	kPower     kind = "Power"   // kids joined by **, from the right
	kCompare   kind = "Compare"
	kBool      kind = "BoolOp"
	kIf        kind = "IfExp" // value, test, value, test, …, value
	kTuple     kind = "Tuple"
	kBareTuple kind = "BareTuple"
	kList      kind = "List"
	kSet       kind = "Set"
	kDict      kind = "Dict"
	kLambda    kind = "Lambda"
	kListComp  kind = "ListComp"
	kSetComp   kind = "SetComp"
	kDictComp  kind = "DictComp"
	kGenerator kind = "GeneratorExp"
	kNamed     kind = "NamedExpr"
	kText      kind = "Str"
	kBytes     kind = "Bytes"
	kFormat    kind = "JoinedStr"
)

// node is one node of the tree. Chains of one precedence are one flat node, so
// that a long sum is neither deep nor a danger to a recursive reader.
type node struct {
	kind     kind
	at       span
	text     string // a name, an attribute, or a literal as it was written
	literal  string // Constant: "int", "float", "complex", "bool", "none" or "ellipsis"
	value    value  // Constant
	ops      []string
	opsAt    []span
	kids     []*node
	keywords []string
	depth    int
}

// newNode makes a node over kids and computes its depth.
func newNode(k kind, at span, kids ...*node) *node {
	n := &node{kind: k, at: at, kids: kids, depth: 1}
	for _, kid := range kids {
		n.depth = max(n.depth, kid.depth+1)
	}
	return n
}

// add appends a kid to n.
func (n *node) add(kid *node) {
	n.kids = append(n.kids, kid)
	n.depth = max(n.depth, kid.depth+1)
}

// dotted is the name that n spells ("math.sqrt"), or "" when its root is not a
// name.
func (n *node) dotted() string {
	var tail string
	for n.kind == kAttribute {
		tail = "." + n.text + tail
		n = n.kids[0]
	}
	if n.kind != kName {
		return tail
	}
	return n.text + tail
}
