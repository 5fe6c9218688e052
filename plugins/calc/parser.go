package main

import (
	"errors"
	"slices"
	"unicode/utf8"
)

// maxDepth is how deep a tree may be. Brackets and chains of one precedence
// add nothing to it; what is deeper is refused as too large to judge.
const maxDepth = 1000

// errTooDeep says that a tree has more than maxDepth levels.
var errTooDeep = errors.New("expression is nested too deeply")

// parser turns tokens into a tree, by descent: a method per level of Python's
// grammar of expressions. The first complaint ends it.
type parser struct {
	tokens []token
	pos    int
	level  int // of recursion
	nodes  int
	err    error
}

// parseExpression parses one expression. The error is a *executor.CompileError
// or errTooDeep. nodes counts the nodes of the tree.
func parseExpression(text []byte) (root *node, nodes int, err error) {
	if at := firstInvalid(text); at >= 0 {
		return nil, 0, syntaxError(span{line: 1}, "(unicode error) 'utf-8' codec can't decode byte 0x%02x in position %d", text[at], at)
	}
	if slices.Contains(text, 0) {
		return nil, 0, syntaxError(span{line: 1}, "source code string cannot contain null bytes")
	}
	p := &parser{tokens: lex(string(text))}
	root = p.top()
	if p.err != nil {
		return nil, 0, p.err
	}
	return root, p.nodes, nil
}

// firstInvalid is the index of the first byte that is not UTF-8, or -1.
func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func (p *parser) token() token { return p.tokens[p.pos] }

func (p *parser) is(texts ...string) bool {
	t := p.token()
	return (t.kind == tOp || t.kind == tKeyword) && slices.Contains(texts, t.text)
}

// accept moves over the token if it is one of texts.
func (p *parser) accept(texts ...string) (token, bool) {
	t := p.token()
	if !p.is(texts...) {
		return t, false
	}
	p.pos++
	return t, true
}

func (p *parser) expect(text string) token {
	t, ok := p.accept(text)
	if !ok {
		p.unexpected()
	}
	return t
}

// unexpected complains about the token at hand.
func (p *parser) unexpected() {
	t := p.token()
	if t.kind == tFault {
		p.fail(t.at, "%s", t.text)
		return
	}
	hint := ""
	if p.pos > 0 && t.kind == tName {
		switch before := p.tokens[p.pos-1]; {
		case before.kind == tNumber:
			hint = productHint(before.text, t.text)
		case before.kind == tOp && before.text == ")":
			hint = productHint("(...)", t.text)
		}
	}
	p.fail(t.at, "invalid syntax%s", hint)
}

// fail keeps the first complaint and moves to the end, so that every loop ends.
func (p *parser) fail(at span, format string, args ...any) {
	p.stop(syntaxError(at, format, args...))
}

func (p *parser) stop(err error) {
	if p.err == nil {
		p.err = err
	}
	p.pos = len(p.tokens) - 1
}

// node makes a node and keeps the bound on depth.
func (p *parser) node(k kind, at span, kids ...*node) *node {
	p.nodes++
	n := newNode(k, at, kids...)
	if n.depth > maxDepth {
		p.stop(errTooDeep)
	}
	return n
}

// deeper guards a level of recursion; the caller must call leave.
func (p *parser) deeper() bool {
	p.level++
	if p.level > maxDepth {
		p.stop(errTooDeep)
	}
	return p.err == nil
}

func (p *parser) leave() { p.level-- }

// from is the span from the token at start to the last one read, so that it
// takes in the brackets around an operand.
func (p *parser) from(start int) span {
	return p.tokens[start].at.to(p.tokens[max(start, p.pos-1)].at)
}

// bad stands for what could not be parsed; p.err is set.
func (p *parser) bad() *node { return &node{kind: kTuple, depth: 1} }

func (p *parser) top() *node {
	first := p.starred()
	if p.is(",") {
		first = p.tuple(kBareTuple, 0, first)
	}
	if p.err == nil && p.token().kind != tEnd {
		p.unexpected()
	}
	return first
}

// tuple parses the rest of a tuple behind its first element.
func (p *parser) tuple(k kind, start int, first *node) *node {
	kids := []*node{first}
	for p.err == nil {
		if _, ok := p.accept(","); !ok || p.is(")", "]") || p.token().kind == tEnd {
			break
		}
		kids = append(kids, p.element())
	}
	return p.node(k, p.from(start), kids...)
}

// element is a part of a display: an expression, a starred or a named one.
func (p *parser) element() *node {
	n := p.starred()
	if p.is(":=") {
		return p.named(n)
	}
	return n
}

func (p *parser) named(name *node) *node {
	if name.kind != kName {
		p.fail(name.at, "cannot use assignment expressions with this")
		return name
	}
	p.pos++
	value := p.expression()
	return p.node(kNamed, name.at.to(p.from(p.pos-1)), name, value)
}

func (p *parser) starred() *node {
	if star, ok := p.accept("*"); ok {
		kid := p.chain(0)
		return p.node(kStarred, star.at.to(p.from(p.pos-1)), kid)
	}
	return p.expression()
}

// expression parses a conditional expression or a lambda. A chain of else is
// one flat node.
func (p *parser) expression() *node {
	defer p.leave()
	if !p.deeper() {
		return p.bad()
	}
	if p.is("lambda") {
		return p.lambda()
	}
	start := p.pos
	first := p.or()
	if !p.is("if") {
		return first
	}
	kids := []*node{first}
	for {
		if _, ok := p.accept("if"); !ok {
			break
		}
		kids = append(kids, p.or())
		if p.err == nil && !p.is("else") {
			p.fail(p.from(start), "expected 'else' after 'if' expression")
		}
		p.accept("else")
		if p.is("lambda") {
			kids = append(kids, p.lambda())
			break
		}
		kids = append(kids, p.or())
	}
	return p.node(kIf, p.from(start), kids...)
}

func (p *parser) or() *node  { return p.boolean("or", p.and) }
func (p *parser) and() *node { return p.boolean("and", p.not) }

func (p *parser) boolean(op string, operand func() *node) *node {
	start := p.pos
	first := operand()
	if !p.is(op) {
		return first
	}
	n := p.node(kBool, first.at, first)
	for {
		t, ok := p.accept(op)
		if !ok {
			n.at = p.from(start)
			return n
		}
		n.ops, n.opsAt = append(n.ops, op), append(n.opsAt, t.at)
		n.add(operand())
	}
}

func (p *parser) not() *node {
	return p.prefixed([]string{"not"}, p.comparison)
}

// prefixed parses a run of prefix operators as one node.
func (p *parser) prefixed(ops []string, operand func() *node) *node {
	start := p.pos
	first, ok := p.accept(ops...)
	if !ok {
		return operand()
	}
	names, places := []string{first.text}, []span{first.at}
	for {
		t, ok := p.accept(ops...)
		if !ok {
			break
		}
		names, places = append(names, t.text), append(places, t.at)
	}
	kid := operand()
	n := p.node(kUnary, p.from(start), kid)
	n.ops, n.opsAt = names, places
	return n
}

func (p *parser) comparison() *node {
	start := p.pos
	first := p.chain(0)
	op, at, ok := p.comparer()
	if !ok {
		return first
	}
	n := p.node(kCompare, first.at, first)
	for ok {
		n.ops, n.opsAt = append(n.ops, op), append(n.opsAt, at)
		n.add(p.chain(0))
		n.at = p.from(start)
		op, at, ok = p.comparer()
	}
	return n
}

// comparer reads a comparison operator, some of which are two words.
func (p *parser) comparer() (op string, at span, ok bool) {
	t, ok := p.accept("<", ">", "==", ">=", "<=", "!=", "in", "is")
	if ok {
		if not, two := p.accept("not"); two && t.text == "is" {
			return "is not", t.at.to(not.at), true
		} else if two {
			p.pos--
		}
		return t.text, t.at, true
	}
	if !p.is("not") || p.pos+1 >= len(p.tokens) || p.tokens[p.pos+1].text != "in" {
		return "", span{}, false
	}
	p.pos += 2
	return "not in", t.at.to(p.tokens[p.pos-1].at), true
}

// levels are the operators that join from the left, loosest first.
var levels = [][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"}}

// chain parses one level of left-joining operators as one flat node.
func (p *parser) chain(level int) *node {
	operand := func() *node { return p.chain(level + 1) }
	if level == len(levels) {
		return p.unary()
	}
	start := p.pos
	first := operand()
	if !p.is(levels[level]...) {
		return first
	}
	n := p.node(kChain, first.at, first)
	for {
		t, ok := p.accept(levels[level]...)
		if !ok {
			n.at = p.from(start)
			return n
		}
		n.ops, n.opsAt = append(n.ops, t.text), append(n.opsAt, t.at)
		n.add(operand())
	}
}

func (p *parser) unary() *node { return p.prefixed([]string{"-", "+", "~"}, p.power) }

// power parses a run of ** as one flat node. An exponent with a sign holds the
// rest of the run, so it ends the node.
func (p *parser) power() *node {
	start := p.pos
	first := p.primary()
	if !p.is("**") {
		return first
	}
	n := p.node(kPower, first.at, first)
	for {
		t, ok := p.accept("**")
		if !ok {
			break
		}
		n.ops, n.opsAt = append(n.ops, "**"), append(n.opsAt, t.at)
		n.add(p.exponent())
	}
	n.at = p.from(start)
	if n.depth > maxDepth {
		p.stop(errTooDeep)
	}
	return n
}

func (p *parser) exponent() *node {
	if !p.is("-", "+", "~") {
		return p.primary()
	}
	defer p.leave()
	if !p.deeper() {
		return p.bad()
	}
	return p.unary()
}
