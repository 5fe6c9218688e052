package clients

import (
	"os"
	"testing"

	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// TestMain makes the test binary its own sandbox shim and the plugin of the
// suite's tools.
func TestMain(m *testing.M) {
	if code, is := sandbox.Shim(os.Args); is {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == "plugin:fixture" {
		wire.Serve(fixture{})
		return
	}
	status := m.Run()
	endGateways()
	os.Exit(status)
}
