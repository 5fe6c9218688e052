# METADATA
# title: Entry point of the test policy
# custom: {version: "7"}
package gateway

decision := {
	"allow": count(errors) == 0,
	"violations": violations,
	"limits": object.get(profile, "limits", {}),
	"grants": {grant | some grant in data.rules[input.language].grants},
}

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
	level := object.get(profile.rules, finding.rule, "error")
	level != "off"
	not waived(finding)
}

findings contains finding if some finding in data.rules[input.language].deny

findings contains finding if {
	some name
	some finding in data.custom[name].deny
}

waived(finding) if {
	some waiver in profile.waivers
	waiver.rule == finding.rule
	waiver.subject == finding.subject
}
