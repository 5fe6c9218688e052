package executortest

import (
	"context"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
)

// startTime bounds what an executor takes to be described and configured.
const startTime = 30 * time.Second

// Start serves e behind real gRPC in this process, describes and configures it,
// and gives the host's half. Without settings, it configures with an empty
// object; a missing StateDir and LogLevel are supplied. All of it ends with the
// test.
func Start(t *testing.T, e executor.Executor, settings ...executor.Config) *wire.Client {
	t.Helper()
	p := serve(t, e)
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	if _, err := p.Client.Describe(ctx, "test", "samples"); err != nil {
		t.Fatal(err)
	}
	configure(t, p, settings)
	return p.Client
}

func serve(t *testing.T, e executor.Executor) *wire.InProcess {
	t.Helper()
	p, err := wire.ServeInProcess(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func configure(t *testing.T, p *wire.InProcess, settings []executor.Config) {
	t.Helper()
	c := executor.Config{JSON: []byte("{}")}
	if len(settings) > 0 {
		c = settings[0]
	}
	if c.StateDir == "" {
		c.StateDir = t.TempDir()
	}
	if c.LogLevel == "" {
		c.LogLevel = "warn"
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	if _, err := p.Client.Configure(ctx, c); err != nil {
		t.Fatal(err)
	}
}
