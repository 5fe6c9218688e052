package main

import (
	"testing"

	"github.com/sluice-gateway/sluice/executor/executortest"
)

func TestConformance(t *testing.T) { executortest.Run(t, calculator{}) }
