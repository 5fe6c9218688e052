package main

import "runtime/debug"

// gcPercent lets the heap grow to four times what lives before it is collected.
// What lives is some 11 MB (the compiled policy, above all), and each decision
// makes garbage of 0.1 MB: at Go's own 100 a third of its time is collecting.
const gcPercent = 300

// collectSeldom trades memory for processor time once the start is over, unless
// the operator has chosen by GOGC or GOMEMLIMIT. What the start left is given
// back before: it is three times what lives.
func (h *house) collectSeldom() {
	debug.FreeOSMemory()
	if !h.gcChosen {
		debug.SetGCPercent(gcPercent)
	}
}

func gcChosen(getenv func(string) string) bool {
	return getenv("GOGC") != "" || getenv("GOMEMLIMIT") != ""
}
