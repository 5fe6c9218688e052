package upstream

import (
	"reflect"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for name, want := range map[string]string{
		"_ALLOWED_IMPORT_ROOTS": ListAllowedImports, "SAFE_MODULES": ListAllowedImports, "_BANNED_CALLS": ListBannedCalls, "FORBIDDEN_BUILTINS": ListBannedCalls,
		"DISALLOWED_NAMES": ListBannedCalls, "BLOCKED_ATTRIBUTES": ListBannedAttributes, "BLOCKED_CALL_ATTRS": ListBannedAttributes, "DENIED_NODES": ListDeniedNodes,
		"BLOCKED_IMPORTS": ListDeniedImports, "DISALLOWED_MODULES": ListDeniedImports, "TOOL_NAMES": "", "UNSAFE_THINGS": "", "ALLOWED_USERS": "",
	} {
		if got := classify(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestBind(t *testing.T) {
	sets := &Sets{
		Sets: []Set{
			{Name: "ALLOWED_IMPORTS", Entries: []string{"json", "math"}}, {Name: "BANNED_CALLS", Entries: []string{"eval"}},
			{Name: "BANNED_CALLS_TOO", Entries: []string{"exec"}}, {Name: "NEVER", Entries: []string{"f_back", "f_code"}}, {Name: "ODD_BANNED_NODES", Entries: []string{"a b"}},
		},
		Skipped: []Skipped{{Name: "COMPUTED", Why: "not a literal"}},
		Guards:  Guards{PrivateNames: true},
	}
	for name, tt := range map[string]struct {
		file    File
		lenient bool
		want    Rules
		missing string
		renamed string
	}{
		"by names": {File{}, false, Rules{AllowedImports: []string{"json", "math"}, BannedCalls: []string{"eval", "exec"}, DeniedNodes: []string{"a b"}, PrivateNames: true}, "which is no name", ""},
		"one that is recorded": {File{Rules: &Rules{BannedCalls: []string{"exec"}}, From: map[string][]string{"denied_nodes": {"NEVER"}}}, false,
			Rules{AllowedImports: []string{"json", "math"}, BannedCalls: []string{"exec"}, DeniedNodes: []string{"f_back", "f_code"}, PrivateNames: true}, "", ""},
		"by what they hold": {File{Rules: &Rules{BannedAttributes: []string{"f_back", "f_code", "f_globals"}}, From: map[string][]string{"denied_nodes": {"NEVER"}}}, false,
			Rules{AllowedImports: []string{"json", "math"}, BannedCalls: []string{"eval", "exec"}, BannedAttributes: []string{"f_back", "f_code"}, DeniedNodes: []string{"f_back", "f_code"}, PrivateNames: true}, "", ""},
		"none": {File{Rules: &Rules{BannedAttributes: []string{"other"}}, From: map[string][]string{"denied_nodes": {"NEVER"}}}, false,
			Rules{AllowedImports: []string{"json", "math"}, BannedCalls: []string{"eval", "exec"}, DeniedNodes: []string{"f_back", "f_code"}, PrivateNames: true}, "banned_attributes: no set", ""},
		"computed": {File{From: map[string][]string{"banned_calls": {"COMPUTED"}, "denied_nodes": {"NEVER"}}}, false,
			Rules{AllowedImports: []string{"json", "math"}, DeniedNodes: []string{"f_back", "f_code"}, PrivateNames: true}, "COMPUTED: not a literal", ""},
		"renamed": {File{From: map[string][]string{"banned_attributes": {"OLD"}, "denied_nodes": {"NEVER"}}, Rules: &Rules{BannedAttributes: []string{"f_back"}}}, true,
			Rules{AllowedImports: []string{"json", "math"}, BannedCalls: []string{"eval", "exec"}, BannedAttributes: []string{"f_back", "f_code"}, DeniedNodes: []string{"f_back", "f_code"}, PrivateNames: true}, "", "OLD seems to be called NEVER now"},
	} {
		t.Run(name, func(t *testing.T) {
			b := bind(tt.file, sets, tt.lenient)
			if !reflect.DeepEqual(*b.rules, tt.want) {
				t.Errorf("rules %+v, want %+v", *b.rules, tt.want)
			}
			if got := strings.Join(b.missing, "; "); (tt.missing == "") != (got == "") || !strings.Contains(got, tt.missing) {
				t.Errorf("missing %q, want %q", got, tt.missing)
			}
			if got := strings.Join(b.renamed, "; "); !strings.Contains(got, tt.renamed) {
				t.Errorf("renamed %q, want %q", got, tt.renamed)
			}
		})
	}
}
