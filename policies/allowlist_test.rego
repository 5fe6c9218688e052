package rules.python_test

import data.rules.python

# Documents are made by hand here: each holds only what a rule looks at. The corpus, whose
# documents the executor makes, proves that the rules fit real programs.

rare := {
	"private", "stores", "strings", "words", "calls", "formats", "decorators", "classes",
	"integers", "nesting", "source", "values",
}

empty := {
	"imports": {}, "aliases": {}, "names": {}, "bound": {}, "attributes": {}, "members": {}, "private": {},
	"paths": {}, "values": {}, "stores": {}, "kinds": {}, "words": {}, "calls": {},
	"formats": {}, "decorators": {}, "classes": {}, "integers": {}, "nesting": {}, "source": {},
	"truncated": {},
}

# What the executor tells of imports in other sections.
aliases(sections) := {"*": stars(sections)} if count(stars(sections)) > 0

else := {root: [entry.module] |
	some root, entries in sections.imports
	some entry in entries
}

stars(sections) := {entry.module |
	some entries in sections.imports
	some entry in entries
	entry.name == "*"
}

document(sections) := {
	"schema": "pyast/1", "language": "python", "grammar": "3.11", "tool": "python",
	"profile": "p", "caller": "c", "session": false,
	"code": {"sha256": "", "bytes": 1, "lines": 1, "nodes": 1, "depth": 1},
	"ast": object.union_n([
		empty, sections,
		{"aliases": aliases(object.union(empty, sections)), "found": object.union(
			{name: true | some name in rare; count(object.get(sections, name, {})) > 0},
			{"star": true | count(stars(object.union(empty, sections))) > 0},
		)},
	]),
}

at := "1:0:1:9"

plain := {"p": {}}

# Rule private-name is off in the profile for which most rules are made.
findings(sections) := {f | some f in findings_with(sections, {}); f[0] != "private-name"}

findings_with(sections, lists) := found if {
	found := {[v.rule, v.subject] | some v in python.deny} with input as document(sections)
		with data.profiles as {"p": {"lists": lists}}
}

one(module) := {"imports": {split(module, ".")[0]: [{"module": module, "at": at}]}}

named(module, name) := {
	"imports": {split(module, ".")[0]: [{"module": module, "name": name, "at": at}]},
	"paths": {module: [at], concat(".", [module, name]): [at]},
	"attributes": {name: [at]},
}

test_nothing_is_fine if findings({}) == set()

test_listed_import if findings(one("numpy.linalg")) == set()

test_unlisted_import if findings(one("os.path")) == {["blocked-import", "os.path"]}

test_submodule_of_a_listed_module if findings(one("numpy.f2py")) == {["blocked-import", "numpy.f2py"]}

test_relative_import if {
	findings({"imports": {".": [{"module": "..", "name": "os", "at": at}]}}) == {["blocked-import", ".."]}
}

test_import_that_is_not_installed if findings(one("torch.nn")) == {["missing-import", "torch.nn"]}

test_what_is_available_is_told if {
	messages := {v.msg | some v in python.deny} with input as document(one("torch")) with data.profiles as plain
	some message in messages
	startswith(message, "torch is not installed here; available: ")
	contains(message, "sympy")
}

test_what_libraries_have_for_themselves if {
	messages := {v.msg | some v in python.deny} with input as document(one("pandas")) with data.profiles as plain
	some message in messages
	startswith(message, "pandas is not available to programs; available: ")
	findings_with(one("pandas"), {"withheld_modules": {"remove": ["pandas"]}}) == {["blocked-import", "pandas"]}
}

test_keywords if {
	findings({"identifiers": {"trendline_options": [at], "x": [at]}}) == {["blocked-keyword", "trendline_options"]}
	findings_with(
		{"identifiers": {"trendline_options": [at], "x": [at]}},
		{"blocked_keywords": {"remove": ["trendline_options"], "add": ["x", "y"]}},
	) == {["blocked-keyword", "x"]}
}

test_profile_takes_an_import_out if {
	findings_with(one("json"), {"allowed_imports": {"remove": ["json"]}}) == {["blocked-import", "json"]}
	findings_with(one("time"), {"partial_modules": {"remove": ["time"]}}) == {["blocked-import", "time"]}
}

test_profile_puts_an_import_in if {
	findings_with(one("os"), {"allowed_imports": {"add": ["os"]}}) == set()
	findings_with(one("os"), {"partial_modules": {"add": ["os"]}}) == set()
}

test_profile_changes_what_is_absent if {
	findings_with(one("scipy"), {"absent_modules": {"remove": ["scipy"]}}) == {["blocked-import", "scipy"]}
	findings_with(one("magma"), {"absent_modules": {"add": ["magma"]}}) == {["missing-import", "magma"]}
}

test_star_import if {
	findings(named("sympy", "*")) == set()
	findings(named("json", "*")) == {["blocked-import", "json"]}
}

test_star_import_of_a_partial_module if {
	findings(named("sys", "*")) == {
		["blocked-import", "sys"],
		["partial-module", "sys"], ["partial-module", "sys.*"],
	}
}

test_names_after_a_star_import if {
	sections := object.union(named("numpy", "*"), {"names": {"loadtxt": [at], "save": [at]}, "bound": {"loadtxt": ["assign"], "save": ["def", "firm"]}})
	findings(sections) == {["blocked-path", "numpy.loadtxt"]}
}

sys(parts, values) := object.union(one("sys"), {
	"paths": object.union({"sys": [at]}, {path: [at] | some path in parts}),
	"values": {path: [at] | some path in values},
})

test_open_names_of_a_partial_module if {
	findings(sys({"sys.exit", "sys.stdout", "sys.stdout.write"}, set())) == set()
	findings(sys({"sys.version_info", "sys.version_info.major"}, {"sys.version_info.major"})) == set()
}

test_other_names_of_a_partial_module if {
	findings(sys({"sys.modules"}, set())) == {["partial-module", "sys.modules"]}
	findings(sys({"sys.stdout", "sys.stdout.buffer"}, set())) == {["partial-module", "sys.stdout.buffer"]}
}

test_a_partial_module_as_a_value if {
	findings(sys({"sys.exit"}, {"sys"})) == {["partial-module", "sys"]}
	findings(sys({"sys.stdout"}, {"sys.stdout"})) == {["partial-module", "sys.stdout"]}
}

test_print_to_the_error_stream if {
	printing := {"calls": {"print": [{"at": at, "args": 0, "keywords": ["file"]}]}}
	sections := object.union(sys({"sys.stderr"}, {"sys.stderr"}), printing)
	findings(sections) == set()
	findings(sys({"sys.stderr"}, {"sys.stderr"})) == {["partial-module", "sys.stderr"]}
	findings(object.union(sections, {"truncated": {"paths": {"sys.stderr": 1}}})) == {["partial-module", "sys.stderr"]}
}

test_profile_changes_open_names if {
	findings_with(sys({"sys.exit"}, set()), {"partial_names": {"remove": ["sys.exit"]}}) == {["partial-module", "sys.exit"]}
	findings_with(sys({"sys.path"}, set()), {"partial_names": {"add": ["sys.path"]}}) == set()
}

test_a_part_of_a_part_is_excused if {
	sections := {"paths": {
		"numpy.lib": ["1:0:1:6"], "numpy.lib.stride_tricks": ["1:0:1:20"],
		"numpy.lib.stride_tricks.sliding_window_view": ["1:0:1:40"],
	}}
	findings(sections) == set()
	findings(object.union(sections, {"truncated": {"paths": {"numpy.lib": 1}}})) == {["blocked-path", "numpy.lib"]}
}

test_builtins if {
	findings({"names": {"eval": [at], "print": [at]}}) == {["blocked-name", "eval"]}
	findings({"names": {"vars": [at]}}) == {["blocked-name", "vars"]}
	findings({"names": {"vars": [at]}, "bound": {"vars": ["assign"]}}) == {["blocked-name", "vars"]}
	findings({"names": {"vars": [at]}, "bound": {"vars": ["assign", "firm"]}}) == set()
}

test_profile_changes_builtins if {
	lists := {"blocked_names": {"remove": ["eval"], "add": ["print"]}, "blocked_unless_bound": {"remove": ["vars"], "add": ["len", "str"]}}
	sections := {"names": {"eval": [at], "print": [at], "vars": [at], "len": [at], "str": [at]}, "bound": {"str": ["assign", "firm"]}}
	findings_with(sections, lists) == {["blocked-name", "print"], ["blocked-name", "len"]}
}

test_attributes if {
	findings({"attributes": {"gi_frame": [at], "shape": [at]}}) == {["blocked-attribute", "gi_frame"]}
	findings({"attributes": {"gi_frame": [at]}, "members": {"gi_frame": [at]}}) == {["blocked-attribute", "gi_frame"]}
}

test_borrowed_attributes if {
	findings({"attributes": {"signal": [at]}}) == {["blocked-attribute", "signal"]}
	findings({"attributes": {"signal": [at]}, "members": {"signal": [at]}}) == set()
	findings({"attributes": {"signal": [at]}, "members": {"signal": [at]}, "paths": {"asyncio.signal": [at]}}) == {["blocked-attribute", "signal"]}
}

test_nothing_is_borrowed_while_a_module_is_handed_on if {
	sections := {"attributes": {"os": [at]}, "members": {"os": [at]}}
	findings(sections) == set()
	findings(object.union(sections, {"values": {"math": [at]}})) == {["blocked-attribute", "os"]}
}

test_profile_changes_attributes if {
	lists := {"blocked_attributes": {"remove": ["mro"], "add": ["shape"]}, "borrowed_attributes": {"remove": ["signal"], "add": ["data", "layout"]}}
	sections := {"attributes": {"mro": [at], "shape": [at], "signal": [at], "data": [at], "layout": [at]}, "members": {"layout": [at]}}
	findings_with(sections, lists) == {["blocked-attribute", "shape"], ["blocked-attribute", "data"]}
}

test_paths if {
	findings({"paths": {"numpy.load": [at], "numpy.sin": [at]}}) == {["blocked-path", "numpy.load"]}
	findings_with(
		{"paths": {"numpy.load": [at], "numpy.sin": [at]}},
		{"blocked_paths": {"remove": ["numpy.load"], "add": ["numpy.sin"]}},
	) == {["blocked-path", "numpy.sin"]}
}

test_a_module_that_is_handed_on if {
	sections := {"values": {"numpy": [at]}, "attributes": {"load": [at], "who": [at]}, "members": {"who": [at]}}
	findings(sections) == {["blocked-path", "numpy.load"], ["blocked-path", "numpy.who"]}
}

test_what_a_library_lends_is_not_the_programs_own if {
	sections := {"attributes": {"dump": [at], "obj": [at]}, "members": {"dump": [at], "obj": [at]}}
	findings(sections) == set()
	findings(object.union(sections, {"aliases": {"np": ["numpy"]}})) == {["blocked-attribute", "dump"]}
	findings(object.union(sections, {"bound": {"e": ["except"]}})) == {["blocked-attribute", "obj"]}
	findings(object.union(sections, {"private": {"__exit__": [{"at": at, "as": "def"}]}})) == {["blocked-attribute", "obj"]}
}

test_registering_for_a_pattern if {
	findings({"attributes": {"register": [at]}}) == set()
	findings({"attributes": {"register": [at]}, "kinds": {"Match": [at]}}) == {["blocked-attribute", "register"]}
}

test_copying_attributes if {
	findings({"calls": {"functools.wraps": [{"at": at, "args": 1}], "functools.update_wrapper": [{"at": at, "args": 2}]}}) == set()
	findings({"calls": {"functools.wraps": [{"at": at, "args": 2}]}}) == {["blocked-keyword", "functools.wraps"]}
	findings({"calls": {"functools.wraps": [{"at": at, "args": 1, "keywords": ["updated"]}]}}) == {["blocked-keyword", "functools.wraps"]}
	findings({"values": {"functools.wraps": [at]}}) == {["blocked-keyword", "functools.wraps"]}
	findings({"values": {"functools": [at]}, "attributes": {"wraps": [at]}}) == {["blocked-keyword", "wraps"]}
	findings(object.union(named("functools", "*"), {"names": {"update_wrapper": [at]}})) == {["blocked-keyword", "update_wrapper"]}
}

test_what_patterns_read if {
	findings({"private": {"__match_args__": [{"at": at, "as": "field", "value": "names"}]}}) == set()
	findings({"private": {"__match_args__": [{"at": at, "as": "field", "value": ""}]}}) == {["blocked-dunder", "__match_args__"]}
	findings({"private": {"__match_args__": [{"at": at, "as": "bind"}]}}) == {["blocked-dunder", "__match_args__"]}
	findings({"private": {"_os": [{"at": at, "as": "field"}]}, "members": {"_os": [at]}}) == {["private-attribute", "_os"]}
}

test_methods_called_on_their_class if {
	findings({"attributes": {"resize": [at]}, "calls": {"numpy.ndarray.resize": [{"at": at, "args": 2}]}}) == {["unchecked-resize", "resize"]}
	findings({"attributes": {"resize": [at]}, "values": {"numpy.ndarray.resize": [at]}}) == {["unchecked-resize", "resize"]}
	findings({"attributes": {"show": [at]}, "calls": {"plotly.graph_objects.Figure.show": [{"at": at, "args": 2}]}}) == {["show-renderer", "show"]}
}

private(name, entry) := {"private": {name: [object.union({"at": at}, entry)]}}

test_private_attributes if {
	findings(private("_os", {"as": "attribute"})) == {["private-attribute", "_os"]}
	findings(private("_asdict", {"as": "attribute"})) == set()
	findings(object.union(private("_x", {"as": "attribute"}), {"members": {"_x": [at]}})) == set()
	findings(object.union(private("_os", {"as": "attribute"}), {"members": {"_os": [at]}})) == {["private-attribute", "_os"]}
	findings(private("_x", {"as": "import"})) == {["private-attribute", "_x"]}
}

test_private_attributes_of_modules if {
	own := {"members": {"_x": [at]}}
	findings(object.union(own, private("_x", {"as": "attribute", "on": "numpy.random"}))) == {["private-attribute", "_x"]}
	findings(object.union_n([own, one("math"), private("_x", {"as": "attribute", "on": "math"})])) == {["private-attribute", "_x"]}
}

test_special_attributes if {
	findings(private("__globals__", {"as": "attribute"})) == {["private-attribute", "__globals__"]}
	findings(private("__name__", {"as": "attribute"})) == set()
	findings(private("__name__", {"as": "pattern"})) == {["private-attribute", "__name__"]}
	findings(private("__class__", {"as": "store"})) == {["private-attribute", "__class__"]}
	findings(private("__name__", {"as": "store"})) == set()
	findings(private("__init__", {"as": "attribute", "on": "super()"})) == set()
	findings(private("__len__", {"as": "attribute", "on": "x"})) == set()
	findings(private("__call__", {"as": "attribute", "on": "type"})) == {["private-attribute", "__call__"]}
	findings(private("__len__", {"as": "format"})) == {["private-attribute", "__len__"]}
	findings(private("__new__", {"as": "attribute", "on": "type"})) == {["private-attribute", "__new__"]}
	findings(private("__new__", {"as": "attribute", "on": "super()"})) == set()
	findings(object.union(private("__new__", {"as": "attribute", "on": "A"}), {"bound": {"A": ["class"]}})) == set()
}

test_special_methods if {
	findings(private("__add__", {"as": "def"})) == set()
	findings(private("__getattr__", {"as": "def"})) == {["blocked-dunder", "__getattr__"]}
	findings(private("__del__", {"as": "keyword"})) == {["blocked-dunder", "__del__"]}
	findings(private("__import__", {"as": "name"})) == {["blocked-dunder", "__import__"]}
	findings(private("__builtins__", {"as": "bind"})) == {["blocked-dunder", "__builtins__"]}
	findings(private("__all__", {"as": "bind"})) == set()
}

test_special_fields if {
	findings(private("__slots__", {"as": "field", "value": ""})) == set()
	findings(private("__hash__", {"as": "field", "value": "None"})) == set()
	findings(private("__rmul__", {"as": "field", "value": "__mul__"})) == set()
	findings(private("__matmul__", {"as": "field", "value": "run"})) == {["blocked-dunder", "__matmul__"]}
	findings(object.union(
		private("__matmul__", {"as": "field", "value": "run"}),
		{"bound": {"run": ["def"]}, "members": {"run": [at]}},
	)) == set()
}

test_any_private_name if {
	sections := {"private": {"_x": [{"at": at, "as": "name"}], "_": [{"at": at, "as": "bind"}], "__name__": [{"at": at, "as": "name"}]}}
	findings_with(sections, {}) == {["private-name", "_x"]}
	findings_with(sections, {"plain_private": {"remove": ["_"], "add": ["_x"]}}) == {["private-name", "_"]}
}

test_stores if {
	findings({"stores": {"math.pi": [{"at": at, "value": "number"}]}}) == set()
	findings({"stores": {"math.sqrt": [{"at": at, "value": "other"}]}}) == {["module-store", "math.sqrt"]}
	findings({"stores": {"mpmath.mp.dps": [{"at": at, "value": "other"}]}}) == set()
	findings_with(
		{"stores": {"mpmath.mp.dps": [{"at": at, "value": "other"}], "a.b": [{"at": at, "value": "other"}]}},
		{"allowed_stores": {"remove": ["mpmath.mp.dps"], "add": ["a.b"]}},
	) == {["module-store", "mpmath.mp.dps"]}
}

call(key, text) := {"calls": {key: [{"at": at, "args": 1, "texts": [text]}]}}

test_formulas_pass if {
	every text in ["3*x**2 - 1.5e-3*y", "2x(x + 1)", "x y z", "lambda", "x_{1}", "x(:3)", "lambda0:3", "f'", "1.e5 + 2.5", "\\dot{x}", "sin(x) + pi/2", "Eq(x, 2)"] {
		findings(call("sympy.sympify", text)) == set()
	}
}

test_code_does_not if {
	every text in ["len(open('a').read())", "x.y", "().x", "(x). y", "x . y", "lambda: x", "[k for k in x]", "(a := 3)", "f(\"x\")"] {
		findings(call("sympy.sympify", text)) == {["code-in-text", "sympy.sympify"]}
		findings(call("mpmath.mpf", text)) == {["code-in-text", "mpmath.mpf"]}
		findings(call(".subs", text)) == {["code-in-text", ".subs"]}
		findings(call("print", text)) == set()
		findings(call("sympy.pprint", text)) == set()
		findings(object.union(call("pprint", text), named("sympy", "*"))) == set()
		findings(call(".append", text)) == set()
		findings(object.union(call("sympify", text), named("sympy", "*"))) == {["code-in-text", "sympify"]}
	}
}

test_more_text_than_is_shown if {
	findings({"calls": {"sympy.S": [{"at": at, "args": 1, "texts": ["x"], "cut": true}]}}) == {["code-in-text", "sympy.S"]}
}

test_calls_in_texts if {
	words := {"words": {"open": [at], "eval": [at], "help": [at], "sin": [at]}}
	named_one := {"attributes": {"sympify": [at]}}
	findings(object.union(words, named_one)) == set()
	findings(object.union(words, one("sympy"))) == set()
	findings(object.union_n([words, named_one, one("sympy")])) == {["code-in-text", "open"], ["code-in-text", "eval"], ["code-in-text", "help"]}
	findings(object.union_n([words, {"names": {"S": [at]}}, one("sympy")])) == {["code-in-text", "open"], ["code-in-text", "eval"], ["code-in-text", "help"]}
	findings(object.union_n([words, named_one, one("mpmath")])) == {["code-in-text", "open"], ["code-in-text", "eval"], ["code-in-text", "help"]}
}

test_special_names_in_texts if {
	findings({"words": {"__class__": [at], "__main__": [at], "__subcl": [at], "__x": [at], "__len__": [at]}}) == {
		["dunder-in-text", "__class__"], ["dunder-in-text", "__subcl"],
	}
}

test_formats if {
	findings({"formats": {"dynamic": [at]}}) == {["dynamic-format", "format"]}
	findings({"formats": {"unbound": [at]}}) == {["format-value", "format"]}
	findings({"formats": {"value": [at]}}) == {["format-value", "format"]}
}

test_hidden_text if {
	findings({"source": {"bidi": [at], "coding:utf-8": [at]}}) == {["hidden-text", "bidi"]}
	findings({"source": {"coding:utf-7": [at]}}) == {["hidden-text", "coding:utf-7"]}
}

test_syntax if {
	findings({"kinds": {"Await": [at], "ClassDef": [at], "For": [at]}}) == {["blocked-syntax", "Await"]}
	findings({"kinds": {"Defer": [at]}}) == {["blocked-syntax", "Defer"]}
	findings({"kinds": {"Defer": []}}) == {["blocked-syntax", "Defer"]}
	findings_with(
		{"kinds": {"ClassDef": [at], "Await": [at]}},
		{"blocked_syntax": {"add": ["ClassDef"], "remove": ["Await"]}},
	) == {["blocked-syntax", "ClassDef"]}
}

test_making_classes if {
	findings({"calls": {"type": [{"at": at, "args": 3}]}}) == {["class-making", "type"]}
	findings({"calls": {"type": [{"at": at, "args": 0}]}}) == {["class-making", "type"]}
	findings({"calls": {"abc.ABCMeta": [{"at": at, "args": 3}]}}) == {["class-making", "abc.ABCMeta"]}
	findings({"values": {"abc.ABCMeta": [at]}}) == {["class-making", "abc.ABCMeta"]}
	findings({"classes": {"A": [{"at": at, "bases": ["type()"]}]}}) == {["class-making", "type()"]}
	findings({"classes": {"A": [{"at": at, "bases": ["collections.namedtuple()"]}]}}) == set()
	findings({"classes": {"A": [{"at": at, "bases": ["type"]}]}}) == {["class-making", "type"]}
	findings({"classes": {"A": [{"at": at, "bases": [], "keywords": ["metaclass"], "metaclass": "M"}]}}) == {["class-making", "A"]}
	findings({"classes": {"A": [{"at": at, "bases": [], "keywords": ["**"]}]}}) == {["class-making", "A"]}
	findings({"classes": {"A": [{"at": at, "bases": [], "keywords": ["metaclass"], "metaclass": "abc.ABCMeta"}]}}) == set()
	findings({"classes": {"A": [{"at": at, "bases": ["dict"], "keywords": ["total"]}]}}) == set()
}

test_decorators if {
	findings({"decorators": {"functools.lru_cache": [at]}}) == set()
	findings({"decorators": {"": [at]}}) == {["decorator-expression", "decorator"]}
}

test_resize if {
	findings({"calls": {".resize": [{"at": at, "args": 1, "keywords": ["refcheck"]}]}}) == {["unchecked-resize", "resize"]}
	findings({"calls": {".resize": [{"at": at, "args": 1, "keywords": ["order"]}]}}) == set()
}

test_show if {
	findings({"calls": {".show": [{"at": at, "args": 0, "keywords": ["renderer"]}]}}) == {["show-renderer", "show"]}
	findings({"calls": {".show": [{"at": at, "args": 1, "texts": ["svg"]}]}}) == {["show-renderer", "show"]}
	findings({"calls": {".show": [{"at": at, "args": 0, "keywords": ["config"]}]}}) == set()
}

test_bounds if {
	findings({"integers": {"4096": [at], "4097": [at]}}) == {["too-large", "integer"]}
	findings({"nesting": {"finally": 3}}) == set()
	findings({"nesting": {"finally": 4}}) == {["too-large", "finally"]}
	large := object.union(document({}), {"code": {"nodes": 20001}})
	found := {[v.rule, v.subject] | some v in python.deny} with input as large with data.profiles as plain
	found == {["too-large", "nodes"]}
}

test_grants_are_what_is_imported if {
	sections := {"imports": {"math": [{"module": "math", "at": at}], "os": [{"module": "os", "at": at}]}}
	granted := python.grants with input as document(sections) with data.profiles as plain
	granted == {"import:math"}
}

test_grants_of_a_session_are_all_that_is_allowed if {
	session := object.union(document({}), {"session": true})
	granted := python.grants with input as session with data.profiles as {"p": {"lists": {"allowed_imports": {"remove": ["json"]}}}}
	"import:numpy.linalg" in granted
	"import:sys" in granted
	not "import:json" in granted
}

test_what_may_be_imported_is_told_by_profile if {
	modules := python.importable with input as document({}) with data.profiles as {"p": {"lists": {"allowed_imports": {
		"remove": ["json"],
		"add": ["scipy"],
	}}}}
	{"math", "numpy.linalg", "sys", "scipy"} - modules == set()
	not "json" in modules
}
