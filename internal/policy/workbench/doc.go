// Package workbench is what operators do with a policy before they put it in
// force: run its tests, compare it with another one over programs and over
// yesterday's decisions, begin a rule, and write its reference.
//
// Begin with compare.go (one program, two policies, a difference) and
// decisionlog.go (programs from a decision log). The commands of
// `gateway policy` give it plugins, files and a terminal. The package must
// never decide by itself: what a policy says is asked of gateway.Policy, and
// what a program means of the plugin that would run it.
package workbench
