package config

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// checker gathers the faults of values that parse and still make no sense.
type checker struct {
	l      *Loaded
	faults Faults
}

func (c *checker) fault(path, hint, problem string, args ...any) {
	place := c.l.placeOf(path)
	c.faults = append(c.faults, Fault{Place: place, Key: path, Problem: fmt.Sprintf(problem, args...), Hint: hint})
}

// placeOf says who set the key, or the nearest group around it.
func (l *Loaded) placeOf(path string) string {
	for at := path; at != ""; at = parent(at) {
		if o, ok := l.origin[at]; ok {
			return o.Place
		}
	}
	return "default"
}

func parent(path string) string {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return ""
	}
	return path[:i]
}

// validate checks every value; which place is to blame stands in each fault.
func (l *Loaded) validate() Faults {
	c := &checker{l: l}
	c.address("listen", l.Listen, false)
	c.address("admin.listen", l.Admin.Listen, true)
	c.oneOf("log.level", l.Log.Level, "debug", "info", "warn", "error")
	c.oneOf("log.format", l.Log.Format, "auto", "text", "json")
	c.proxies()
	const longestState = 50 // what a socket's path leaves for it
	if len(l.State) > longestState {
		c.fault("state_dir", "", "%q is longer than %d bytes, and sockets lie in it", l.State, longestState)
	}
	c.limits()
	c.policy()
	for _, name := range sortedNames(l.Plugins) {
		c.plugin(name, l.Plugins[name])
	}
	if len(l.Plugins) == 0 {
		c.fault(pluginsKey, "", "names no plugin")
	}
	c.sandbox()
	c.positive("audit", map[string]bool{"rotate_size": l.Audit.RotateSize >= MiB, "keep_files": l.Audit.KeepFiles > 0})
	c.tls()
	return c.faults
}

func (c *checker) proxies() {
	for _, text := range c.l.Auth.TrustedProxies {
		_, network := netip.ParsePrefix(text)
		if _, address := netip.ParseAddr(text); network != nil && address != nil {
			c.fault("auth.trusted_proxies", `write it like "10.0.0.1" or "10.0.0.0/8"`, "%q is no address and no network", text)
		}
	}
}

func (c *checker) address(path, address string, mayBeEmpty bool) {
	if address == "" && mayBeEmpty {
		return
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		c.fault(path, `write it like "127.0.0.1:7860"`, "%q is no host:port", address)
		return
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		c.fault(path, "", "port %q is none of 0 to 65535", port)
	}
}

func (c *checker) oneOf(path, value string, known ...string) {
	if slices.Contains(known, value) {
		return
	}
	hint := "it is one of " + strings.Join(known, ", ")
	if name, ok := nearest(value, known); ok {
		hint = fmt.Sprintf("did you mean %s?", name)
	}
	c.fault(path, hint, "%q is not known", value)
}

func (c *checker) limits() {
	l := c.l.Limits
	c.positive("limits", map[string]bool{
		"body_bytes": l.BodyBytes > 0, "code_bytes": l.CodeBytes > 0, "tree_bytes": l.TreeBytes > 0,
		"wall": l.Wall > 0, "tool_wall": l.ToolWall > 0, "wall_ceiling": l.WallCeiling > 0, "parse_wall": l.ParseWall > 0,
		"memory": l.Memory > 0, "stdout_bytes": l.StdoutBytes > 0, "stderr_bytes": l.StderrBytes > 0,
		"output_ceiling_bytes": l.OutputCeiling > 0, "plotly_bytes": l.PlotlyBytes > 0,
		"scratch_bytes": l.ScratchBytes > 0, "threads": l.Threads > 0,
		"connections": l.Connections >= 16, "header_bytes": l.HeaderBytes >= 4*KiB, "header_time": l.HeaderTime > 0,
		"body_time": l.BodyTime > 0, "idle_time": l.IdleTime > 0,
	})
	if l.CodeBytes > l.BodyBytes {
		c.fault("limits.code_bytes", "", "%s is more than limits.body_bytes (%s): such code could never arrive", l.CodeBytes, l.BodyBytes)
	}
	const leastMemory, mostMemory = 16 * MiB, 1024 * GiB
	if l.Memory > 0 && (l.Memory < leastMemory || l.Memory > mostMemory) {
		c.fault("limits.memory", "", "%s is none of %s to %s", l.Memory, leastMemory, mostMemory)
	}
	const mostFigure = 2 * MiB // what a plugin's answer may carry beside its text
	if l.PlotlyBytes > mostFigure {
		c.fault("limits.plotly_bytes", "", "%s is more than %s: such a figure could never arrive", l.PlotlyBytes, mostFigure)
	}
	const longest = 24 * time.Hour
	if l.WallCeiling > longest {
		c.fault("limits.wall_ceiling", "", "%s is more than a day", formatDuration(l.WallCeiling))
	}
}

func (c *checker) policy() {
	p := c.l.Policy
	if p.Deadline == 0 {
		c.fault("policy.deadline", "", "must be more than 0")
	}
	names := map[string]string{"solve": p.Profiles.Solve, "run": p.Profiles.Run, "tools": p.Profiles.Tools, "cli": p.Profiles.CLI}
	for _, route := range sortedNames(names) {
		if names[route] == "" {
			c.fault("policy.profiles."+route, "", "names no profile")
		}
	}
}

// pluginName is the contract's rule for a plugin's name.
var pluginName = regexp.MustCompile(`^[a-z][a-z0-9-]{1,31}$`)

func (c *checker) plugin(name string, p *Plugin) {
	at := pluginsKey + "." + name
	if !pluginName.MatchString(name) {
		c.fault(at, "", "a plugin's name is 2 to 32 of a-z, 0-9 and -, and begins with a letter")
	}
	if p.Command == "" {
		c.fault(at+".command", "", "names no program")
	}
	c.oneOf(at+".trust", p.Trust, TrustPinned, TrustBuilt)
	c.digest(at+".sha256", p.SHA256)
	switch {
	case p.SHA256 == "" && p.Trust == TrustPinned:
		c.fault(at+".sha256", "write the program's digest (sha256sum), or trust: built for what this tree built", "is empty, and trust is pinned")
	case p.SHA256 != "" && p.Trust == TrustBuilt:
		c.fault(at+".sha256", "write trust: pinned", "has no meaning with trust: built")
	}
	c.files(at+".files", p)
	c.digest(at+".description_sha256", p.Description)
	for _, variable := range p.Env {
		if reserved(variable) {
			c.fault(at+".env", "", "%q must not reach a plugin", variable)
		}
	}
	c.positive(at, map[string]bool{
		"instances": p.Instances > 0, "start_timeout": p.StartTimeout > 0, "drain_timeout": p.DrainTimeout > 0,
		"limits.open_files": p.Limits.OpenFiles >= 64,
	})
}

// digest wants 64 hex digits, or nothing.
func (c *checker) digest(path, text string) {
	if sum, err := hex.DecodeString(text); text != "" && (err != nil || len(sum) != 32) {
		c.fault(path, "", "%q is no SHA-256 in hex", text)
	}
}

// reserved are the names of the gateway's own secrets and of what it tells its
// plugins.
func reserved(variable string) bool {
	upper := strings.ToUpper(variable)
	return upper == "" || strings.ContainsAny(upper, "=\x00") || slices.ContainsFunc([]string{"SOLVER_TOKEN", "GATEWAY_", "PLUGIN_"},
		func(prefix string) bool { return strings.HasPrefix(upper, prefix) })
}

func (c *checker) positive(at string, fine map[string]bool) {
	for _, name := range sortedNames(fine) {
		if !fine[name] {
			c.fault(at+"."+name, "", "is too small")
		}
	}
}

// Properties lists the properties that sandbox.require may name, and does by
// default.
func Properties() []string { return []string{"clean-start", "rlimits", "syscalls", "files", "network"} }

func (c *checker) sandbox() {
	for _, want := range c.l.Sandbox.Require {
		c.oneOf("sandbox.require", want, Properties()...)
	}
}

// lower brings the wall limits under the ceiling and says so.
func (l *Loaded) lower() (warnings []string) {
	for path, wall := range map[string]*time.Duration{"limits.wall": &l.Limits.Wall, "limits.tool_wall": &l.Limits.ToolWall} {
		if *wall > l.Limits.WallCeiling {
			warnings = append(warnings, fmt.Sprintf("%s (%s) is lowered to limits.wall_ceiling (%s)",
				path, formatDuration(*wall), formatDuration(l.Limits.WallCeiling)))
			*wall = l.Limits.WallCeiling
		}
	}
	slices.Sort(warnings)
	return warnings
}
