# Texts of Python programs that are evaluated or that hide something. The lists stand in allowlist.rego.
package rules.python

# METADATA
# title: Code in a text that a library evaluates
# description: sympy and mpmath evaluate texts handed to them as Python; only plain formulas may be.
# custom:
#   id: code-in-text
#   hint: "Hand over a plain formula such as 3*x**2, or build the expression from symbols."
#   url: policies/README.md#code-in-text
deny contains {"rule": "code-in-text", "msg": msg, "at": entry.at, "subject": key} if {
	input.ast.found.calls == true
	some key in calls_used
	regex.match(evaluating_libraries, key)
	not key in writing_functions
	some entry in input.ast.calls[key]
	code_in(entry)
	msg := sprintf("code in a text for %s is blocked", [key])
}

deny contains {"rule": "code-in-text", "msg": msg, "at": entry.at, "subject": key} if {
	input.ast.found.calls == true
	some key in graph.reachable(input.ast.calls, evaluating_methods)
	some entry in input.ast.calls[key]
	code_in(entry)
	msg := sprintf("code in a text for %s() is blocked", [key])
}

deny contains {"rule": "code-in-text", "msg": msg, "at": entry.at, "subject": key} if {
	input.ast.found.star == true
	some key, entries in input.ast.calls
	not contains(key, ".")
	not concat(".", ["sympy", key]) in writing_functions
	some entry in entries
	code_in(entry)
	msg := sprintf("code in a text for %s() is blocked", [key])
}

deny contains {"rule": "code-in-text", "msg": msg, "at": at, "subject": word} if {
	input.ast.found.words == true
	evaluates_text
	some word in code_words
	not startswith(word, "__")
	some at in input.ast.words[word]
	msg := sprintf("%s() in a text is blocked: sympy evaluates texts", [word])
}

code_words contains word if some word in graph.reachable(input.ast.words, blocked_names)

code_words contains word if some word in graph.reachable(input.ast.words, blocked_unless_bound)

# Texts may be put together anywhere; they matter where one of these is named. What is
# evaluated by other functions the executor checks while the program runs.
evaluates_text if {
	names_an_evaluator
	some paths in input.ast.aliases
	some path in paths
	regex.match(evaluating_libraries, concat("", [path, "."]))
}

names_an_evaluator if count(graph.reachable(input.ast.attributes, evaluators)) > 0

names_an_evaluator if count(graph.reachable(input.ast.names, evaluators)) > 0

code_in(entry) if entry.cut

code_in(entry) if {
	some text in entry.texts
	regex.match(code_pattern, text)
}

code_in(entry) if {
	some text in entry.texts
	contains(text, "(")
	some word in regex.find_n(`[\pL_][\pL_0-9]*`, text, -1)
	word in blocked_names
}

# METADATA
# title: Special name in a text
# description: Texts with names such as __class__ serve to reach attributes that the program may not name. Docstrings and printed texts are free.
# custom:
#   id: dunder-in-text
#   hint: "Leave the special name out of the text, or write it with spaces."
#   url: policies/README.md#dunder-in-text
deny contains {"rule": "dunder-in-text", "msg": msg, "at": at, "subject": word} if {
	input.ast.found.words == true
	some word, places in input.ast.words
	startswith(word, "__")
	dunder_or_beginning(word)
	not word in texts_of_dunders
	not word in definable_dunders
	some at in places
	msg := sprintf("special name %s in a text is blocked", [word])
}

dunder_or_beginning(word) if endswith(word, "__")

dunder_or_beginning(word) if {
	some known in {"__bases__", "__builtins__", "__class__", "__code__", "__dict__", "__globals__", "__import__", "__mro__", "__subclasses__"}
	count(word) > 3
	startswith(known, word)
}

# METADATA
# title: Template that is not known
# description: str.format reads attributes of its arguments; where the template is a literal its fields are checked.
# custom:
#   id: dynamic-format
#   hint: "Use an f-string, or call .format on a literal template."
#   url: policies/README.md#dynamic-format
deny contains {"rule": "dynamic-format", "msg": "the template of .format is not a literal", "at": at, "subject": "format"} if {
	input.ast.found.formats == true
	some at in input.ast.formats.dynamic
}

# METADATA
# title: str.format as a value
# description: Handed on, str.format reads attributes out of the policy's sight.
# custom:
#   id: format-value
#   hint: "Use an f-string, or call .format on a literal template."
#   url: policies/README.md#format-value
deny contains {"rule": "format-value", "msg": "str.format as a value is blocked", "at": at, "subject": "format"} if {
	input.ast.found.formats == true
	some kind in ["unbound", "value"]
	some at in input.ast.formats[kind]
}

# METADATA
# title: Hidden text
# description: Characters that turn the direction of writing make a program read differently from what it does; most coding cookies do too.
# custom:
#   id: hidden-text
#   hint: "Leave out direction marks and coding cookies; programs are UTF-8."
#   url: policies/README.md#hidden-text
deny contains {"rule": "hidden-text", "msg": msg, "at": at, "subject": fact} if {
	input.ast.found.source == true
	some fact, places in input.ast.source
	not fact in harmless_codings
	some at in places
	msg := sprintf("text that hides what it does is blocked (%s)", [fact])
}
