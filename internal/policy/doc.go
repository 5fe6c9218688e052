// Package policy answers gateway.Policy.Decide with OPA: it loads a folder of
// Rego, profiles, schemas and example programs, proves it fit, and puts it in
// force as one revision.
//
// Begin with store.go (Load, Reload, Current, Status), then load.go, which
// lists the steps between a folder and a revision, and decide.go, which is one
// decision. The other files are one step each: folder.go reads, compile.go
// compiles, reach.go finds rules that nothing asks, sections.go what the rules
// read, profiles.go and corpus.go check, document.go and reader.go make the
// input, decision.go reads the answer.
//
// A deny rule that is undefined denies nothing, so every step here is a guard
// against a policy or a document that is less than it seems. The package must
// never allow by default: where a policy gives no clean verdict, Decide gives
// an error that wraps gateway.ErrPolicyFault, and a folder that fails one
// check leaves the revision before it in force.
package policy
