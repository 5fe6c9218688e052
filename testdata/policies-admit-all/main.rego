# METADATA
# title: Admits everything
# description: |
#   For tests of the executor alone. A gateway that loads it says so at each start. It reads
#   no part of the syntax tree.
# custom:
#   admits: all
# entrypoint: true
package gateway

decision := {
	"allow": true,
	"violations": set(),
	"limits": {},
	"grants": {"import:*", "builtin:*"},
}
