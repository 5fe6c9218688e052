package gateway_test

import data.gateway

question := {
	"schema": "pyast/1", "language": "python", "grammar": "3.11", "tool": "python",
	"profile": "p", "caller": "c", "session": false, "code": {}, "ast": {},
}

finding(rule) := {"rule": rule, "msg": "m", "at": "1:0:1:1", "subject": "s"}

decided(deny, profiles) := decision if {
	decision := gateway.decision with input as question
		with data.rules.python.deny as deny
		with data.rules.python.grants as {"import:math"}
		with data.profiles as profiles
}

test_nothing_found if {
	decided(set(), {"p": {}}) == {"allow": true, "violations": set(), "limits": {}, "grants": {"import:math"}}
}

test_an_error_refuses if {
	decision := decided({finding("a")}, {"p": {}})
	not decision.allow
	decision.violations == {object.union(finding("a"), {"level": "error"})}
}

test_a_warning_is_told_and_passes if {
	decision := decided({finding("a")}, {"p": {"rules": {"a": "warn"}}})
	decision.allow
	decision.violations == {object.union(finding("a"), {"level": "warn"})}
}

test_a_rule_that_is_off_is_silent if {
	decided({finding("a")}, {"p": {"rules": {"a": "off"}}}).violations == set()
}

test_one_error_among_warnings_refuses if {
	not decided({finding("a"), finding("b")}, {"p": {"rules": {"a": "warn"}}}).allow
}

test_a_waiver_takes_rule_and_subject if {
	waiver := {"rule": "a", "subject": "s", "reason": "r", "date": "2999-01-01"}
	decided({finding("a")}, {"p": {"waivers": [waiver]}}).allow
	not decided({finding("b")}, {"p": {"waivers": [waiver]}}).allow
	not decided({object.union(finding("a"), {"subject": "t"})}, {"p": {"waivers": [waiver]}}).allow
}

test_limits_and_grants_of_the_profile if {
	decision := decided(set(), {"p": {"limits": {"cpu": 3}, "grants": ["builtin:open"]}})
	decision.limits == {"cpu": 3}
	decision.grants == {"import:math", "builtin:open"}
}

test_a_profile_that_is_not_there_refuses if {
	decision := decided(set(), {"other": {}})
	not decision.allow
	{violation.rule | some violation in decision.violations} == {"unknown-profile"}
}

test_a_language_without_rules_refuses if {
	decision := gateway.decision with input as object.union(question, {"language": "cobol"})
		with data.profiles as {"p": {}}
	not decision.allow
	{violation.rule | some violation in decision.violations} == {"unknown-language"}
}

test_custom_packages_are_found if {
	decision := gateway.decision with input as question
		with data.rules.python.deny as set()
		with data.rules.python.grants as set()
		with data.custom as {"mine": {"deny": {finding("a")}, "grants": {"import:os"}}}
		with data.profiles as {"p": {}}
	not decision.allow
	decision.grants == {"import:os"}
}
