package policy

import (
	"testing"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

func TestCovering(t *testing.T) {
	rules := map[string]Rule{"more": {Covers: []string{"less"}}, "less": {}, "other": {}}
	finding := func(rule, level string, column int) gateway.Violation {
		return gateway.Violation{Rule: rule, Level: level, Line: 1, Column: column, EndLine: 1, EndColumn: 9}
	}
	tests := map[string]struct {
		given []gateway.Violation
		want  int
	}{
		"at one place":            {[]gateway.Violation{finding("less", levelError, 1), finding("more", levelError, 1)}, 1},
		"a warning by an error":   {[]gateway.Violation{finding("less", levelWarn, 1), finding("more", levelError, 1)}, 1},
		"no error by a warning":   {[]gateway.Violation{finding("less", levelError, 1), finding("more", levelWarn, 1)}, 2},
		"at another place":        {[]gateway.Violation{finding("less", levelError, 1), finding("more", levelError, 2)}, 2},
		"by a rule that does not": {[]gateway.Violation{finding("less", levelError, 1), finding("other", levelError, 1)}, 2},
	}
	for name, test := range tests {
		if got := uncovered(test.given, rules); len(got) != test.want {
			t.Errorf("%s: %+v, want %d", name, got, test.want)
		}
	}
}
