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
	if c, ok := a.(complex128); ok && rankOf(b) != notNumber {
		return sameComplex(c, b), nil
	}
	if c, ok := b.(complex128); ok && rankOf(a) != notNumber {
		return sameComplex(c, a), nil
	}
	if rankOf(a) != notNumber && rankOf(b) != notNumber {
		order, ok := orderReals(a, b)
		return ok && order == 0, nil
	}
	sa, aIs := a.(*sequence)
	sb, bIs := b.(*sequence)
	if !aIs || !bIs {
		return rankOf(a) == notNumber && rankOf(b) == notNumber && a == b, nil
	}
	if sa == sb || sa.tuple != sb.tuple || len(sa.items) != len(sb.items) {
		return sa == sb, nil
	}
	i, err := e.firstDifference(sa.items, sb.items)
	return i == len(sa.items), err
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
	ra, rb := rankOf(a), rankOf(b)
	if ra != notNumber && rb != notNumber && ra != rankComplex && rb != rankComplex {
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
