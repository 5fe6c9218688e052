# Names, attributes and library names that Python programs use. The lists stand in allowlist.rego.
package rules.python

# METADATA
# title: Blocked builtin
# description: These builtins evaluate text, open files, or reach what has no name in the program. They may not be named, called or not.
# custom:
#   id: blocked-name
#   hint: "Write the expression or the attribute out; for a choice by name use a dict of functions."
#   hints:
#     breakpoint: "Leave it out; print what should be seen."
#     compile: "Write the statements out; a formula in a text is read by sympy.sympify."
#     delattr: "Write the attribute out: del x.name."
#     dir: "Leave it out; use the documented names of the library."
#     eval: "Write the expression out; a formula in a text is read by sympy.sympify."
#     exec: "Write the statements out; for a choice by name use a dict of functions."
#     exit: "Let the program come to its end, return from the function, or call sys.exit()."
#     getattr: "Write the attribute out: x.name; for a choice by name use a dict of functions."
#     globals: "Keep the values in a dict of your own."
#     help: "Leave it out; there is nobody at a terminal."
#     input: "Write the values into the program; there is no input under this policy."
#     locals: "Keep the values in a dict of your own."
#     open: "There are no files: keep data in variables and print results."
#     quit: "Let the program come to its end, return from the function, or call sys.exit()."
#     setattr: "Write the attribute out: x.name = value."
#     vars: "Keep the values in a dict of your own."
#   url: policies/README.md#blocked-name
deny contains {"rule": "blocked-name", "msg": msg, "at": at, "subject": name} if {
	some name in blocked_names_used
	some at in input.ast.names[name]
	msg := sprintf("%s is blocked", [name])
}

blocked_names_used contains name if {
	some name in graph.reachable(input.ast.names, blocked_names)
	not taken_out("blocked_names", name)
}

blocked_names_used contains name if {
	some name in changes.blocked_names.add
	input.ast.names[name]
}

blocked_names_used contains name if {
	some name in graph.reachable(input.ast.names, blocked_unless_bound)
	not firm(name)
	not taken_out("blocked_unless_bound", name)
}

blocked_names_used contains name if {
	some name in changes.blocked_unless_bound.add
	input.ast.names[name]
	not firm(name)
}

# Wherever the name is read, the program has surely bound it.
firm(name) if "firm" in input.ast.bound[name]

# METADATA
# title: Blocked attribute
# description: Attributes that lead to frames, to other modules, to files or to evaluated text.
# custom:
#   id: blocked-attribute
#   hint: "Use the documented functions of the library by their full name; an attribute of your own needs another name."
#   hints:
#     to_image: "Leave the figure as the last expression, or call fig.show()."
#     write_html: "Leave the figure as the last expression, or call fig.show()."
#     write_image: "Leave the figure as the last expression, or call fig.show()."
#     write_json: "Leave the figure as the last expression, or call fig.show()."
#   url: policies/README.md#blocked-attribute
deny contains {"rule": "blocked-attribute", "msg": msg, "at": at, "subject": name} if {
	some name in blocked_attributes_used
	some at in input.ast.attributes[name]
	msg := sprintf("attribute %s is blocked", [name])
}

blocked_attributes_used contains name if {
	some name in graph.reachable(input.ast.attributes, blocked_attributes)
	not taken_out("blocked_attributes", name)
}

blocked_attributes_used contains name if {
	some name in changes.blocked_attributes.add
	input.ast.attributes[name]
}

blocked_attributes_used contains name if {
	some name in graph.reachable(input.ast.attributes, borrowed_attributes)
	not own_attribute(name)
	not taken_out("borrowed_attributes", name)
}

blocked_attributes_used contains name if {
	some name in changes.borrowed_attributes.add
	input.ast.attributes[name]
	not own_attribute(name)
}

own_attribute(name) if {
	input.ast.members[name]
	not named_in_a_path(name)
	not module_handed_on
	not lent(name)
}

# Something else that the program has at hand may have an attribute of that name, too.
lent(name) if {
	some root in lenders[name]
	imported_root(root)
}

# An AttributeError holds the object that lacked the attribute, a module too.
lent("obj") if input.session

lent("obj") if {
	some hows in input.ast.bound
	"except" in hows
}

lent("obj") if {
	some name in ["__cause__", "__context__", "__exit__"]
	input.ast.private[name]
}

imported_root(root) if {
	some paths in input.ast.aliases
	some path in paths
	split(path, ".")[0] == root
}

# A pattern reads attributes by position of whatever has been registered as an instance.
deny contains {"rule": "blocked-attribute", "msg": "attribute register is blocked where there is a match statement", "at": at, "subject": "register"} if {
	input.ast.kinds.Match
	some at in input.ast.attributes.register
}

# Whoever takes a module as a value reads its attributes under any name.
module_handed_on if {
	input.ast.found.values == true
	count(values_used & allowed_imports) > 0
}

named_in_a_path(name) if {
	some path in paths_used
	endswith(path, concat("", [".", name]))
}

# METADATA
# title: Blocked part of an allowed library
# description: Parts of the allowed modules that read or write files, start processes, evaluate text, or are other modules.
# custom:
#   id: blocked-path
#   hint: "Use the library's functions for computing; print results, and leave figures in a variable or call show()."
#   hints:
#     functools.singledispatch: "Write if isinstance(x, ...) for the cases."
#     json.dump: "There are no files: print(json.dumps(x))."
#     json.load: "There are no files: json.loads reads a text of the program."
#     numpy.frompyfunc: "np.vectorize(f) does it for every element."
#     numpy.genfromtxt: "There are no files: write the numbers into an array, np.array([...])."
#     numpy.load: "There are no files: write the numbers into an array, np.array([...])."
#     numpy.loadtxt: "There are no files: write the numbers into an array, np.array([...])."
#     numpy.save: "There are no files: print(array), or array.tolist()."
#     numpy.savetxt: "There are no files: print(array), or array.tolist()."
#     numpy.savez: "There are no files: print(array), or array.tolist()."
#     operator.attrgetter: "Write a lambda: key=lambda x: x.name."
#     operator.methodcaller: "Write a lambda: lambda x: x.method()."
#     plotly.io: "Call fig.show() without arguments, or leave the figure as the last expression."
#     string.Formatter: "Use an f-string."
#     sympy.plot: "Make the figure with plotly.graph_objects from values at points of numpy.linspace, by sympy.lambdify."
#     sympy.plotting: "Make the figure with plotly.graph_objects from values at points of numpy.linspace, by sympy.lambdify."
#     typing.get_type_hints: "Write the types out where they are needed."
#   covers: [blocked-attribute]
#   url: policies/README.md#blocked-path
deny contains {"rule": "blocked-path", "msg": msg, "at": at, "subject": path} if {
	some path in blocked_paths_used
	some at in input.ast.paths[path]
	not excused(path, at)
	msg := sprintf("%s is blocked", [path])
}

blocked_paths_used contains path if {
	some path in graph.reachable(input.ast.paths, blocked_paths)
	not taken_out("blocked_paths", path)
}

blocked_paths_used contains path if {
	some path in changes.blocked_paths.add
	input.ast.paths[path]
}

# A star import makes the module's names names of the program.
deny contains {"rule": "blocked-path", "msg": msg, "at": at, "subject": path} if {
	input.ast.found.star == true
	some module in star_imported
	some name, places in input.ast.names
	path := concat(".", [module, name])
	path in blocked_paths
	not firm(name)
	some at in places
	msg := sprintf("%s is blocked", [path])
}

# A module that is handed on as a value can be read under any name.
deny contains {"rule": "blocked-path", "msg": msg, "at": at, "subject": path} if {
	input.ast.found.values == true
	some module in (values_used & allowed_imports)
	some path in blocked_paths
	startswith(path, concat("", [module, "."]))
	name := regex.replace(path, `^.*\.`, "")
	some at in input.ast.attributes[name]
	not excused(path, at)
	msg := sprintf("%s is blocked", [path])
}

# The place begins a longer path that is open, and all places are known.
excused(path, at) if {
	not input.ast.truncated.paths[path]
	some open in graph.reachable(input.ast.paths, partial_names)
	some longer in input.ast.paths[open]
	array.slice(split(longer, ":"), 0, 2) == array.slice(split(at, ":"), 0, 2)
}

# METADATA
# title: Argument that hands functions to a library
# description: Arguments by which a program's function is given objects that the policy does not judge.
# custom:
#   id: blocked-keyword
#   hint: "Compute the values yourself, with numpy or plain functions, and pass them."
#   url: policies/README.md#blocked-keyword
deny contains {"rule": "blocked-keyword", "msg": msg, "at": at, "subject": name} if {
	some name in blocked_keywords_used
	some at in input.ast.identifiers[name]
	msg := sprintf("argument %s is blocked", [name])
}

blocked_keywords_used contains name if {
	some name in graph.reachable(input.ast.identifiers, blocked_keywords)
	not taken_out("blocked_keywords", name)
}

blocked_keywords_used contains name if {
	some name in changes.blocked_keywords.add
	input.ast.identifiers[name]
}

# These copy the attributes that further arguments name.
copiers := {"functools.update_wrapper": 2, "functools.wraps": 1}

deny contains {"rule": "blocked-keyword", "msg": msg, "at": entry.at, "subject": key} if {
	input.ast.found.calls == true
	some key, arguments in copiers
	some entry in input.ast.calls[key]
	copies_more(entry, arguments)
	msg := sprintf("%s with the names of attributes is blocked", [key])
}

deny contains {"rule": "blocked-keyword", "msg": msg, "at": at, "subject": path} if {
	input.ast.found.values == true
	some path, _ in copiers
	some at in input.ast.values[path]
	msg := sprintf("%s as a value is blocked", [path])
}

# Where functools itself is a value, or by a star import, they go by other names.
deny contains {"rule": "blocked-keyword", "msg": msg, "at": at, "subject": name} if {
	input.ast.values.functools
	some name in ["update_wrapper", "wraps"]
	some at in input.ast.attributes[name]
	msg := sprintf("functools.%s as a value is blocked", [name])
}

deny contains {"rule": "blocked-keyword", "msg": msg, "at": at, "subject": name} if {
	input.ast.found.star == true
	"functools" in star_imported
	some name in ["update_wrapper", "wraps"]
	some at in input.ast.names[name]
	msg := sprintf("functools.%s by a star import is blocked", [name])
}

copies_more(entry, arguments) if entry.args > arguments

copies_more(entry, _) if count(entry.keywords) > 0
