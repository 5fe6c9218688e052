package rules.calc_test

import data.rules.calc

# The document of an expression that uses nothing; tests add what they need.
empty := {
	"schema": "calcast/1", "language": "calc", "grammar": "3.11", "tool": "calculator", "profile": "tool",
	"caller": "test", "session": false,
	"code": {"sha256": "", "bytes": 1, "lines": 1, "nodes": 1, "depth": 1},
	"ast": {
		"names": {}, "paths": {}, "operators": {}, "kinds": {}, "calls": {}, "literals": {}, "truncated": {},
		"nodes": 1, "depth": 1,
	},
}

doc(sections) := object.union(empty, {"ast": sections})

at := "1:0:1:4"

call := [{"at": at, "args": 1, "keywords": []}]

found(sections) := {[v.rule, v.subject, v.at] | some v in calc.deny with input as doc(sections)}

test_numbers_are_allowed if {
	found({"literals": {"int": [{"at": at, "text": "2"}]}, "operators": {"+": [at], "|": [at]}, "kinds": {"Chain": [at]}}) == set()
}

test_functions_and_constants_are_allowed if {
	found({"names": {"sqrt": [at], "round": [at], "pi": [at]}, "calls": {"sqrt": call, "round": call}}) == set()
}

test_math_prefix_is_allowed if {
	found({"paths": {"math.sqrt": [at], "math.pi": [at]}, "calls": {"math.sqrt": call}}) == set()
}

test_unknown_name if {
	found({"names": {"age": [at]}}) == {["calc-unknown-name", "age", at]}
}

test_unknown_name_is_named if {
	some v in calc.deny with input as doc({"names": {"age": [at]}})
	contains(v.msg, "age")
}

test_bare_module_is_unknown if {
	found({"names": {"math": [at]}}) == {["calc-unknown-name", "math", at]}
}

test_unknown_function if {
	found({"names": {"frob": [at]}, "calls": {"frob": call}}) == {["calc-unknown-function", "frob", at]}
}

test_blocked_call if {
	every name in calc.blocked_calls {
		found({"names": {name: [at]}, "calls": {name: call}}) == {["calc-blocked-call", name, at]}
	}
}

test_blocked_messages_say_so if {
	every v in calc.deny {
		contains(v.msg, "blocked")
	} with input as doc({"names": {"eval": [at], "_x": [at]}, "paths": {"a.b": [at]}, "kinds": {"Lambda": [at]}, "operators": {"@": [at]}})
}

test_underscore if {
	found({"names": {"__class__": [at]}}) == {["calc-underscore", "__class__", at]}
	found({"names": {"_f": [at]}, "calls": {"_f": call}}) == {["calc-underscore", "_f", at]}
}

test_attributes if {
	every path in {".__class__", "sqrt.__self__", "math.sqrt.__self__", "math.system", "math.abs", "os.path", "math"} {
		found({"paths": {path: [at]}}) == {["calc-attribute", path, at]}
	}
}

test_implicit_multiplication if {
	found({"calls": {"": call}}) == {["calc-not-callable", "", at]}
	found({"names": {"pi": [at]}, "calls": {"pi": call}}) == {["calc-not-callable", "pi", at]}
}

test_denied_kinds if {
	every kind, _ in calc.denied_kinds {
		found({"kinds": {kind: [at]}}) == {["calc-kind", kind, at]}
	}
}

test_names_bound_inside_are_no_noise if {
	found({"names": {"k": [at]}, "kinds": {"ListComp": [at]}}) == {["calc-kind", "ListComp", at]}
}

test_denied_operators if {
	every op in calc.denied_operators {
		found({"operators": {op: [at]}}) == {["calc-operator", op, at]}
	}
}

test_thousands_comma if {
	found({"kinds": {"BareTuple": [at]}}) == {["calc-comma", ",", at]}
}

test_every_place_is_told if {
	found({"names": {"x": ["1:0:1:1", "1:4:1:5"]}}) == {["calc-unknown-name", "x", "1:0:1:1"], ["calc-unknown-name", "x", "1:4:1:5"]}
}
