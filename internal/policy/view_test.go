package policy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

func TestShowTellsWhatAProfileLetsPass(t *testing.T) {
	m := files(t, "tiny")
	edit(t, m, "tiny.rego", "package rules.tiny\n", "package rules.tiny\n\nimportable contains \"math\" if input.profile == \"solve\"\n")
	s := load(t, m)
	shower, ok := current(t, s).(gateway.Shower)
	if !ok {
		t.Fatal("the policy in force shows nothing")
	}
	for profile, want := range map[string]struct {
		rules   string
		modules []string
	}{
		"solve":   {"blocked-name error, import error", []string{"math"}},
		"lenient": {"blocked-name warn", []string{}},
	} {
		view, err := shower.Show(context.Background(), profile)
		if err != nil || len(view.Languages) != 1 {
			t.Fatalf("%s: %+v, %v", profile, view, err)
		}
		var rules []string
		for _, r := range view.Languages[0].Rules {
			rules = append(rules, r.ID+" "+r.Level)
		}
		if got := strings.Join(rules, ", "); !strings.HasPrefix(got, want.rules) || !slices.Equal(view.Languages[0].Modules, want.modules) {
			t.Errorf("%s: rules %q and modules %q, want %q and %q", profile, got, view.Languages[0].Modules, want.rules, want.modules)
		}
	}
	if _, err := shower.Show(context.Background(), "slove"); !errors.Is(err, gateway.ErrUnknownProfile) {
		t.Errorf("an unknown profile: %v", err)
	}
}

// A profile names who is asked beside it; whoever inherits from it does not.
func TestAProfileNamesItsShadow(t *testing.T) {
	m := files(t, "tiny")
	edit(t, m, "profiles.yaml", "solve:\n", "heir:\n  extends: solve\nsolve:\n  shadow: {profile: lenient, share: 0.25}\n")
	edit(t, m, "profiles.yaml", "lenient:\n", "lenient:\n  shadow: {profile: solve}\n")
	shadower, ok := current(t, load(t, m)).(gateway.Shadower)
	if !ok {
		t.Fatal("the policy in force has no shadows")
	}
	for profile, want := range map[string]struct {
		name  string
		share float64
	}{"solve": {"lenient", 0.25}, "lenient": {"solve", 1}, "heir": {}, "slove": {}} {
		if name, share := shadower.Shadow(profile); name != want.name || share != want.share {
			t.Errorf("%s: %q, %v", profile, name, share)
		}
	}
}

// A list that nothing but importable reads is still a list that decides nothing.
func TestWhatIsToldAloneIsNoUse(t *testing.T) {
	m := files(t, "tiny")
	edit(t, m, "tiny.rego", "package rules.tiny\n", "package rules.tiny\n\nimportable contains name if some name in unused_list\n\nunused_list := {\"math\"}\n")
	if _, err := Load(context.Background(), tinyConfig(m)); err == nil || !strings.Contains(err.Error(), "unused_list") {
		t.Errorf("error %v", err)
	}
}
