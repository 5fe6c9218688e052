# Private and special names of Python programs, and what they set on modules. The lists stand in allowlist.rego.
package rules.python

# METADATA
# title: Private attribute
# description: Names that begin with an underscore belong to the library, unless the program defines them itself.
# custom:
#   id: private-attribute
#   hint: "Use the public interface; type(x).__name__ gives a class's name."
#   url: policies/README.md#private-attribute
deny contains {"rule": "private-attribute", "msg": msg, "at": entry.at, "subject": name} if {
	input.ast.found.private == true
	some name, entries in input.ast.private
	some entry in entries
	private_refused(name, entry)
	msg := sprintf("private attribute %s is blocked", [name])
}

private_refused(name, entry) if {
	entry.as in {"attribute", "format", "pattern", "store"}
	not dunder(name)
	not name in allowed_private
	foreign(name, entry)
}

private_refused(name, entry) if {
	entry.as == "import"
	not name in readable_dunders
}

private_refused(name, entry) if {
	dunder(name)
	entry.as in {"attribute", "format", "pattern", "store"}
	not dunder_attribute(name, entry)
}

foreign(name, _) if not input.ast.members[name]

foreign(name, _) if name in never_private

private_refused(name, entry) if {
	entry.as == "field"
	name in never_private
}

foreign(name, entry) if {
	imported_name(entry.on)
	count(name) > 0
}

imported_name(on) if contains(on, ".")

imported_name(on) if input.ast.imports[on]

dunder_attribute(name, entry) if {
	entry.as == "attribute"
	name in readable_dunders
}

# Operators by their long names do no more than the operators. Making objects does.
dunder_attribute(name, entry) if {
	entry.as == "attribute"
	name in definable_dunders
	name != "__new__"
	not of_type(entry)
}

of_type(entry) if entry.on == "type"

dunder_attribute("__new__", entry) if {
	entry.as == "attribute"
	own_class(entry.on)
}

dunder_attribute(name, entry) if {
	entry.as == "store"
	name in {"__doc__", "__name__", "__qualname__"}
	count(entry.at) > 0
}

own_class("super()")

own_class(on) if "class" in input.ast.bound[on]

dunder(name) if {
	startswith(name, "__")
	endswith(name, "__")
}

# METADATA
# title: Blocked special name
# description: Special methods and attributes change how the interpreter treats objects; a class may define the ordinary ones.
# custom:
#   id: blocked-dunder
#   hint: "Define __init__, __repr__, operators and the like; leave attribute access, pickling, buffers and metaclasses alone."
#   url: policies/README.md#blocked-dunder
deny contains {"rule": "blocked-dunder", "msg": msg, "at": entry.at, "subject": name} if {
	input.ast.found.private == true
	some name, entries in input.ast.private
	dunder(name)
	count(name) > 4
	some entry in entries
	dunder_refused(name, entry)
	msg := sprintf("special name %s is blocked", [name])
}

dunder_refused(name, entry) if {
	entry.as in {"def", "keyword"}
	not name in definable_dunders
}

dunder_refused(name, entry) if {
	entry.as == "name"
	not name in readable_dunders
	not name in definable_dunders
	not name in assignable_dunders
}

dunder_refused(name, entry) if {
	entry.as == "bind"
	not name in assignable_dunders
	not name in definable_dunders
}

# A pattern reads the attributes that __match_args__ names: they are judged where they are listed.
dunder_refused("__match_args__", entry) if {
	entry.as in {"bind", "field"}
	not entry.value == "names"
}

dunder_refused(name, entry) if {
	entry.as == "field"
	not name in assignable_dunders
	not field_of_method(name, entry.value)
}

field_of_method(name, "None") if name in definable_dunders

field_of_method(name, value) if {
	name in definable_dunders
	value in definable_dunders
}

field_of_method(name, value) if {
	name in definable_dunders
	"def" in input.ast.bound[value]
	input.ast.members[value]
}

# METADATA
# title: Any private name
# description: In strict profiles nothing whose name begins with an underscore may be used.
# custom:
#   id: private-name
#   hint: "Give it a name without the underscore."
#   url: policies/README.md#private-name
deny contains {"rule": "private-name", "msg": msg, "at": entry.at, "subject": name} if {
	input.ast.found.private == true
	some name, entries in input.ast.private
	not plain(name)
	some entry in entries
	entry.as in {"attribute", "bind", "format", "import", "keyword", "name", "pattern", "store"}
	msg := sprintf("dunder names and attributes are blocked: %s", [name])
}

plain(name) if {
	name in plain_private
	not taken_out("plain_private", name)
}

plain(name) if put_in("plain_private", name)

# METADATA
# title: Change of an imported module
# description: A module's functions stay what they are. Numbers may be set, and the precision of mpmath.
# custom:
#   id: module-store
#   hint: "Define a function of your own under another name; assign numbers to names of your own."
#   url: policies/README.md#module-store
deny contains {"rule": "module-store", "msg": msg, "at": entry.at, "subject": path} if {
	input.ast.found.stores == true
	some path, entries in input.ast.stores
	not storable(path)
	some entry in entries
	entry.value != "number"
	msg := sprintf("setting %s is blocked", [path])
}

storable(path) if {
	path in allowed_stores
	not taken_out("allowed_stores", path)
}

storable(path) if put_in("allowed_stores", path)
