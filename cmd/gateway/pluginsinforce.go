package main

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/sluice-gateway/sluice/internal/config"
)

// pluginsInForce are the settings that plugins were last started with: a plugin is
// reloaded by itself, without a SIGHUP. It may be used by several goroutines.
type pluginsInForce struct {
	mu sync.Mutex
	by map[string]*config.Plugin
}

// note takes a plugin's settings down when it runs with them.
func (p *pluginsInForce) note(name string, cfg *config.Loaded) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]*config.Plugin{}
	}
	p.by[name] = cfg.Plugins[name]
}

// has says whether the changed key is one of a plugin that runs with what next says.
func (p *pluginsInForce) has(key string, next *config.Loaded) bool {
	name, ok := pluginOf(key)
	if !ok {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	runs, ok := p.by[name]
	return ok && reflect.DeepEqual(runs, next.Plugins[name])
}

// pluginOf is the plugin whose setting a key is.
func pluginOf(key string) (string, bool) {
	rest, ok := strings.CutPrefix(key, "plugins.")
	if !ok {
		return "", false
	}
	name, _, ok := strings.Cut(rest, ".")
	return name, ok
}

// remedyForKey says what puts a key in force that a SIGHUP does not.
func remedyForKey(key string) string {
	if name, ok := pluginOf(key); ok {
		return fmt.Sprintf("`gateway plugin reload %s` puts it in force, or a restart", name)
	}
	return "a change of this key needs a restart"
}
