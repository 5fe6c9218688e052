package policy

import (
	"os"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

// TestMain is as main: what documents are made of is shared.
func TestMain(m *testing.M) {
	ShareWords()
	os.Exit(m.Run())
}

func TestWordsAreShared(t *testing.T) {
	for _, word := range words() {
		if !ast.HasInternedValue(word) {
			t.Errorf("%q is not shared", word)
		}
	}
}
