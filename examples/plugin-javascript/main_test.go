package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/executortest"
)

// TestContract holds the plugin's process against the whole contract.
func TestContract(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "plugin")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	executortest.RunProgram(t, executortest.Program{Path: bin}, executortest.Options{Short: true})
}

// FuzzParse: whatever the text, the parser answers.
func FuzzParse(f *testing.F) {
	for _, sample := range (plugin{}).Describe().Languages[0].Samples {
		if len(sample.Code) < 1000 {
			f.Add(sample.Code)
		}
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		prog, err := plugin{}.Parse(t.Context(), executor.Source{Code: code})
		if prog == nil && err == nil {
			t.Error("neither a program nor an error")
		}
	})
}
