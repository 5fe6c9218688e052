package main

import "slices"

// arguments are those of one call, put in order: named ones in the places of
// their names, nil where one is missing.
type arguments []value

// given tells whether argument i is there.
func (a arguments) given(i int) bool { return i < len(a) && a[i] != nil }

// builtin is a function that an expression may call.
type builtin struct {
	name   string
	params params
	run    func(e *evaluator, a arguments) (value, error)
}

// params say which arguments a function takes and how it complains: CPython has
// several ways, by how the function was written in C.
type params struct {
	style  style
	min    int
	max    int      // -1: any number
	names  []string // byName: all parameters; keywordOnly: those behind the positional ones
	method string   // one: the name in the complaint
}

type style uint8

const (
	one         style = iota // exactly one, positional: math.sqrt
	positional               // from min to max, positional: math.atan2
	byName                   // from min to max, by place or name: round
	keywordOnly              // min positional, the rest by name alone: math.isclose
	logStyle                 // math.log
	manyStyle                // any number and the keywords key and default: min
)

// invoke checks the arguments and runs b.
func (e *evaluator) invoke(b *builtin, args []value, names []string, named []value) (value, error) {
	p := b.params
	if len(names) > 0 && len(p.names) == 0 {
		name := "math." + b.name
		if p.style == logStyle || p.method != "" {
			name = b.name
		}
		return nil, raise(typeError, "%s() takes no keyword arguments", name)
	}
	if err := p.count(b.name, len(args), len(names)); err != nil {
		return nil, err
	}
	if p.style == manyStyle {
		return e.extreme(b.name, args, names, named)
	}
	ordered, err := p.place(b.name, args, names, named)
	if err != nil {
		return nil, err
	}
	return b.run(e, ordered)
}

// count complains about a wrong number of positional arguments.
func (p params) count(name string, got, named int) error {
	switch p.style {
	case one:
		return p.countOne(name, got)
	case positional:
		return p.countPositional(name, got)
	case byName:
		if got+named > p.max {
			return raise(typeError, "%s() takes at most %d arguments (%d given)", name, p.max, got+named)
		}
	case keywordOnly:
		return p.countKeywordOnly(name, got, named)
	case logStyle:
		if got < 1 || got > 2 {
			return raise(typeError, "math.log requires 1 to 2 arguments")
		}
	}
	return nil
}

func (p params) countOne(name string, got int) error {
	if got == 1 {
		return nil
	}
	if p.method == "" {
		name = "math." + name
	}
	return raise(typeError, "%s() takes exactly one argument (%d given)", name, got)
}

func (p params) countPositional(name string, got int) error {
	want, qualifier := p.min, ""
	switch {
	case p.min == p.max && got == p.min, got >= p.min && (got <= p.max || p.max < 0):
		return nil
	case p.min != p.max && got < p.min:
		qualifier = "at least "
	case p.min != p.max:
		qualifier, want = "at most ", p.max
	}
	plural := "s"
	if want == 1 {
		plural = ""
	}
	return raise(typeError, "%s expected %s%d argument%s, got %d", name, qualifier, want, plural, got)
}

func (p params) countKeywordOnly(name string, got, named int) error {
	plural := "s"
	if p.min == 1 {
		plural = ""
	}
	switch {
	case got+named > len(p.names):
		return raise(typeError, "%s() takes at most %d arguments (%d given)", name, len(p.names), got+named)
	case got > p.min, got < p.min && p.min == 1:
		return raise(typeError, "%s() takes exactly %d positional argument%s (%d given)", name, p.min, plural, got)
	}
	return nil
}

// place puts named arguments where they belong.
func (p params) place(name string, args []value, names []string, named []value) (arguments, error) {
	ordered := make(arguments, max(len(args), len(p.names)))
	copy(ordered, args)
	var unknown string
	for i, word := range names {
		at := slices.Index(p.names, word)
		switch {
		case at < 0:
			unknown = word
			continue
		case ordered[at] != nil:
			return nil, raise(typeError, "argument for %s() given by name ('%s') and position (%d)", name, word, at+1)
		}
		ordered[at] = named[i]
	}
	for i := range p.min {
		if !ordered.given(i) && len(p.names) > 0 {
			return nil, raise(typeError, "%s() missing required argument '%s' (pos %d)", name, p.names[i], i+1)
		}
	}
	if unknown != "" {
		return nil, raise(typeError, "'%s' is an invalid keyword argument for %s()", unknown, name)
	}
	return ordered, nil
}
