package archtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Stock OPA, which checks the policy folder, is of the version that the gateway
// links: another one would prove something else.
func TestStockOPAIsTheLinkedOne(t *testing.T) {
	form := regexp.MustCompile(`github\.com/open-policy-agent/opa (v\S+)`)
	var versions []string
	for _, name := range []string{"go.mod", "tools/opa.mod"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		found := form.FindStringSubmatch(string(text))
		if found == nil {
			t.Fatalf("%s names no version of OPA", name)
		}
		versions = append(versions, found[1])
	}
	if versions[0] != versions[1] {
		t.Errorf("go.mod has OPA %s, tools/opa.mod %s: go get -modfile=tools/opa.mod -tool github.com/open-policy-agent/opa@%s", versions[0], versions[1], versions[0])
	}
}
