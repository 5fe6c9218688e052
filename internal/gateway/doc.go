// Package gateway decides whether a submitted program may run, and has it run.
//
// Begin with gateway.go (the nouns and the ports) and then solve.go: one
// request walks admit → parse → judge → run → record, in that order, and
// nothing else calls a plugin. Fronts translate their protocol to [Request] and
// [Answer]; the policy, the plugins and the journal stand behind the small
// interfaces [Policies], [Executors] and [Journal].
//
// The package must never import a third-party module, speak a protocol, or let
// a program run that [Policy.Decide] did not allow.
package gateway
