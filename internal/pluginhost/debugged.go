package pluginhost

import (
	"bytes"
	"fmt"
	"os"
)

// debugged says whether a debugger holds a process of a plugin that was built
// with the gateway, and is perhaps at a breakpoint: then it is waited for. A
// pinned plugin, one in production, is ended like any other that hangs.
func (k *keeper) debugged(g *generation) bool {
	if g.spec.Trust != TrustBuilt || !k.pool.times.traced(g.child.pid()) {
		return false
	}
	k.pool.forgive(g)
	if g.waited.CompareAndSwap(false, true) {
		k.log.Warn("a debugger holds the plugin: it is waited for", "pid", g.child.pid())
	}
	return true
}

// forgive forgets what g was too late with.
func (p *pool) forgive(g *generation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g.overruns.times, g.overrunIs = nil, 0
}

// traced says whether another process traces this one, as debuggers do.
func traced(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && tracerIn(text)
}

func tracerIn(status []byte) bool {
	_, rest, ok := bytes.Cut(status, []byte("\nTracerPid:"))
	by, _, _ := bytes.Cut(rest, []byte("\n"))
	by = bytes.TrimSpace(by)
	return ok && len(by) > 0 && !bytes.Equal(by, []byte("0"))
}
