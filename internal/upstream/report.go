package upstream

import (
	"cmp"
	"slices"
	"strings"
)

// Levels of a finding.
const (
	LevelError   = "error"
	LevelWarning = "warning"
	LevelNote    = "note"
)

// Kinds of findings.
const (
	KindLooser     = "looser"     // the policy lets pass what its upstream refuses
	KindStricter   = "stricter"   // the policy refuses what its upstream lets pass
	KindExcepted   = "excepted"   // looser, and argued in the pin
	KindException  = "exception"  // an exception that no longer applies
	KindOverdue    = "overdue"    // an exception whose date is over
	KindUnverified = "unverified" // no digest is recorded for a file
	KindReview     = "review"     // the policy changed since it was last reviewed
	KindAnnotation = "annotation" // the policy names another pin than upstream.yaml
	KindCommit     = "commit"     // the pinned commit is not in the source
	KindMismatch   = "mismatch"   // a file has another digest or other rules than recorded
	KindSource     = "source"     // what the source shows beside that
	KindMoved      = "moved"      // the upstream went on
)

// Exit statuses.
const (
	ExitInStep     = 0
	ExitLooser     = 1 // also: a mismatch, or an exception that no longer applies
	ExitUsage      = 2 // wrong use, or input that cannot be read
	ExitMoved      = 3 // drift alone
	ExitUnverified = 4 // with StrictAll
)

// Finding is one thing that a command has to say.
type Finding struct {
	Level    string `json:"level"`
	Kind     string `json:"kind"`
	Upstream string `json:"upstream,omitempty"`
	Profile  string `json:"profile,omitempty"`
	List     string `json:"list,omitempty"`
	Entry    string `json:"entry,omitempty"`
	When     string `json:"when,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Message  string `json:"message"`
	Reason   string `json:"reason,omitempty"` // of the exception
	File     string `json:"file,omitempty"`   // in the policy folder
	Line     int    `json:"line,omitempty"`
}

// PinState is one upstream as it is pinned.
type PinState struct {
	Name     string   `json:"name"`
	Branch   string   `json:"branch,omitempty"`
	Commit   string   `json:"commit,omitempty"`
	Date     string   `json:"date,omitempty"`
	Profiles []string `json:"profiles"`
	SHA256   []string `json:"sha256"`
	Verified bool     `json:"verified"` // every file has a digest
}

// Report is the answer of a command.
type Report struct {
	Command  string     `json:"command"`
	InStep   bool       `json:"in_step"`
	Exit     int        `json:"exit"`
	Pins     []PinState `json:"pins"`
	Findings []Finding  `json:"findings"`
	Drift    *Drift     `json:"drift,omitempty"`
	Update   *Changes   `json:"update,omitempty"`
}

// Looser lists the findings by which the policy is looser than its pin.
func (r *Report) Looser() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Kind != KindLooser })
}

// conclude sorts the findings and says with which status the command ends.
func (r *Report) conclude() *Report {
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(weight(a.Level), weight(b.Level)), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Upstream, b.Upstream),
			strings.Compare(a.Profile, b.Profile), strings.Compare(a.List, b.List), strings.Compare(a.Entry, b.Entry),
		)
	})
	r.Exit = ExitInStep
	for _, f := range r.Findings {
		switch {
		case f.Level != LevelError && f.Kind != KindMoved:
		case f.Kind == KindMoved:
			r.Exit = worse(r.Exit, ExitMoved)
		case f.Kind == KindUnverified:
			r.Exit = worse(r.Exit, ExitUnverified)
		default:
			r.Exit = ExitLooser
		}
	}
	r.InStep = r.Exit == ExitInStep
	return r
}

// worse keeps the status that says more: looser before all others.
func worse(have, next int) int {
	if have == ExitLooser || have == ExitMoved {
		return have
	}
	return next
}

func weight(level string) int {
	return slices.Index([]string{LevelError, LevelWarning, LevelNote}, level)
}

// States are the pins as a report shows them.
func (p *Pin) States() []PinState {
	states := make([]PinState, 0, len(p.Upstreams))
	for _, u := range p.Upstreams {
		state := PinState{Name: u.Name, Branch: u.Branch, Commit: u.Commit, Date: u.Date, Profiles: u.Profiles, SHA256: []string{}, Verified: u.verified()}
		for _, f := range u.Files {
			if f.SHA256 != "" {
				state.SHA256 = append(state.SHA256, f.SHA256)
			}
		}
		states = append(states, state)
	}
	return states
}
