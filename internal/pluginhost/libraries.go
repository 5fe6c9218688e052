package pluginhost

import (
	"slices"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

var _ gateway.Stocked = (*target)(nil)

// Libraries implements gateway.Stocked; none before the plugin was up.
func (t *target) Libraries() []executor.Library {
	about := t.pool.about.Load()
	if about == nil {
		return nil
	}
	return slices.Clone(about.Libraries)
}
