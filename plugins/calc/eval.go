package main

import (
	"context"
	"errors"
	"math"

	"github.com/sluice-gateway/sluice/executor"
)

// evaluator computes one tree. It is for one goroutine and one use.
type evaluator struct {
	ctx   context.Context
	spent int64 // bytes taken by large results so far
	limit int64
	steps int
}

// memoryLimit bounds what all large results of one expression take together.
const memoryLimit = 64 << 20

func newEvaluator(ctx context.Context, g executor.Grant) *evaluator {
	limit := int64(memoryLimit)
	if m := g.Limits.MemoryBytes; m > 0 && m < memoryLimit {
		limit = int64(m)
	}
	return &evaluator{ctx: ctx, limit: limit}
}

// tick must be called in every loop over data; it ends a run whose time is up.
func (e *evaluator) tick() error {
	if e.steps++; e.steps%256 != 0 {
		return nil
	}
	return e.expired()
}

// expired tells why the run is over, if it is.
func (e *evaluator) expired() error {
	if e.ctx.Err() != nil {
		return context.Cause(e.ctx)
	}
	return nil
}

// spend accounts for n bytes that a result takes.
func (e *evaluator) spend(n int64) error {
	if e.spent += n; e.spent > e.limit {
		return executor.ErrMemory
	}
	return nil
}

// eval computes n. Depth is bounded by the parser, so recursion is too.
func (e *evaluator) eval(n *node) (value, error) {
	if err := e.tick(); err != nil {
		return nil, err
	}
	v, err := e.dispatch(n)
	return v, placed(err, n.at)
}

// placed puts the place into an error that has none yet.
func placed(err error, at span) error {
	var fault *executor.RuntimeError
	if errors.As(err, &fault) && fault.Line == 0 {
		fault.Line, fault.Column = uint32(at.line), uint32(at.col+1)
	}
	return err
}

func (e *evaluator) dispatch(n *node) (value, error) {
	switch n.kind {
	case kConstant:
		return n.value, nil
	case kName:
		return lookup(n.text)
	case kAttribute:
		return attribute(n)
	case kCall:
		return e.call(n)
	case kUnary:
		return e.unary(n)
	case kChain:
		return e.chain(n)
	case kPower:
		return e.power(n)
	}
	return e.control(n)
}

func (e *evaluator) control(n *node) (value, error) {
	switch n.kind {
	case kCompare:
		return e.compare(n)
	case kBool:
		return e.boolean(n)
	case kIf:
		return e.conditional(n)
	case kTuple, kBareTuple, kList:
		items, err := e.all(n.kids)
		return &sequence{tuple: n.kind != kList, items: items}, err
	}
	return nil, raise(typeError, "the calculator does not evaluate %s", n.kind)
}

func (e *evaluator) all(nodes []*node) ([]value, error) {
	values := make([]value, 0, len(nodes))
	for _, n := range nodes {
		v, err := e.eval(n)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

func lookup(name string) (value, error) {
	if v, ok := constants[name]; ok {
		return v, nil
	}
	if b, ok := bare[name]; ok {
		return b, nil
	}
	return nil, raise(nameError, "name '%s' is not defined", name)
}

// constants are the numbers that the module math names.
var constants = map[string]value{
	"pi": math.Pi, "e": math.E, "tau": 2 * math.Pi, "inf": math.Inf(1), "nan": math.NaN(),
}

// attribute knows one: math.NAME.
func attribute(n *node) (value, error) {
	if n.kids[0].kind == kName && n.kids[0].text == "math" {
		if v, ok := constants[n.text]; ok {
			return v, nil
		}
		if b, ok := module[n.text]; ok {
			return b, nil
		}
		return nil, raise("AttributeError", "module 'math' has no attribute '%s'", n.text)
	}
	return nil, raise("AttributeError", "the calculator knows no attribute '%s'", n.text)
}

func (e *evaluator) call(n *node) (value, error) {
	f, err := e.eval(n.kids[0])
	if err != nil {
		return nil, err
	}
	b, ok := f.(*builtin)
	if !ok {
		return nil, raise(typeError, "'%s' object is not callable", typeName(f))
	}
	for _, word := range n.keywords {
		if word == "*" || word == "**" {
			return nil, raise(typeError, "the calculator does not evaluate %s", kStarred)
		}
	}
	values, err := e.all(n.kids[1:])
	if err != nil {
		return nil, err
	}
	positional := len(values) - len(n.keywords)
	return e.invoke(b, values[:positional], n.keywords, values[positional:])
}

func (e *evaluator) unary(n *node) (value, error) {
	v, err := e.eval(n.kids[0])
	for i := len(n.ops) - 1; i >= 0 && err == nil; i-- {
		if err = e.tick(); err == nil {
			v, err = e.negate(n.ops[i], v)
		}
	}
	return v, err
}

func (e *evaluator) chain(n *node) (value, error) {
	v, err := e.eval(n.kids[0])
	for i, op := range n.ops {
		if err != nil {
			return nil, err
		}
		var next value
		if next, err = e.eval(n.kids[i+1]); err != nil {
			return nil, err
		}
		v, err = e.binary(op, v, next)
		err = placed(err, n.opsAt[i])
	}
	return v, err
}

// power joins from the right, but evaluates its operands from the left.
func (e *evaluator) power(n *node) (value, error) {
	operands, err := e.all(n.kids)
	if err != nil {
		return nil, err
	}
	v := operands[len(operands)-1]
	for i := len(operands) - 2; i >= 0; i-- {
		if v, err = e.binary("**", operands[i], v); err != nil {
			return nil, placed(err, n.opsAt[i])
		}
	}
	return v, nil
}

func (e *evaluator) compare(n *node) (value, error) {
	left, err := e.eval(n.kids[0])
	if err != nil {
		return nil, err
	}
	for i, op := range n.ops {
		right, err := e.eval(n.kids[i+1])
		if err != nil {
			return nil, err
		}
		ok, err := e.holds(op, left, right)
		if err != nil || !ok {
			return boolean(false), placed(err, n.opsAt[i])
		}
		left = right
	}
	return boolean(true), nil
}

// boolean gives the operand that decided, as Python does.
func (e *evaluator) boolean(n *node) (v value, err error) {
	for _, kid := range n.kids {
		if v, err = e.eval(kid); err != nil || truth(v) == (n.ops[0] == "or") {
			return v, err
		}
	}
	return v, nil
}

func (e *evaluator) conditional(n *node) (value, error) {
	for i := 0; i+2 < len(n.kids); i += 2 {
		test, err := e.eval(n.kids[i+1])
		if err != nil {
			return nil, err
		}
		if truth(test) {
			return e.eval(n.kids[i])
		}
	}
	return e.eval(n.kids[len(n.kids)-1])
}
