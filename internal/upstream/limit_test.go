//go:build !race

package upstream

// slower is by how much the tests' own instruments slow the code.
const slower = 1
