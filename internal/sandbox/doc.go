// Package sandbox starts a command that has had rights taken away before its
// first instruction.
//
// Begin with [Spec], what a caller wants; [Probe] says what this kernel and
// this user offer; [Plan] sets the two against each other without touching
// anything and gives a [Launch], whose [Launch.Start] does the work and whose
// walls say what stands, by which mechanism, and what is missing and why.
//
// The work is done by the starting program itself, run again: Start executes
// /proc/self/exe with a marker argument, [Shim] (the first call in main)
// recognises it, raises the walls in that new process and then executes the
// command in its place. So every program that uses the package calls Shim
// first.
//
// A process that is forked, not started, raises walls around itself: for that
// there are [NewChildFilter] and [NewChildDomain], whose bytes and steps any
// language can install, [Watch], which names a forbidden call, and [Groups].
//
// The walls are an ordered list with one file each (wall_*.go); a new wall is
// one file and one line in the list. The package knows nothing of plugins or
// of Python, never reads what a command writes, and never claims a wall that
// it did not raise: a wall that cannot be raised after Plan promised it is an
// error of Start.
package sandbox
