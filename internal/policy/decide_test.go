package policy

import (
	"testing"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

func TestDecideGivesPlacesTextsAndGrants(t *testing.T) {
	s := load(t, files(t, "tiny"))
	d := decide(t, s, question("import math\nprint eval"))
	want := gateway.Violation{
		Rule: "blocked-name", Level: "error", Message: "eval is blocked", Hint: "Write it out.",
		Line: 2, Column: 7, EndLine: 2, EndColumn: 11,
		Title: "Blocked name", URL: "https://example.org/blocked-name", Subject: "eval",
	}
	if d.Allow || len(d.Violations) != 1 || d.Violations[0] != want {
		t.Errorf("decision = %+v, want %+v", d, want)
	}
	if len(d.Grants) != 1 || d.Grants[0] != "import:math" {
		t.Errorf("grants = %q", d.Grants)
	}
}
