package main

// This file parses what the calculator never evaluates: functions,
// comprehensions, sets and dictionaries. They are parsed so that the policy can
// name them and say what to do instead.

// lambda parses a function. Its parameters are nodes of kind Name.
func (p *parser) lambda() *node {
	open := p.expect("lambda")
	n := p.node(kLambda, open.at)
	for p.err == nil && !p.is(":") {
		p.accept("*", "**", "/")
		if t := p.token(); t.kind == tName {
			p.pos++
			name := p.node(kName, t.at)
			name.text = t.text
			n.add(name)
		}
		if _, ok := p.accept("="); ok {
			n.add(p.expression())
		}
		if _, ok := p.accept(","); !ok && !p.is(":") {
			p.unexpected()
		}
	}
	p.expect(":")
	n.add(p.expression())
	if n.depth > maxDepth {
		p.stop(errTooDeep)
	}
	n.at = open.at.to(n.kids[len(n.kids)-1].at)
	return n
}

// comprehension parses the for and if clauses behind first.
func (p *parser) comprehension(k kind, at span, first ...*node) *node {
	n := p.node(k, at, first...)
	for p.err == nil && p.is("for", "async") {
		p.accept("async")
		p.expect("for")
		n.add(p.targets())
		p.expect("in")
		n.add(p.or())
		for p.err == nil {
			if _, ok := p.accept("if"); !ok {
				break
			}
			n.add(p.or())
		}
	}
	if n.depth > maxDepth {
		p.stop(errTooDeep)
	}
	if p.err == nil {
		n.at = at.to(p.tokens[p.pos-1].at)
	}
	return n
}

// targets parses the names that a comprehension binds.
func (p *parser) targets() *node {
	p.accept("*")
	first := p.chain(0)
	if !p.is(",") {
		return first
	}
	kids := []*node{first}
	for p.err == nil {
		if _, ok := p.accept(","); !ok || p.is("in") {
			break
		}
		p.accept("*")
		kids = append(kids, p.chain(0))
	}
	return p.node(kTuple, first.at.to(kids[len(kids)-1].at), kids...)
}

// braces parses a set, a dictionary or a comprehension of either.
func (p *parser) braces(open token) *node {
	p.pos++
	if end, ok := p.accept("}"); ok {
		return p.node(kDict, open.at.to(end.at))
	}
	k := kSet
	var kids []*node
	for p.err == nil && !p.is("}") {
		var pair bool
		if kids, pair = p.entry(kids); pair {
			k = kDict
		}
		if p.is("for", "async") {
			k = map[kind]kind{kSet: kSetComp, kDict: kDictComp}[k]
			n := p.comprehension(k, open.at, kids...)
			n.at = open.at.to(p.close("}").at)
			return n
		}
		if _, ok := p.accept(","); !ok {
			break
		}
	}
	end := p.close("}")
	return p.node(k, open.at.to(end.at), kids...)
}

// entry parses an element of a set or a pair of a dictionary.
func (p *parser) entry(kids []*node) (more []*node, pair bool) {
	if _, ok := p.accept("**"); ok {
		return append(kids, p.chain(0)), true
	}
	kids = append(kids, p.element())
	if _, ok := p.accept(":"); ok {
		return append(kids, p.expression()), true
	}
	return kids, false
}
