package policy

import "github.com/open-policy-agent/opa/v1/ast"

// capabilities is what rules may use: OPA's own builtins without those that
// look at the world or the clock. OPA marks them itself (http.send,
// opa.runtime, time.now_ns, rand.intn, uuid.rfc4122, net.lookup_ip_addr and the
// io.jwt functions that read a clock or a source of randomness), so that one
// added by a newer OPA is left out too. Nothing may fetch a schema by address,
// and graph.reachable_paths is not there: it takes exponential time and memory,
// and cannot be stopped.
func capabilities() *ast.Capabilities {
	caps := *ast.CapabilitiesForThisVersion()
	caps.AllowNet = []string{}
	caps.Builtins = nil
	for _, b := range ast.CapabilitiesForThisVersion().Builtins {
		if !b.IsNondeterministic() && !looksOutside(b.Name) && b.Name != ast.ReachablePathsBuiltin.Name {
			caps.Builtins = append(caps.Builtins, b)
		}
	}
	return &caps
}

// looksOutside names the builtins that must be missing whatever OPA says of
// them.
func looksOutside(name string) bool {
	switch name {
	case ast.HTTPSend.Name, ast.OPARuntime.Name, ast.NetLookupIPAddr.Name, ast.NowNanos.Name, ast.RandIntn.Name, ast.UUIDRFC4122.Name:
		return true
	}
	return false
}
