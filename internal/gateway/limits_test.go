package gateway_test

import (
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

func TestLimitsOfARequest(t *testing.T) {
	cases := map[string]struct {
		route   gateway.Route
		asked   executor.Limits
		verdict executor.Limits
		want    executor.Limits // Wall, CPU and MemoryBytes are compared
	}{
		"defaults":        {gateway.RouteSolve, executor.Limits{}, executor.Limits{}, executor.Limits{Wall: 30 * time.Second, CPU: 30 * time.Second, MemoryBytes: 1 << 30}},
		"tool":            {gateway.RouteTools, executor.Limits{}, executor.Limits{}, executor.Limits{Wall: 100 * time.Second, CPU: 100 * time.Second, MemoryBytes: 1 << 30}},
		"asked down":      {gateway.RouteSolve, executor.Limits{Wall: time.Second, MemoryBytes: 5}, executor.Limits{}, executor.Limits{Wall: time.Second, CPU: time.Second, MemoryBytes: 5}},
		"asked up":        {gateway.RouteSolve, executor.Limits{Wall: time.Hour, MemoryBytes: 1 << 40}, executor.Limits{}, executor.Limits{Wall: 120 * time.Second, CPU: 120 * time.Second, MemoryBytes: 1 << 30}},
		"verdict lowers":  {gateway.RouteSolve, executor.Limits{}, executor.Limits{Wall: 2 * time.Second, CPU: time.Second}, executor.Limits{Wall: 2 * time.Second, CPU: time.Second, MemoryBytes: 1 << 30}},
		"verdict no more": {gateway.RouteSolve, executor.Limits{Wall: time.Second}, executor.Limits{Wall: time.Hour, MemoryBytes: 1 << 50}, executor.Limits{Wall: time.Second, CPU: time.Second, MemoryBytes: 1 << 30}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, req := newWorld(), request()
			req.Route, req.Asked, w.policy.decision.Limits = c.route, c.asked, c.verdict
			ans := solve(t, w, req)
			got := executor.Limits{Wall: ans.Limits.Wall, CPU: ans.Limits.CPU, MemoryBytes: ans.Limits.MemoryBytes}
			if got != c.want {
				t.Errorf("limits = %+v, want %+v", got, c.want)
			}
			if w.plugin.grants[0].Limits != ans.Limits {
				t.Error("the plugin was granted other limits than the answer tells")
			}
		})
	}
}

func TestOwnCPULimitIsKept(t *testing.T) {
	w := newWorld()
	w.cfg.Limits.Default.CPU = 3 * time.Second
	if got := solve(t, w, request()).Limits.CPU; got != 3*time.Second {
		t.Errorf("CPU = %v, want the operator's own", got)
	}
	if got := gateway.New(w.cfg).WallFor(gateway.RouteTools); got != 100*time.Second {
		t.Errorf("WallFor(tools) = %v", got)
	}
}

func TestSizesAndTimesAreWrittenPlainly(t *testing.T) {
	if got := gateway.Bytes(1536) + " " + gateway.Bytes(512<<10) + " " + gateway.Bytes(7); got != "1.5 KiB 512 KiB 7 bytes" {
		t.Error(got)
	}
	if got := gateway.Seconds(500 * time.Millisecond); got != "0.5s" {
		t.Error(got)
	}
}
