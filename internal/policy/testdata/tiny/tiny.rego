package rules.tiny

blocked_names := {"eval", "exec"}

allowed_imports := {"math"}

# METADATA
# title: Blocked name
# description: A name that evaluates text.
# custom: {id: blocked-name, hint: "Write it out.", url: "https://example.org/blocked-name"}
deny contains {"rule": "blocked-name", "msg": sprintf("%s is blocked", [name]), "at": at, "subject": name} if {
	some name in names
	some at in input.ast.names[name]
}

names := (blocked_names | {n | some n in object.get(lists, ["blocked_names", "add"], [])}) - {n |
	some n in object.get(lists, ["blocked_names", "remove"], [])
}

lists := data.profiles[input.profile].lists

# METADATA
# title: Import that is not allowed
# custom: {id: import, hint: "Do without."}
deny contains {"rule": "import", "msg": sprintf("import of %s", [root]), "at": entry.at, "subject": root} if {
	some root, entries in input.ast.imports
	not root in allowed_imports
	some entry in entries
}

# METADATA
# title: Too long
# custom: {id: long}
deny contains {"rule": "long", "msg": "too long", "at": "", "subject": "code"} if input.code.lines > 9

grants contains concat("", ["import:", name]) if some name in allowed_imports
