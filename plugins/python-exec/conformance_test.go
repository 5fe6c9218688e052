package main

import (
	"encoding/json"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/executortest"
)

func TestConformance(t *testing.T) {
	settings, err := json.Marshal(map[string]any{"python": interpreterPath(t), "waiting_children": 2})
	if err != nil {
		t.Fatal(err)
	}
	p := newPlugin()
	t.Cleanup(p.close)
	executortest.Run(t, p, executor.Config{JSON: settings, StateDir: t.TempDir(), LogLevel: "warn"})
}
