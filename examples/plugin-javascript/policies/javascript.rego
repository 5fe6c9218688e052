# METADATA
# title: Rules for JavaScript programs
# description: |
#   What a program may name and reach. The engine has no files, no network and no modules;
#   these rules keep programs from text that becomes code, and from the objects behind
#   objects. Sections are those of jsast/1: names, attributes, texts and kinds, each from a
#   key to its places. A text can name an attribute (x["constructor"]), so that texts are
#   judged as attributes are.
package rules.javascript

# Names that turn text into code, or that show objects behind objects.
blocked_names := {"Function", "Proxy", "Reflect", "eval", "globalThis", "require"}

blocked_attributes := {"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "caller", "constructor", "setPrototypeOf"}

blocked_kinds := {"WithStatement": "with"}

default grants := set()

# METADATA
# title: Blocked name
# custom: {id: javascript-blocked-name, hint: "Write the code itself instead of text that becomes code."}
deny contains {"rule": "javascript-blocked-name", "msg": sprintf("%s is blocked", [name]), "at": at, "subject": name} if {
	some name in blocked_names
	some at in input.ast.names[name]
}

# METADATA
# title: Blocked attribute
# custom: {id: javascript-blocked-attribute, hint: "Use classes and their methods; an attribute of your own needs another name."}
deny contains {"rule": "javascript-blocked-attribute", "msg": sprintf("attribute %s is blocked", [name]), "at": at, "subject": name} if {
	some name in blocked_attributes
	some section in [input.ast.attributes, input.ast.texts]
	some at in section[name]
}

# METADATA
# title: Statement that is not open
# custom: {id: javascript-blocked-statement, hint: "Name the object each time."}
deny contains {"rule": "javascript-blocked-statement", "msg": sprintf("%s is blocked", [what]), "at": at, "subject": what} if {
	some kind, what in blocked_kinds
	some at in input.ast.kinds[kind]
}
