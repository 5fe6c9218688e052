# METADATA
# title: Rules for Starlark programs
# description: |
#   What a program may name and consist of. Starlark reaches nothing by itself: no files,
#   no network, no clock. These rules keep a program from asking for what is not there, and
#   an operator can take builtins away. Sections are those of starlarkast/1: names,
#   attributes and kinds, each from a key to its places.
package rules.starlark

# Builtins that may not be named: they tell of the interpreter, or end the program.
blocked_names := {"dir", "fail", "getattr", "hasattr"}

blocked_kinds := {"LoadStmt": "load()"}

default grants := set()

# METADATA
# title: Blocked builtin
# custom: {id: starlark-blocked-name, hint: "Write the attribute out; return a value instead of ending the program."}
deny contains {"rule": "starlark-blocked-name", "msg": sprintf("%s is blocked", [name]), "at": at, "subject": name} if {
	some name in blocked_names
	some at in input.ast.names[name]
}

# METADATA
# title: Statement that is not open
# custom: {id: starlark-blocked-statement, hint: "There are no other files: put all of it into one program."}
deny contains {"rule": "starlark-blocked-statement", "msg": sprintf("%s is blocked", [what]), "at": at, "subject": what} if {
	some kind, what in blocked_kinds
	some at in input.ast.kinds[kind]
}

# METADATA
# title: Attribute with a leading underscore
# custom: {id: starlark-private, hint: "Use the methods of strings, lists and dicts by their plain names."}
deny contains {"rule": "starlark-private", "msg": sprintf("attribute %s is blocked", [name]), "at": at, "subject": name} if {
	some name, places in input.ast.attributes
	startswith(name, "_")
	some at in places
}
