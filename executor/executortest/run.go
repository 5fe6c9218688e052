package executortest

import (
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

// Run holds e against the contract.
func Run(t *testing.T, e executor.Executor) {
	t.Helper()
	Start(t, e)
}
