// Package policies carries the policy that the gateway starts with: the Rego
// rules, the profiles, the pin of the sources they follow, the schemas of the
// documents they judge, and the corpus of programs that proves them.
//
// Begin reading in main.rego, which says who does what, then in the lists at
// the top of allowlist.rego. The package holds no code but the embedding; it
// must never import any of the project's packages.
package policies

import (
	"embed"
	"io/fs"
)

//go:embed *.rego profiles.yaml upstream.yaml schemas corpus custom
var files embed.FS

// FS is the policy folder as it was built, rooted where main.rego stands. It is
// read-only and safe for concurrent use.
func FS() fs.FS { return files }
