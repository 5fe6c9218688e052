// Package upstream holds the policy to the sources that it follows: it compares
// what the policy refuses with the rule sets that are pinned in upstream.yaml,
// and the pin with the repositories that it names.
//
// Begin with check.go (offline) and pin.go (the file); source.go opens an
// upstream, drift.go and update.go look beyond the pin, compare.go asks the
// policy. The policy is asked, not read: OPA evaluates its lists and decides on
// documents that name one thing each (probe.go).
//
// The package must never execute or import anything of an upstream, never put
// its text into the policy folder (digests and names of rules alone), and never
// change a file unless it was asked to. Everything from an upstream is hostile:
// bounded, and never followed out of its tree.
package upstream
