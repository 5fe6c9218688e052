# Statements of Python programs, how they make classes, and their size. The lists stand in allowlist.rego.
package rules.python

# METADATA
# title: Blocked statement
# description: Statements that the profile does not admit.
# custom:
#   id: blocked-syntax
#   hint: "Write it with plain functions, for and try/except."
#   hints:
#     AsyncFor: "Write for, and call the functions one after the other."
#     AsyncFunctionDef: "Write def without async, and call the functions one after the other."
#     AsyncWith: "Write with, and call the functions one after the other."
#     Await: "Call the function without await."
#     ClassDef: "Write functions over a dict or a collections.namedtuple."
#     TryStar: "Write except instead of except*."
#   url: policies/README.md#blocked-syntax
deny contains {"rule": "blocked-syntax", "msg": msg, "at": at, "subject": kind} if {
	some kind in blocked_syntax_used
	some at in places_or_none(input.ast.kinds[kind])
	msg := sprintf("%s is blocked", [spelled(kind)])
}

blocked_syntax_used contains kind if {
	some kind in graph.reachable(input.ast.kinds, blocked_syntax)
	not taken_out("blocked_syntax", kind)
}

blocked_syntax_used contains kind if {
	some kind in changes.blocked_syntax.add
	input.ast.kinds[kind]
}

# Syntax that the rules do not know is refused until they do.
deny contains {"rule": "blocked-syntax", "msg": msg, "at": at, "subject": kind} if {
	some kind in ((kinds_used - known_syntax) - blocked_syntax)
	some at in places_or_none(input.ast.kinds[kind])
	msg := sprintf("%s is blocked: the policy does not know it", [kind])
}

places_or_none([]) := [""]

places_or_none(places) := places if count(places) > 0

spelled(kind) := object.get(
	{
		"AsyncComprehension": "async for in a comprehension", "AsyncFor": "async for",
		"AsyncFunctionDef": "async def", "AsyncWith": "async with", "Await": "await",
		"ClassDef": "class", "TryStar": "except*", "TypeAlias": "a type statement",
	},
	kind, kind,
)

# METADATA
# title: Making classes by hand
# description: Metaclasses and type() with three arguments make classes out of the policy's sight.
# custom:
#   id: class-making
#   hint: "Use a class statement without metaclass=."
#   url: policies/README.md#class-making
deny contains {"rule": "class-making", "msg": type_making(entry), "at": entry.at, "subject": "type"} if {
	input.ast.found.calls == true
	some entry in input.ast.calls.type
}

type_making(entry) := "type as a value is blocked" if entry.args == 0

type_making(entry) := "type() with several arguments is blocked" if entry.args > 0

# A metaclass makes a class when it is called; only its name after metaclass= is plain.
deny contains {"rule": "class-making", "msg": msg, "at": at, "subject": path} if {
	input.ast.found.values == true
	some path in graph.reachable(input.ast.values, allowed_metaclasses)
	some at in input.ast.values[path]
	msg := sprintf("%s as a value is blocked", [path])
}

deny contains {"rule": "class-making", "msg": msg, "at": entry.at, "subject": path} if {
	input.ast.found.calls == true
	some path in graph.reachable(input.ast.calls, allowed_metaclasses)
	some entry in input.ast.calls[path]
	msg := sprintf("calling %s is blocked", [path])
}

deny contains {"rule": "class-making", "msg": msg, "at": entry.at, "subject": base} if {
	input.ast.found.classes == true
	some entries in input.ast.classes
	some entry in entries
	some base in entry.bases
	endswith(base, "()")
	not base in allowed_base_calls
	msg := sprintf("deriving from what %s gives is blocked", [base])
}

deny contains {"rule": "class-making", "msg": msg, "at": entry.at, "subject": base} if {
	input.ast.found.classes == true
	some entries in input.ast.classes
	some entry in entries
	some base in entry.bases
	base in blocked_bases
	msg := sprintf("deriving from %s is blocked", [base])
}

deny contains {"rule": "class-making", "msg": "metaclass= is blocked", "at": entry.at, "subject": name} if {
	input.ast.found.classes == true
	some name, entries in input.ast.classes
	some entry in entries
	some keyword in entry.keywords
	keyword in {"metaclass", "**"}
	not known_metaclass(entry)
}

known_metaclass(entry) if entry.metaclass in allowed_metaclasses

# METADATA
# title: Decorator that is an expression
# description: A decorator is a name, a dotted name, or a call of one.
# custom:
#   id: decorator-expression
#   hint: "Give the decorator a name first."
#   url: policies/README.md#decorator-expression
deny contains {"rule": "decorator-expression", "msg": "a decorator that is not a name is blocked", "at": at, "subject": "decorator"} if {
	input.ast.found.decorators == true
	some at in input.ast.decorators[""]
}

# METADATA
# title: Resizing without a check
# description: An array that is resized without the check of references leaves views into freed memory.
# custom:
#   id: unchecked-resize
#   hint: "Use np.resize(a, shape), which makes a new array."
#   url: policies/README.md#unchecked-resize
deny contains {"rule": "unchecked-resize", "msg": "resize(refcheck=) is blocked", "at": entry.at, "subject": "resize"} if {
	input.ast.found.calls == true
	some entry in input.ast.calls[".resize"]
	some keyword in entry.keywords
	keyword in {"refcheck", "**"}
}

# Called on the class, the array is an argument and the keywords may be anything.
deny contains {"rule": "unchecked-resize", "msg": "resize called on a class is blocked", "at": entry.at, "subject": "resize"} if {
	input.ast.attributes.resize
	some key, entries in input.ast.calls
	endswith(key, ".ndarray.resize")
	some entry in entries
}

deny contains {"rule": "unchecked-resize", "msg": "resize as a value is blocked", "at": at, "subject": "resize"} if {
	input.ast.attributes.resize
	some path, places in input.ast.values
	endswith(path, ".ndarray.resize")
	some at in places
}

# METADATA
# title: Figure shown by a renderer
# description: There is no browser and no notebook; show() without a renderer marks the figure as the answer.
# custom:
#   id: show-renderer
#   hint: "Call fig.show() without arguments."
#   url: policies/README.md#show-renderer
deny contains {"rule": "show-renderer", "msg": "show() with a renderer is blocked", "at": entry.at, "subject": "show"} if {
	input.ast.found.calls == true
	some entry in input.ast.calls[".show"]
	shows_by_renderer(entry)
}

deny contains {"rule": "show-renderer", "msg": "show called on a class is blocked", "at": entry.at, "subject": "show"} if {
	input.ast.attributes.show
	some key, entries in input.ast.calls
	endswith(key, ".show")
	startswith(key, "plotly.")
	some entry in entries
}

shows_by_renderer(entry) if entry.args > 0

shows_by_renderer(entry) if {
	some keyword in entry.keywords
	keyword in {"renderer", "**"}
}

# METADATA
# title: Program beyond bounds
# description: Bounds on what is compiled, so that judging and compiling stay cheap.
# custom:
#   id: too-large
#   hint: "Compute large values and long lists in a loop instead of writing them out; nest try/finally less."
#   url: policies/README.md#too-large
deny contains {"rule": "too-large", "msg": msg, "at": "", "subject": "nodes"} if {
	input.code.nodes > max_nodes
	msg := sprintf("the program has %d syntax nodes; more than %d are blocked", [input.code.nodes, max_nodes])
}

deny contains {"rule": "too-large", "msg": msg, "at": at, "subject": "integer"} if {
	input.ast.found.integers == true
	some bits, places in input.ast.integers
	to_number(bits) > max_integer_bits
	some at in places
	msg := sprintf("an integer constant of %s bits is blocked; at most %d", [bits, max_integer_bits])
}

deny contains {"rule": "too-large", "msg": msg, "at": "", "subject": "finally"} if {
	input.ast.found.nesting == true
	input.ast.nesting.finally > max_nested_finally
	msg := sprintf("try/finally nested more than %d deep is blocked", [max_nested_finally])
}
