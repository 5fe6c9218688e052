package gateway_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// shady is a policy whose profile solve has a shadow that says what ask says.
type shady struct {
	*policy
	share float64
	ask   func() (gateway.Decision, error)
}

func (s *shady) Current() (gateway.Policy, error) { return s, nil }

func (s *shady) Shadow(profile string) (string, float64) {
	if profile != "solve" {
		return "", 0
	}
	return "strict", s.share
}

func (s *shady) Decide(ctx context.Context, q gateway.Question) (gateway.Decision, error) {
	if q.Profile == "strict" {
		return s.ask()
	}
	return s.policy.Decide(ctx, q)
}

func newShady(ask func() (gateway.Decision, error)) (*world, *shady) {
	w := newWorld()
	s := &shady{policy: w.policy, share: 1, ask: ask}
	w.cfg.Policies = s
	return w, s
}

func submit(t *testing.T, g *gateway.Gateway) gateway.Answer {
	t.Helper()
	ans, err := g.Solve(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	return ans
}

// A shadow is asked when the answer is there, written down beside the decision,
// and changes nothing of it.
func TestAShadowIsWrittenDownAndChangesNothing(t *testing.T) {
	release := make(chan struct{})
	w, _ := newShady(func() (gateway.Decision, error) {
		<-release
		return gateway.Decision{ID: "d2", Profile: "strict", Violations: []gateway.Violation{{Rule: "blocked-import", Level: "error", Line: 1, Column: 1}}}, nil
	})
	g := gateway.New(w.cfg)
	if ans := submit(t, g); ans.Status != gateway.Completed || ans.Decision.ID != "d1" || !ans.Decision.Allow {
		t.Errorf("answer %+v", ans)
	}
	close(release)
	g.Settle(t.Context())
	e := onlyEntry(t, w)
	if e.Decision.ID != "d1" || e.Shadow == nil || e.Shadow.Decision.ID != "d2" || e.Shadow.Profile != "strict" || e.Shadow.Outcome(*e.Decision) != gateway.ShadowRefuses {
		t.Errorf("entry %+v, shadow %+v", e, e.Shadow)
	}
	submit(t, g) // after the end: written down without
	if n := len(w.journal.entries); n != 2 || w.journal.entries[1].Shadow != nil || g.ShadowsMissed() != 1 {
		t.Errorf("%d entries, missed %d", n, g.ShadowsMissed())
	}
}

func TestAFaultOfAShadowIsWrittenDown(t *testing.T) {
	w, s := newShady(func() (gateway.Decision, error) {
		return gateway.Decision{}, fmt.Errorf("%w: the program's text", gateway.ErrPolicyFault)
	})
	g := gateway.New(w.cfg)
	submit(t, g)
	s.share = 0
	submit(t, g)
	g.Settle(t.Context())
	shadows := map[string]int{}
	for _, e := range w.journal.entries {
		outcome := "none"
		if e.Shadow != nil {
			outcome = e.Shadow.Outcome(*e.Decision) + " " + e.Shadow.Fault
		}
		shadows[outcome]++
	}
	if want := "undecided " + gateway.FaultClass(gateway.ErrPolicyFault); shadows[want] != 1 || shadows["none"] != 1 || g.ShadowsMissed() != 0 {
		t.Errorf("shadows %v, want one %q and one without", shadows, want)
	}
}

// Shadows that cannot keep up are left out and counted; every line is written.
func TestShadowsThatWaitAreBounded(t *testing.T) {
	release := make(chan struct{})
	w, _ := newShady(func() (gateway.Decision, error) {
		<-release
		return gateway.Decision{Allow: true}, nil
	})
	g := gateway.New(w.cfg)
	const asked, most = 70, 64
	for range asked {
		submit(t, g)
	}
	if got := g.ShadowsMissed(); got != asked-most {
		t.Errorf("missed %d, want %d", got, asked-most)
	}
	close(release)
	g.Settle(t.Context())
	if len(w.journal.entries) != asked {
		t.Errorf("%d lines, want %d", len(w.journal.entries), asked)
	}
}

func TestHowAShadowDiffers(t *testing.T) {
	at := func(lines ...int) (list []gateway.Violation) {
		for _, line := range lines {
			list = append(list, gateway.Violation{Rule: "r", Level: "warn", Line: line, Column: 1, Message: "m"})
		}
		return list
	}
	other := at(1)
	other[0].Level = "error"
	for name, c := range map[string]struct {
		inForce, shadow gateway.Decision
		want            string
	}{
		"the same":       {gateway.Decision{Violations: at(1, 2)}, gateway.Decision{Violations: at(2, 1, 1)}, gateway.ShadowSame},
		"another place":  {gateway.Decision{Violations: at(1, 2)}, gateway.Decision{Violations: at(1, 3)}, gateway.ShadowChanges},
		"one more":       {gateway.Decision{Violations: at(1)}, gateway.Decision{Violations: at(1, 3)}, gateway.ShadowChanges},
		"another level":  {gateway.Decision{Violations: at(1)}, gateway.Decision{Violations: other}, gateway.ShadowChanges},
		"newly allowed":  {gateway.Decision{Violations: at(1)}, gateway.Decision{Allow: true}, gateway.ShadowAllows},
		"newly refused":  {gateway.Decision{Allow: true}, gateway.Decision{Violations: at(1)}, gateway.ShadowRefuses},
		"nothing at all": {gateway.Decision{Allow: true}, gateway.Decision{Allow: true}, gateway.ShadowSame},
	} {
		if got := (gateway.Shadow{Decision: &c.shadow}).Outcome(c.inForce); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
