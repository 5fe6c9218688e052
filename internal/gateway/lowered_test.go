package gateway

import (
	"slices"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

func TestLoweredLimitsAreTold(t *testing.T) {
	have := executor.Limits{Wall: 120 * time.Second, CPU: 120 * time.Second, MemoryBytes: 1 << 30, OutputCeilingBytes: 16 << 20}
	for name, c := range map[string]struct {
		asked executor.Limits
		want  []string
	}{
		"none asked": {executor.Limits{}, nil},
		"less":       {executor.Limits{Wall: time.Second, MemoryBytes: 1 << 20}, nil},
		"the same":   {have, nil},
		"more": {executor.Limits{Wall: 500 * time.Second, MemoryBytes: 2 << 30}, []string{
			"limits.wall_seconds: 500 were asked for, and 120 is the most", "limits.memory_bytes: 2147483648 were asked for, and 1073741824 is the most",
		}},
	} {
		if got := lowered(c.asked, have); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
