package main

// holds tells whether a op b, for comparison operators.
func (e *evaluator) holds(op string, a, b value) (bool, error) {
	switch op {
	case "==":
		return e.same(a, b)
	case "!=":
		same, err := e.same(a, b)
		return !same, err
	case "in", "not in":
		found, err := e.contains(b, a)
		return found == (op == "in"), err
	case "is", "is not":
		return false, raise(typeError, "the calculator does not evaluate %s", op)
	}
	return e.ordered(op, a, b)
}

func (e *evaluator) contains(in, v value) (bool, error) {
	s, ok := in.(*sequence)
	if !ok {
		return false, raise(typeError, "argument of type '%s' is not iterable", typeName(in))
	}
	for _, item := range s.items {
		if same, err := e.same(item, v); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

// same is ==. A sequence equals itself without a look at its items.
func (e *evaluator) same(a, b value) (bool, error) {
	if err := e.tick(); err != nil {
		return false, err
	}
	numbers := 0
	for _, v := range []value{a, b} {
		if rankOf(v) != notNumber {
			numbers++
		}
	}
	switch numbers {
	case 2:
		return sameNumber(a, b), nil
	case 1:
		return false, nil
	}
	sa, aIs := a.(*sequence)
	sb, bIs := b.(*sequence)
	if aIs && bIs && sa != sb {
		return e.sameItems(sa, sb)
	}
	return a == b, nil
}

func sameNumber(a, b value) bool {
	if c, ok := a.(complex128); ok {
		return sameComplex(c, b)
	}
	if c, ok := b.(complex128); ok {
		return sameComplex(c, a)
	}
	order, ok := orderReals(a, b)
	return ok && order == 0
}

func (e *evaluator) sameItems(a, b *sequence) (bool, error) {
	if a.tuple != b.tuple || len(a.items) != len(b.items) {
		return false, nil
	}
	i, err := e.firstDifference(a.items, b.items)
	return i == len(a.items), err
}

// firstDifference is the first index at which the items differ, or the length
// of the shorter.
func (e *evaluator) firstDifference(a, b []value) (int, error) {
	for i := range min(len(a), len(b)) {
		if same, err := e.same(a[i], b[i]); err != nil || !same {
			return i, err
		}
	}
	return min(len(a), len(b)), nil
}

// ordered is one of < > <= >=.
func (e *evaluator) ordered(op string, a, b value) (bool, error) {
	if err := e.tick(); err != nil {
		return false, err
	}
	if isReal(a) && isReal(b) {
		order, ok := orderReals(a, b)
		return ok && admits(op, order), nil
	}
	sa, aIs := a.(*sequence)
	sb, bIs := b.(*sequence)
	if !aIs || !bIs || sa.tuple != sb.tuple {
		return false, raise(typeError, "'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
	}
	i, err := e.firstDifference(sa.items, sb.items)
	if err != nil {
		return false, err
	}
	if i < len(sa.items) && i < len(sb.items) {
		return e.ordered(op, sa.items[i], sb.items[i])
	}
	return admits(op, len(sa.items)-len(sb.items)), nil
}

func isReal(v value) bool { return rankOf(v) == rankInt || rankOf(v) == rankFloat }

// admits tells whether op holds for operands of that order.
func admits(op string, order int) bool {
	switch op {
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order >= 0
}
