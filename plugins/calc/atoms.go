package main

import "slices"

// primary parses an atom and what is glued to it: calls, attributes, indexes.
func (p *parser) primary() *node {
	if t := p.token(); p.is("await") {
		p.fail(t.at, "'await' outside function")
		return p.bad()
	}
	start := p.pos
	n := p.atom()
	for p.err == nil {
		base := n
		switch {
		case p.is("("):
			n = p.call(base)
		case p.is("["):
			n = p.subscript(base)
		case p.is("."):
			n = p.attribute(base)
		default:
			return n
		}
		if n != base {
			n.at = p.from(start)
		}
	}
	return n
}

func (p *parser) attribute(base *node) *node {
	p.pos++
	t := p.token()
	if t.kind != tName {
		p.unexpected()
		return base
	}
	p.pos++
	n := p.node(kAttribute, t.at, base)
	n.text = t.text
	return n
}

func (p *parser) subscript(base *node) *node {
	p.pos++
	index := p.slice()
	if p.is(",") {
		kids := []*node{index}
		for p.err == nil {
			if _, ok := p.accept(","); !ok || p.is("]") {
				break
			}
			kids = append(kids, p.slice())
		}
		index = p.node(kTuple, index.at.to(kids[len(kids)-1].at), kids...)
	}
	p.expect("]")
	return p.node(kSubscript, base.at, base, index)
}

// slice parses an index or a:b:c.
func (p *parser) slice() *node {
	at := p.token().at
	var kids []*node
	colons := 0
	for p.err == nil && !p.is("]", ",") {
		if colons < 2 && p.is(":") {
			at = at.to(p.token().at)
			colons++
			p.pos++
			continue
		}
		if len(kids) > colons {
			p.unexpected()
			break
		}
		kids = append(kids, p.element())
		at = at.to(kids[len(kids)-1].at)
	}
	switch {
	case colons > 0:
		return p.node(kSlice, at, kids...)
	case len(kids) == 1:
		return kids[0]
	}
	p.unexpected()
	return p.bad()
}

func (p *parser) call(function *node) *node {
	p.pos++
	n := p.node(kCall, function.at, function)
	for p.err == nil && !p.is(")") {
		p.argument(n)
		if _, ok := p.accept(","); !ok {
			break
		}
	}
	p.expect(")")
	if n.depth > maxDepth {
		p.stop(errTooDeep)
	}
	return n
}

// argument parses one argument into the call n.
func (p *parser) argument(n *node) {
	if star, ok := p.accept("**"); ok {
		kid := p.expression()
		n.add(p.node(kStarred, star.at.to(kid.at), kid))
		n.keywords = append(n.keywords, "**")
		return
	}
	t := p.token()
	if t.kind == tName && p.tokens[p.pos+1].kind == tOp && p.tokens[p.pos+1].text == "=" {
		p.keyword(n, t)
		return
	}
	kid := p.element()
	if p.is("for", "async") {
		kid = p.comprehension(kGenerator, kid.at, kid)
	}
	if len(n.keywords) > 0 && kid.kind != kStarred {
		p.fail(kid.at, "positional argument follows keyword argument")
		return
	}
	n.add(kid)
	if len(n.keywords) > 0 {
		n.keywords = append(n.keywords, "*")
	}
}

func (p *parser) keyword(n *node, name token) {
	p.pos += 2
	if slices.Contains(n.keywords, name.text) {
		p.fail(name.at, "keyword argument repeated: %s", name.text)
		return
	}
	n.add(p.expression())
	n.keywords = append(n.keywords, name.text)
}

func (p *parser) atom() *node {
	t := p.token()
	switch t.kind {
	case tName:
		p.pos++
		n := p.node(kName, t.at)
		n.text = t.text
		return n
	case tNumber:
		p.pos++
		return p.number(t)
	case tText:
		return p.quoted()
	case tKeyword:
		return p.constant(t)
	case tOp:
		return p.bracket(t)
	}
	p.unexpected()
	return p.bad()
}

// constant parses True, False and None.
func (p *parser) constant(t token) *node {
	var v value
	name := "bool"
	switch t.text {
	case "True":
		v = boolean(true)
	case "False":
		v = boolean(false)
	case "None":
		v, name = none{}, "none"
	case "yield":
		p.fail(t.at, "'yield' outside function")
		return p.bad()
	default:
		p.unexpected()
		return p.bad()
	}
	p.pos++
	n := p.node(kConstant, t.at)
	n.text, n.literal, n.value = t.text, name, v
	return n
}

// quoted parses adjacent string literals as one node.
func (p *parser) quoted() *node {
	first := p.token()
	at, k := first.at, kText
	for p.token().kind == tText {
		t := p.token()
		at = at.to(t.at)
		switch t.prefix {
		case "f", "rf", "fr":
			k = kFormat
		case "b", "rb", "br":
			k = kBytes
		}
		p.pos++
	}
	n := p.node(k, at)
	n.text = first.text
	return n
}

func (p *parser) bracket(t token) *node {
	switch t.text {
	case "(":
		return p.group(t)
	case "[":
		return p.list(t)
	case "{":
		return p.braces(t)
	case "...":
		p.pos++
		n := p.node(kConstant, t.at)
		n.text, n.literal, n.value = t.text, "ellipsis", ellipsis{}
		return n
	}
	p.unexpected()
	return p.bad()
}

// group parses what stands in round brackets: nothing, a tuple, a generator or
// an expression.
func (p *parser) group(open token) *node {
	p.pos++
	if end, ok := p.accept(")"); ok {
		return p.node(kTuple, open.at.to(end.at))
	}
	first := p.element()
	made := true // here, so that the brackets are a part of it
	switch {
	case p.is("for", "async"):
		first = p.comprehension(kGenerator, open.at, first)
	case p.is(","):
		first = p.tuple(kTuple, p.pos-1, first)
	case first.kind == kStarred:
		p.fail(first.at, "cannot use starred expression here")
	default:
		made = false
	}
	end := p.close(")")
	if made {
		first.at = open.at.to(end.at)
	}
	return first
}

// close expects a closing bracket, and has a word to say when a value follows
// instead.
func (p *parser) close(text string) token {
	t := p.token()
	if t.kind == tNumber || t.kind == tName || t.kind == tText {
		p.fail(t.at, "invalid syntax. Perhaps you forgot a comma?")
		return t
	}
	return p.expect(text)
}

func (p *parser) list(open token) *node {
	p.pos++
	if end, ok := p.accept("]"); ok {
		return p.node(kList, open.at.to(end.at))
	}
	first := p.element()
	var n *node
	if p.is("for", "async") {
		n = p.comprehension(kListComp, open.at, first)
	} else {
		n = p.tuple(kList, p.pos-1, first)
	}
	end := p.close("]")
	n.at = open.at.to(end.at)
	return n
}
