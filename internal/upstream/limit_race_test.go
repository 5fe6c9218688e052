//go:build race

package upstream

// slower is by how much the race detector slows the code.
const slower = 20
