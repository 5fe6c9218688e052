package policy

import (
	"errors"

	"github.com/open-policy-agent/opa/v1/ast"
)

// maxWeight bounds how many lists and objects stand in a value when it is written
// out. OPA's compiler writes types out, in a time that grows with the square, and
// cannot be stopped: x1 := [x0, x0], x2 := [x1, x1] and so on would keep it for
// ever.
const maxWeight = 1 << 15

// light refuses rules whose values are too heavy.
func light(modules []module) error {
	w := &weigher{rules: map[string][]*ast.Rule{}, weights: map[any]int{}}
	for _, m := range modules {
		for _, rule := range m.parsed.Rules {
			for ; rule != nil; rule = rule.Else {
				w.rules[string(rule.Head.Name)] = append(w.rules[string(rule.Head.Name)], rule)
			}
		}
	}
	var faults []error
	for _, m := range modules {
		for _, rule := range m.parsed.Rules {
			if at := w.heavy(rule); at != nil {
				faults = append(faults, located(at, "it holds more than %d lists and objects when it is written out", maxWeight))
				break // what follows holds it
			}
		}
	}
	return errors.Join(faults...)
}

// weigher knows rules by their last name: where several have it, the heaviest
// counts.
type weigher struct {
	rules   map[string][]*ast.Rule
	weights map[any]int // of a rule's name, and of a variable in a rule; 0 while it is worked out
}

// local is a variable of a rule.
type local struct {
	in   *ast.Rule
	name ast.Var
}

// heavy is the first place in a rule with a value that is too heavy; nil: none is.
func (w *weigher) heavy(rule *ast.Rule) (at *ast.Location) {
	b := w.bound(rule)
	ast.WalkExprs(rule, func(expr *ast.Expr) bool {
		for _, term := range operands(expr) {
			if at == nil && b.weigh(term) >= maxWeight {
				at = expr.Location
			}
		}
		return at != nil
	})
	if at == nil && b.head() >= maxWeight {
		at = rule.Location
	}
	return at
}

func operands(expr *ast.Expr) []*ast.Term {
	switch terms := expr.Terms.(type) {
	case []*ast.Term:
		return terms[1:]
	case *ast.Term:
		return []*ast.Term{terms}
	}
	return nil
}

// bindings are the variables of one rule and what they are set to.
type bindings struct {
	*weigher
	rule *ast.Rule
	to   map[ast.Var][]*ast.Term
}

func (w *weigher) bound(rule *ast.Rule) *bindings {
	b := &bindings{w, rule, map[ast.Var][]*ast.Term{}}
	ast.WalkExprs(rule, func(expr *ast.Expr) bool {
		if pair := operands(expr); len(pair) == 2 && (expr.IsAssignment() || expr.IsEquality()) {
			for i, term := range pair {
				if name, ok := term.Value.(ast.Var); ok {
					b.to[name] = append(b.to[name], pair[1-i])
				}
			}
		}
		return false
	})
	return b
}

func (b *bindings) head() int {
	weight := 0
	for _, term := range []*ast.Term{b.rule.Head.Key, b.rule.Head.Value} {
		if term != nil {
			weight += b.weigh(term)
		}
	}
	return weight
}

// weigh counts the lists and objects in a value, at most maxWeight.
func (b *bindings) weigh(term *ast.Term) (weight int) {
	add := func(t *ast.Term) { weight = min(weight+b.weigh(t), maxWeight) }
	switch v := term.Value.(type) {
	case ast.Var:
		return b.variable(v)
	case ast.Ref:
		return b.ref(v)
	case *ast.Array:
		weight = 1
		v.Foreach(add)
	case ast.Set:
		weight = 1
		v.Foreach(add)
	case ast.Object:
		weight = 1
		v.Foreach(func(key, value *ast.Term) { add(key); add(value) })
	case *ast.ArrayComprehension:
		weight = 1
		add(v.Term)
	case *ast.SetComprehension:
		weight = 1
		add(v.Term)
	case *ast.ObjectComprehension:
		weight = 1
		add(v.Key)
		add(v.Value)
	case ast.Call:
		if ref, ok := v[0].Value.(ast.Ref); ok {
			weight = b.ref(ref)
		}
	}
	return weight
}

func (b *bindings) variable(name ast.Var) int {
	if b.to[name] == nil {
		return b.named(string(name))
	}
	return b.once(local{b.rule, name}, func() (weight int) {
		for _, term := range b.to[name] {
			weight = max(weight, b.weigh(term))
		}
		return weight
	})
}

// ref is as heavy as the heaviest of the rules that its words may name.
func (b *bindings) ref(ref ast.Ref) (weight int) {
	for _, term := range ref {
		switch word := term.Value.(type) {
		case ast.Var:
			weight = max(weight, b.variable(word))
		case ast.String:
			weight = max(weight, b.named(string(word)))
		}
	}
	return weight
}

func (w *weigher) named(name string) int {
	if w.rules[name] == nil {
		return 0
	}
	return w.once(name, func() (weight int) {
		for _, rule := range w.rules[name] {
			weight = max(weight, w.bound(rule).head())
		}
		return min(weight, maxWeight)
	})
}

// once works a weight out and keeps it; what leads back to itself weighs nothing,
// and is an error of the compiler.
func (w *weigher) once(key any, work func() int) int {
	if weight, ok := w.weights[key]; ok {
		return weight
	}
	w.weights[key] = 0
	w.weights[key] = work()
	return w.weights[key]
}
