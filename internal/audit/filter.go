package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Filter says which events fit; an empty field asks for nothing.
type Filter struct {
	Caller   string
	Rule     string // that was broken
	Verdict  string // allow, deny or none
	Status   string // of the answer, or class of the fault
	Profile  string
	Shadow   string // how it differs: one of Shadow.Outcome's, or differs: any but same
	Revision string
	Code     string // SHA-256 of the program, or its beginning
	ID       string // of the request or the decision
	Since    string // a day, an RFC 3339 time, or a duration before now
	Until    string

	Now func() time.Time // nil: time.Now
}

// Compile checks the filter and makes the function that says whether an event
// fits.
func (f Filter) Compile() (func(Event) bool, error) {
	if !slices.Contains([]string{"", "allow", "deny", "none"}, f.Verdict) {
		return nil, fmt.Errorf("verdict %q is none of allow, deny, none", f.Verdict)
	}
	if !slices.Contains(append([]string{"", Differs}, ShadowOutcomes()...), f.Shadow) {
		return nil, fmt.Errorf("shadow %q is none of %s", f.Shadow, strings.Join(append([]string{Differs}, ShadowOutcomes()...), ", "))
	}
	since, err := f.time("since", f.Since)
	if err != nil {
		return nil, err
	}
	until, err := f.time("until", f.Until)
	if err != nil {
		return nil, err
	}
	return func(e Event) bool { return within(e.Timestamp, since, until) && f.named(e) && f.about(e) }, nil
}

// Differs is every outcome of a shadow but that it says the same.
const Differs = "differs"

// ShadowOutcomes lists the ways in which a shadow can differ, and that it does not.
func ShadowOutcomes() []string {
	return []string{gateway.ShadowSame, gateway.ShadowRefuses, gateway.ShadowAllows, gateway.ShadowChanges, gateway.ShadowUndecided}
}

func (f Filter) shaded(s *Shadow) bool {
	switch {
	case f.Shadow == "":
		return true
	case s == nil:
		return false
	case f.Shadow == Differs:
		return s.Outcome != gateway.ShadowSame
	}
	return s.Outcome == f.Shadow
}

func within(t, since, until time.Time) bool {
	return (since.IsZero() || !t.Before(since)) && (until.IsZero() || t.Before(until))
}

// named is about who asked and what became of it.
func (f Filter) named(e Event) bool {
	return asked(f.Caller, e.RequestedBy) && asked(f.Verdict, e.Verdict()) && asked(f.Revision, e.Revision()) &&
		asked(f.Status, e.Custom.Status, e.Custom.Fault) && asked(f.ID, e.Custom.RequestID, e.DecisionID) && f.shaded(e.Custom.Shadow)
}

// about is about the program.
func (f Filter) about(e Event) bool {
	in := Input{}
	if e.Input != nil {
		in = *e.Input
	}
	return asked(f.Profile, in.Profile) && strings.HasPrefix(in.Code.SHA256, strings.ToLower(f.Code)) && (f.Rule == "" || e.breaks(f.Rule))
}

func asked(want string, have ...string) bool { return want == "" || slices.Contains(have, want) }

func (e *Event) breaks(rule string) bool {
	return e.Result != nil && slices.ContainsFunc(e.Result.Violations, func(v Violation) bool { return v.Rule == rule })
}

// time reads a day, a time, or how long ago.
func (f Filter) time(what, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	ago, err := time.ParseDuration(text)
	if err != nil || ago < 0 {
		return time.Time{}, fmt.Errorf("%s %q is no time: write 2026-11-29, 2026-11-29T18:00:00Z, or how long ago, as 2h30m", what, text)
	}
	now := time.Now
	if f.Now != nil {
		now = f.Now
	}
	return now().Add(-ago), nil
}
