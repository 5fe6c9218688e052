package executortest

import (
	"context"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
)

// startTime bounds what a plugin takes to be described and configured.
const startTime = 10 * time.Second

// Start serves e behind real gRPC in this process, describes and configures it
// with empty settings, and gives the host's half. All of it ends with the test.
func Start(t *testing.T, e executor.Executor) *wire.Client {
	t.Helper()
	return start(t, e).Client
}

func start(t *testing.T, e executor.Executor) *wire.InProcess {
	t.Helper()
	p, err := wire.ServeInProcess(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	if _, err := p.Client.Describe(ctx, "test", "samples"); err != nil {
		t.Fatal(err)
	}
	config := executor.Config{JSON: []byte("{}"), StateDir: t.TempDir(), LogLevel: "warn"}
	if _, err := p.Client.Configure(ctx, config); err != nil {
		t.Fatal(err)
	}
	return p
}
