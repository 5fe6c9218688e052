package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/pluginhost"
)

// pluginOrders carries out what operators ask of plugins by the configuration
// as it stands now. It implements plugins.Orders.
type pluginOrders struct{ h *house }

// Reload implements plugins.Orders.
func (o pluginOrders) Reload(ctx context.Context, name string) ([]pluginhost.Swap, error) {
	return o.carryOut(ctx, name, o.h.host.Reload)
}

// Enable implements plugins.Orders.
func (o pluginOrders) Enable(ctx context.Context, name string) ([]pluginhost.Swap, error) {
	return o.carryOut(ctx, name, o.h.host.Enable)
}

func (o pluginOrders) carryOut(ctx context.Context, name string, do func(context.Context, pluginhost.Plugin) ([]pluginhost.Swap, error)) ([]pluginhost.Swap, error) {
	spec, cfg, err := o.spec(name)
	if err != nil {
		return nil, err
	}
	before := o.h.languages()
	swaps, err := do(ctx, spec)
	if err != nil {
		return nil, err
	}
	o.h.pluginsInForce.note(name, cfg)
	if !slices.EqualFunc(before, o.h.languages(), sameLanguage) && o.h.policies.store.Load() != nil {
		// The policy holds documents against the schemas that plugins describe.
		if err := o.h.loadPolicy(ctx, false); err != nil {
			return swaps, fmt.Errorf("plugin %q is up, and its languages are other ones than before, but the policy does not go with them: %w", name, err)
		}
		o.h.log.Info("policy was loaded for the plugins' languages", "policy", o.h.policies.revision())
	}
	return swaps, nil
}

func sameLanguage(a, b executor.Language) bool {
	return a.ID == b.ID && a.TreeSchema == b.TreeSchema && string(a.Schema) == string(b.Schema)
}

// spec reads the configuration anew.
func (o pluginOrders) spec(name string) (pluginhost.Plugin, *config.Loaded, error) {
	if o.h.load == nil {
		return pluginhost.Plugin{}, nil, errors.New("the configuration cannot be read again here")
	}
	cfg, err := o.h.load()
	if err != nil {
		return pluginhost.Plugin{}, nil, err
	}
	list, err := pluginsOf(cfg)
	if err != nil {
		return pluginhost.Plugin{}, nil, err
	}
	i := slices.IndexFunc(list, func(p pluginhost.Plugin) bool { return p.Name == name })
	if i < 0 {
		return pluginhost.Plugin{}, nil, fmt.Errorf("plugins.%s: %w", name, pluginhost.ErrUnknown)
	}
	return list[i], cfg, nil
}
