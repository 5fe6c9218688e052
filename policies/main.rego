# METADATA
# title: The gateway's decision
# description: |
#   One object per submission: {"allow", "violations", "limits", "grants"}. This file
#   knows no language and no rule. It collects what the rule packages say, gives each
#   finding its level, and decides. It never needs an edit for a new language or a
#   custom package.
#
#   Who does what:
#     rules.<language>   `deny`: a set of {"rule", "msg", "at", "subject"}; `grants`: a set of
#                        strings (both sets always exist; they may be empty)
#     custom.<name>      the same two sets, from the operator's own files
#     this file          level per rule and waivers from data.profiles[input.profile], allow,
#                        limits, the union of the grants
#     the gateway (Go)   which packages are compiled for a language; the schema at the input
#                        root; that the profile and all it names exist; that every section the
#                        rules read is in the document; leaving out waivers whose date is over;
#                        joining title, hint and url from the METADATA whose custom.id is the
#                        violation's rule; sorting, cutting and numbering places
#   Each element of decision.violations is {"rule", "level", "msg", "at", "subject"}:
#     level    "error" or "warn" ("off" and waived findings are not there)
#     at       "line:column:end_line:end_column" as in the input document (lines from 1,
#              columns from 0, characters), or "" when a finding has no place
#   allow is true exactly when no violation has the level "error".
#   decision.limits is data.profiles[profile].limits as written there ({} when absent).
#   decision.grants: "import:NAME", "import:*", "builtin:NAME", "builtin:*". No builtin grant
#   means the executor's own safe set of builtins.
# entrypoint: true
package gateway

decision := {
	"allow": count(errors) == 0,
	"violations": violations,
	"limits": object.get(profile, "limits", {}),
	"grants": grants,
}

default profile := {}

profile := data.profiles[input.profile]

errors contains violation if {
	some violation in violations
	violation.level == "error"
}

violations contains {
	"rule": finding.rule,
	"level": level,
	"msg": finding.msg,
	"at": finding.at,
	"subject": finding.subject,
} if {
	some finding in findings
	level := object.get(levels, finding.rule, "error")
	level != "off"
	not waived(finding)
}

findings contains finding if some finding in data.rules[input.language].deny

findings contains finding if {
	some name
	some finding in data.custom[name].deny
}

# A profile that does not exist, or a language without rules, admits nothing.
findings contains {
	"rule": "unknown-profile",
	"msg": sprintf("profile %q does not exist", [input.profile]),
	"at": "",
	"subject": input.profile,
} if {
	not data.profiles[input.profile]
}

findings contains {
	"rule": "unknown-language",
	"msg": sprintf("there are no rules for language %q", [input.language]),
	"at": "",
	"subject": input.language,
} if {
	not data.rules[input.language].deny
}

grants contains grant if some grant in data.rules[input.language].grants

grants contains grant if {
	some name
	some grant in data.custom[name].grants
}

grants contains grant if some grant in object.get(profile, "grants", [])

levels := object.get(profile, "rules", {})

waived(finding) if {
	some waiver in profile.waivers
	waiver.rule == finding.rule
	waiver.subject == finding.subject
}
