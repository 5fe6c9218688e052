package rules.python

allowed_imports := {"collections", "functools", "itertools", "math", "numpy", "plotly", "random", "re", "statistics", "sympy"}

blocked_calls := {
	"breakpoint", "compile", "delattr", "eval", "exec", "exit", "getattr", "globals", "help", "input",
	"locals", "memoryview", "open", "quit", "setattr", "vars", "__import__", "__build_class__", "__loader__",
}

blocked_attributes := {
	"__bases__", "__class__", "__closure__", "__code__", "__dict__", "__func__", "__globals__", "__mro__", "__self__",
	"__subclasses__", "cr_frame", "f_back", "f_builtins", "f_globals", "f_locals", "gi_code", "gi_frame", "tb_frame",
}

blocked_paths := {
	"numpy.fromfile", "numpy.load", "numpy.memmap", "numpy.save", "numpy.savetxt", "sympy.preview", "sympy.sympify",
	"sympy.parsing.sympy_parser.parse_expr",
}

denied_kinds := {"AsyncFunctionDef", "AsyncFor", "AsyncWith", "Await", "ClassDef", "Global", "Nonlocal"}

text_calls := {"sympy.sympify", "sympy.lambdify", "sympy.S", "numpy.vectorize"}

# METADATA
# title: Import
# custom: {id: import, hint: "Use what is allowed."}
deny contains {"rule": "import", "msg": sprintf("import of %s", [root]), "at": entry.at, "subject": root} if {
	some root in object.keys(input.ast.imports) - allowed_imports
	some entry in input.ast.imports[root]
}

# METADATA
# title: Call
# custom: {id: call, hint: "Write it out."}
deny contains {"rule": "call", "msg": sprintf("%s is blocked", [name]), "at": at, "subject": name} if {
	some name in blocked_calls
	some at in input.ast.names[name]
}

# METADATA
# title: Attribute
# custom: {id: attribute, hint: "Do without."}
deny contains {"rule": "attribute", "msg": sprintf("%s is blocked", [name]), "at": at, "subject": name} if {
	some name in blocked_attributes
	some at in input.ast.attributes[name]
}

# METADATA
# title: Identifier
# custom: {id: identifier, hint: "Rename it."}
deny contains {"rule": "identifier", "msg": sprintf("%s is blocked", [name]), "at": at, "subject": name} if {
	some name in blocked_attributes
	some at in input.ast.identifiers[name]
}

# METADATA
# title: Path
# custom: {id: path, hint: "Do without."}
deny contains {"rule": "path", "msg": sprintf("%s is blocked", [name]), "at": at, "subject": name} if {
	some name in blocked_paths
	some at in input.ast.paths[name]
}

# METADATA
# title: Kind
# custom: {id: kind, hint: "Use functions."}
deny contains {"rule": "kind", "msg": sprintf("%s is not allowed", [name]), "at": at, "subject": name} if {
	some name in denied_kinds
	some at in input.ast.kinds[name]
}

# METADATA
# title: Text
# custom: {id: string, hint: "Do without."}
deny contains {"rule": "string", "msg": "a text that names internals", "at": at, "subject": text} if {
	some text, places in input.ast.strings
	some at in places
}

# METADATA
# title: Text evaluated
# custom: {id: text-call, hint: "Hand over symbols."}
deny contains {"rule": "text-call", "msg": sprintf("%s of text", [name]), "at": call.at, "subject": name} if {
	some name in text_calls
	some call in input.ast.calls[name]
	count(call.text) > 0
}

grants contains "import:*"
