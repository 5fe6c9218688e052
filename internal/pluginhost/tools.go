package pluginhost

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// toolName is the form in which names are compared: a caller's spelling of a
// tool varies.
func toolName(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "-", "_")
}

// offer is what one plugin brings: its tools, by every name.
type offer struct {
	tools []*target // as described and wanted
	names map[string]*target
}

// newOffer picks the wanted tools out of a description and names them: by their
// names, their aliases and, for those without a tool of that name, their
// languages. A wanted name that is not described is an error.
func newOffer(p *pool, wanted []string, d executor.Description) (offer, error) {
	o := offer{names: map[string]*target{}}
	languages := map[string]executor.Language{}
	for _, l := range d.Languages {
		languages[l.ID] = l
	}
	all := map[string]*target{}
	for _, tool := range d.Tools {
		language, ok := languages[tool.Language]
		if !ok {
			return o, fmt.Errorf("tool %q is of language %q, which is not described", tool.Name, tool.Language)
		}
		t := &target{pool: p, tool: tool, language: language}
		o.tools = append(o.tools, t)
		for _, name := range append([]string{tool.Name}, tool.Aliases...) {
			if other := all[toolName(name)]; other != nil && other != t {
				return o, fmt.Errorf("tools %q and %q share the name %q", other.tool.Name, tool.Name, name)
			}
			all[toolName(name)] = t
		}
	}
	for _, l := range d.Languages {
		if all[toolName(l.ID)] == nil {
			all[toolName(l.ID)] = languageTarget(p, l)
		}
	}
	return o.choose(wanted, all)
}

// languageTarget reaches a language by its own name.
func languageTarget(p *pool, l executor.Language) *target {
	return &target{pool: p, language: l, tool: executor.Tool{Name: l.ID, Language: l.ID, SourceArgument: "code"}}
}

// choose keeps what is wanted; nothing wanted is all.
func (o offer) choose(wanted []string, all map[string]*target) (offer, error) {
	o.names = all
	if len(wanted) == 0 {
		return o, nil
	}
	chosen := map[*target]bool{}
	for _, name := range wanted {
		t := all[toolName(name)]
		if t == nil {
			return o, fmt.Errorf("tool %q is named in the configuration, and the plugin does not have it", name)
		}
		chosen[t] = true
	}
	o.tools = slices.DeleteFunc(o.tools, func(t *target) bool { return !chosen[t] })
	for name, t := range all {
		if !chosen[t] {
			delete(o.names, name)
		}
	}
	return o, nil
}

// directory finds targets by name. The map is replaced, never changed.
type directory struct {
	mu       sync.RWMutex
	names    map[string]*target
	tools    []*target
	expected map[string]string // names from the configuration → plugin, until it is described
}

func newDirectory(plugins []Plugin) *directory {
	d := &directory{names: map[string]*target{}, expected: map[string]string{}}
	for _, p := range plugins {
		for _, name := range p.Tools {
			d.expected[toolName(name)] = p.Name
		}
	}
	return d
}

// add takes one plugin's offer; an error when another plugin has one of the
// names.
func (d *directory) add(o offer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, t := range o.names {
		if other := d.names[name]; other != nil {
			return fmt.Errorf("%w: plugins %q and %q both bring a tool or language %q; name the tools of each under its key tools",
				errClash, other.pool.name, t.pool.name, name)
		}
	}
	for name, t := range o.names {
		d.names[name] = t
	}
	d.tools = append(d.tools, o.tools...)
	slices.SortFunc(d.tools, func(a, b *target) int { return strings.Compare(a.tool.Name, b.tool.Name) })
	return nil
}

// replace takes one plugin's offer in the place of its former one; an error when
// another plugin has one of the names, and then nothing changes.
func (d *directory) replace(p *pool, o offer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := map[string]*target{}
	for name, t := range d.names {
		if t.pool != p {
			names[name] = t
		}
	}
	for name, t := range o.names {
		if other := names[name]; other != nil {
			return fmt.Errorf("%w: plugins %q and %q both bring a tool or language %q", errClash, other.pool.name, p.name, name)
		}
		names[name] = t
	}
	tools := slices.DeleteFunc(slices.Clone(d.tools), func(t *target) bool { return t.pool == p })
	tools = append(tools, o.tools...)
	d.names, d.tools = names, tools
	slices.SortFunc(d.tools, func(a, b *target) int { return strings.Compare(a.tool.Name, b.tool.Name) })
	return nil
}

func (d *directory) find(name string) (*target, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	key := toolName(name)
	if t := d.names[key]; t != nil {
		return t, nil
	}
	if plugin := d.expected[key]; plugin != "" {
		return nil, fmt.Errorf("plugin %q has not been up yet: %w", plugin, gateway.ErrPluginDown)
	}
	return nil, gateway.ErrUnknownTool
}

func (d *directory) targets() []gateway.Target {
	d.mu.RLock()
	defer d.mu.RUnlock()
	all := make([]gateway.Target, len(d.tools))
	for i, t := range d.tools {
		all[i] = t
	}
	return all
}

// likeness is what must stay the same from one process of a plugin to the next.
func likeness(d executor.Description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", d.Name)
	for _, l := range d.Languages {
		fmt.Fprintf(&b, " %q:%q", l.ID, l.TreeSchema)
	}
	for _, t := range d.Tools {
		fmt.Fprintf(&b, " %q:%q:%q:%q:%v", t.Name, t.Aliases, t.Language, t.SourceArgument, t.Stateful)
	}
	return b.String()
}
