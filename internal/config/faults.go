package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Fault is one thing that is wrong with the configuration.
type Fault struct {
	Place   string `json:"place"` // "config.yaml:12:3", "SLUICE_LIMITS_WALL", "--limits-wall", "default"
	Key     string `json:"key"`   // "limits.wall"; empty: the file as a whole
	Problem string `json:"problem"`
	Hint    string `json:"hint,omitempty"`
}

// String is the fault in one line.
func (f Fault) String() string {
	text := f.Place + ": "
	if f.Key != "" {
		text += f.Key + ": "
	}
	text += f.Problem
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text
}

// Faults is every fault of a configuration, as one error.
type Faults []Fault

// Error implements error; one line per fault.
func (f Faults) Error() string {
	lines := make([]string, 0, len(f))
	for _, one := range f {
		lines = append(lines, one.String())
	}
	return strings.Join(lines, "\n")
}

// suggest says which known key an unknown one may have been meant for.
func suggest(parents []string, unknown string, siblings []string) string {
	if secretName(unknown) {
		return "secrets never stand in the configuration: set SOLVER_TOKEN, or name a file in auth.token_file"
	}
	prefix := strings.Join(parents, ".")
	if name, ok := nearest(unknown, siblings); ok {
		return fmt.Sprintf("did you mean %s?", joinKey(prefix, name))
	}
	if path, ok := elsewhere(unknown); ok {
		return fmt.Sprintf("did you mean %s?", path)
	}
	return "known here: " + strings.Join(siblings, ", ")
}

func secretName(name string) bool {
	return slices.Contains([]string{"token", "secret", "password", "api_key", "solver_token"}, strings.ToLower(name))
}

// nearest is the known name with the fewest edits to it, if those are few;
// capitals count for nothing.
func nearest(unknown string, known []string) (string, bool) {
	best, fewest := "", max(2, len(unknown)/3)+1
	for _, name := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(unknown), strings.ToLower(name)); d < fewest {
			best, fewest = name, d
		}
	}
	return best, best != ""
}

// elsewhere finds a key of that very name in another group.
func elsewhere(unknown string) (string, bool) {
	for _, k := range Keys() {
		if strings.HasSuffix(k.Path, "."+unknown) {
			return k.Path, true
		}
	}
	return "", false
}
