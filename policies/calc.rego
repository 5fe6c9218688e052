# METADATA
# title: Rules for calculator expressions
# description: |
#   What an expression may name, call and consist of. The calculator computes nothing
#   else in any case; these rules are here so that the answer says what to write
#   instead, and so that an operator can take functions away. `functions` and
#   `constants` list all that the calculator knows; a name that is in neither is
#   refused. Positions and sections are those of schemas/calcast-1.json.
package rules.calc

# Functions that may be called, bare or as math.NAME (where the module math has them).
functions := {
	"abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "comb", "copysign", "cos", "cosh",
	"degrees", "dist", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "factorial", "floor", "fmod", "frexp", "fsum",
	"gamma", "gcd", "hypot", "isclose", "isfinite", "isinf", "isnan", "isqrt", "lcm", "ldexp", "lgamma", "log", "log10",
	"log1p", "log2", "max", "min", "modf", "nextafter", "perm", "pow", "prod", "radians", "remainder", "round", "sin",
	"sinh", "sqrt", "tan", "tanh", "trunc", "ulp",
}

# Functions that are Python's own and not of its module math.
builtin_functions := {"abs", "max", "min", "round"}

constants := {"e", "inf", "nan", "pi", "tau"}

# Calls that are told as blocked rather than as unknown.
blocked_calls := {
	"__import__", "breakpoint", "compile", "delattr", "dir", "eval", "exec", "exit", "getattr", "globals", "help", "input",
	"locals", "memoryview", "open", "quit", "setattr", "vars",
}

# Kinds of nodes that an expression may not have, and what they are called.
denied_kinds := {
	"Lambda": "a function (lambda)",
	"ListComp": "a list comprehension",
	"SetComp": "a set comprehension",
	"DictComp": "a dict comprehension",
	"GeneratorExp": "a generator expression",
	"NamedExpr": "an assignment (:=)",
	"Starred": "a starred expression",
	"Subscript": "an index",
	"Slice": "a slice",
	"Set": "a set",
	"Dict": "a dict",
	"Str": "text",
	"Bytes": "bytes",
	"JoinedStr": "formatted text",
}

denied_operators := {"@", "^", "is", "is not"}

known_path(path) if {
	startswith(path, "math.")
	of_math(substring(path, 5, -1))
}

of_math(name) if name in constants

of_math(name) if {
	name in functions
	not name in builtin_functions
}

default grants := set()

# METADATA
# title: Name or attribute with a leading underscore
# custom: {id: calc-underscore, hint: "Use the functions and constants of Python's math module by their plain names."}
deny contains {"rule": "calc-underscore", "msg": sprintf("dunder names are blocked: %s", [name]), "at": at, "subject": name} if {
	some name, places in input.ast.names
	startswith(name, "_")
	not name in blocked_calls
	some at in places
}

# METADATA
# title: Attribute access
# custom: {id: calc-attribute, hint: "The only attributes are those of math, such as math.sqrt; the names work without the prefix, too."}
deny contains {"rule": "calc-attribute", "msg": sprintf("attribute access is blocked: %s", [path]), "at": at, "subject": path} if {
	some path, places in input.ast.paths
	not known_path(path)
	some at in places
}

# METADATA
# title: Call of a blocked builtin
# custom: {id: calc-blocked-call, hint: "The calculator has math functions only; use the Python tool for anything else."}
deny contains {"rule": "calc-blocked-call", "msg": sprintf("%s() is blocked", [name]), "at": at, "subject": name} if {
	some name in graph.reachable(input.ast.names, blocked_calls)
	some at in input.ast.names[name]
}

# METADATA
# title: Unknown function
# custom:
#   id: calc-unknown-function
#   hint: "Known: the functions of Python's math module, and abs, min, max, round, pow. Use the Python tool for others."
#   hints:
#     arccos: "Write acos(x)."
#     arcsin: "Write asin(x)."
#     arctan: "Write atan(x)."
#     lg: "Write log10(x)."
#     ln: "Write log(x), which is the natural logarithm."
#     root: "Write sqrt(x), cbrt(x), or x**(1/n)."
#     sum: "Write fsum([1, 2, 3])."
deny contains {"rule": "calc-unknown-function", "msg": sprintf("%s() is not a function of the calculator", [name]), "at": call.at, "subject": name} if {
	some name, calls in input.ast.calls
	unknown(name)
	some call in calls
}

# METADATA
# title: Unknown name
# custom: {id: calc-unknown-name, hint: "There are no variables: put the number in. Known constants: pi, e, tau, inf, nan."}
deny contains {"rule": "calc-unknown-name", "msg": sprintf("name %s is not defined", [name]), "at": at, "subject": name} if {
	some name, places in input.ast.names
	unknown(name)
	not input.ast.calls[name]
	some at in places
}

# A plain name that is neither known nor blocked by a rule of its own.
unknown(name) if {
	not name in functions
	not name in constants
	not name in blocked_calls
	name != ""
	not contains(name, ".")
	not startswith(name, "_")
	not binds
}

# The expression binds names of its own. That is refused by calc-kind, and the
# names would only be noise beside it.
binds if {
	some kind in {"DictComp", "GeneratorExp", "Lambda", "ListComp", "NamedExpr", "SetComp"}
	input.ast.kinds[kind]
}

# METADATA
# title: Call of something that is no function
# custom: {id: calc-not-callable, hint: "Write * between a number and a bracket: 2*(3 + 4)."}
deny contains {"rule": "calc-not-callable", "msg": msg, "at": call.at, "subject": subject} if {
	some subject in graph.reachable(input.ast.calls, constants | {""})
	some call in input.ast.calls[subject]
	msg := {true: "a value is called like a function", false: sprintf("%s is not a function", [subject])}[subject == ""]
}

# METADATA
# title: Syntax that the calculator does not evaluate
# custom: {id: calc-kind, hint: "Write the values out, as numbers or in [brackets], or use the Python tool."}
deny contains {"rule": "calc-kind", "msg": sprintf("%s is blocked in the calculator", [name]), "at": at, "subject": kind} if {
	some kind in object.keys(input.ast.kinds)
	name := denied_kinds[kind]
	some at in input.ast.kinds[kind]
}

# METADATA
# title: Operator that the calculator does not evaluate
# custom:
#   id: calc-operator
#   hint: "Compare with == and !=; there are no matrices."
#   hints:
#     "^": "Write ** for a power: 10**2. (In Python ^ is the exclusive or of bits.)"
deny contains {"rule": "calc-operator", "msg": sprintf("operator %s is blocked in the calculator", [op]), "at": at, "subject": op} if {
	some op in graph.reachable(input.ast.operators, denied_operators)
	some at in input.ast.operators[op]
}

# METADATA
# title: Comma without brackets
# custom: {id: calc-comma, hint: "Write numbers without thousands separators: 1234 or 1_234. A tuple needs brackets."}
deny contains {"rule": "calc-comma", "msg": "a comma outside brackets makes a tuple, not a larger number", "at": at, "subject": ","} if {
	some at in input.ast.kinds.BareTuple
}
