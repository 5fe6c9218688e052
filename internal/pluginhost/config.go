package pluginhost

import (
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Config is what a Host is made of.
type Config struct {
	Plugins []Plugin
	// StateRoot is an absolute path, best short: a directory of this user alone
	// (mode 0700, made if missing) that holds sockets and state while the Host
	// lives. Several gateways may share it.
	StateRoot      string
	GatewayVersion string
	LogLevel       string                           // of plugins: debug, info, warn or error; empty: info
	LookupEnv      func(name string) (string, bool) // the gateway's environment, for Plugin.Env; nil: empty
	Log            *slog.Logger

	timing *timing // tests only; nil: the figures of the contract
}

// Plugin is one executor plugin.
type Plugin struct {
	Name         string // of its section in the configuration
	Command      string // absolute path of its program
	Args         []string
	SHA256       string            // hex digest of the program, for TrustPinned
	Files        []PinnedFile      // what else must have its digest before a start, for TrustPinned; an argument that names one is given a copy
	Trust        string            // TrustPinned or TrustBuilt; nothing else is started
	Env          []string          // names of the gateway's variables that it may see
	ConfigJSON   []byte            // its settings, an object; empty: {}
	Require      []string          // properties that a plugin with a setting "require" must see to around programs, or not start
	Secrets      map[string][]byte // handed over the connection, never through the environment
	Tools        []string          // tools to offer; empty: all that it describes
	OpenFiles    uint64            // descriptors; 0: 4096
	Instances    int               // processes; 0: 1
	StartTimeout time.Duration     // from start to healthy; 0: one minute
	DrainTimeout time.Duration     // for running programs at a stop; 0: 10 s
	Disabled     bool              // it is not started until Enable
	Description  string            // hex digest that its description must have (DescriptionDigest); empty: any
}

// How the Host comes to trust a plugin's program.
const (
	// TrustPinned starts a sealed copy of the program if its digest is SHA256.
	TrustPinned = "pinned"
	// TrustBuilt starts the program at its path, for those that were built with
	// the gateway.
	TrustBuilt = "built"
)

// longestRoot is what a socket's path, at most 107 bytes, leaves for StateRoot.
const longestRoot = 50

func (c Config) check() error {
	var faults []error
	if !filepath.IsAbs(c.StateRoot) || len(c.StateRoot) > longestRoot {
		faults = append(faults, fmt.Errorf("use state directory %q: it must be an absolute path of at most %d bytes, since sockets lie in it", c.StateRoot, longestRoot))
	}
	if c.Log == nil {
		faults = append(faults, errors.New("make a plugin host: no logger"))
	}
	if len(c.Plugins) == 0 {
		faults = append(faults, errors.New("make a plugin host: no plugin is configured"))
	}
	seen := map[string]bool{}
	for _, p := range c.Plugins {
		if seen[p.Name] {
			faults = append(faults, fmt.Errorf("plugin %q: configured twice", p.Name))
		}
		seen[p.Name] = true
		faults = append(faults, p.check())
	}
	return errors.Join(faults...)
}

func (p Plugin) check() error {
	if p.Name == "" {
		return errors.New("plugin without a name")
	}
	if !filepath.IsAbs(p.Command) {
		return fmt.Errorf("plugin %q: command %q must be an absolute path", p.Name, p.Command)
	}
	if err := errors.Join(p.checkTrust(), p.checkFiles()); err != nil {
		return err
	}
	if sum, err := hex.DecodeString(p.Description); p.Description != "" && (err != nil || len(sum) != 32) {
		return fmt.Errorf("plugin %q: the digest of its description must be 64 hex digits", p.Name)
	}
	for _, name := range p.Env {
		if reserved(name) {
			return fmt.Errorf("plugin %q: variable %q is not handed to plugins", p.Name, name)
		}
	}
	if p.Instances < 0 || p.StartTimeout < 0 || p.DrainTimeout < 0 {
		return fmt.Errorf("plugin %q: instances and timeouts must not be negative", p.Name)
	}
	return nil
}

func (p Plugin) checkTrust() error {
	switch p.Trust {
	case TrustBuilt:
		if p.SHA256 != "" {
			return fmt.Errorf("plugin %q: sha256 has no meaning with trust: built", p.Name)
		}
		return nil
	case TrustPinned:
		if sum, err := hex.DecodeString(p.SHA256); err != nil || len(sum) != 32 {
			return fmt.Errorf("plugin %q: it is refused, since trust: pinned needs the sha256 of its program, 64 hex digits", p.Name)
		}
		return nil
	}
	return fmt.Errorf("plugin %q: it is refused, since it is neither pinned by a sha256 nor built with the gateway (trust: %q)", p.Name, p.Trust)
}

// reserved names are the gateway's own secrets and what the handshake uses.
func reserved(name string) bool {
	upper := strings.ToUpper(name)
	return name == "" || strings.ContainsAny(name, "=\x00") || slices.ContainsFunc(
		[]string{"SOLVER_TOKEN", "GATEWAY_", "PLUGIN_"}, func(p string) bool { return strings.HasPrefix(upper, p) })
}

// withDefaults fills what was left open.
func (p Plugin) withDefaults() Plugin {
	if p.OpenFiles == 0 {
		p.OpenFiles = 4096
	}
	if p.Instances == 0 {
		p.Instances = 1
	}
	if p.StartTimeout == 0 {
		p.StartTimeout = time.Minute
	}
	if p.DrainTimeout == 0 {
		p.DrainTimeout = 10 * time.Second
	}
	if len(p.ConfigJSON) == 0 {
		p.ConfigJSON = []byte("{}")
	}
	return p
}
