package workbench

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/policy"
)

// docs/rules.md is what the rules' METADATA says. UPDATE_DOCS=1 writes it.
func TestTheReferenceIsInStep(t *testing.T) {
	const page = "../../../docs/rules.md"
	s, err := policy.Load(context.Background(), policy.Config{FS: os.DirFS(shipped), SkipCorpus: true})
	if err != nil {
		t.Fatal(err)
	}
	want := Reference(s.Status().Rules)
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/rules.md is not in step with the rules: run this test with UPDATE_DOCS=1")
	}
	for language, rules := range s.Status().Rules {
		for _, r := range rules {
			if !strings.Contains(want, "\n### "+r.ID+"\n") || r.Title == "" || r.Hint == "" {
				t.Errorf("%s: rule %s has no place, title or hint in the reference", language, r.ID)
			}
		}
	}
}
