package policy

import "github.com/open-policy-agent/opa/v1/ast"

// ShareWords lets OPA keep one value for each word that documents are made of,
// in place of one for each time that it stands there. What rules find is the
// same with and without it. It is for main alone, before anything of OPA is in
// use: what OPA keeps them in is no more guarded after that.
func ShareWords() { ast.InternStringTerm(words()...) }

func words() []string {
	return []string{
		// Members of entries, and what they tell (schemas/pyast-1.json).
		"args", "as", "at", "bases", "cut", "keywords", "metaclass", "module", "name", "next", "on", "text", "texts", "value",
		"argument", "assign", "attribute", "bind", "class", "def", "except", "field", "firm", "format", "import", "keyword", "match",
		"method", "none", "number", "other", "pattern", "store", "type",
		// Sections that are told of as found.
		"calls", "classes", "decorators", "formats", "integers", "nesting", "private", "source", "star", "stores", "strings", "values", "words",
		// Kinds of syntax.
		"AnnAssign", "Assert", "Assign", "AugAssign", "Break", "ClassDef", "Continue", "Delete", "DictComp", "Expr", "For", "FunctionDef",
		"GeneratorExp", "Global", "If", "Import", "ImportFrom", "Lambda", "ListComp", "Match", "NamedExpr", "Nonlocal", "Pass", "Raise",
		"Return", "SetComp", "Try", "While", "With", "Yield", "YieldFrom",
		// What most programs import.
		"collections", "fractions", "itertools", "math", "mpmath", "numpy", "plotly", "plotly.graph_objects", "random", "sympy",
	}
}
