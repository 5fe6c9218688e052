# METADATA
# title: Comparison with a constant on its left
# description: |
#   An example of a rule that walks the whole tree. It is no part of the policy: with it,
#   every program pays for writing and reading the tree.
# custom:
#   language: python
package custom.constant_left

# METADATA
# title: Comparison that begins with a constant
# custom:
#   id: constant-left
#   hint: "Write the name first: x == 3."
deny contains {"rule": "constant-left", "msg": "a comparison begins with a constant", "at": node.loc, "subject": "Compare"} if {
	walk(input.ast.tree, [_, node])
	node._type == "Compare"
	node.left._type == "Constant"
}
