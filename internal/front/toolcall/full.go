package toolcall

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// FigureType is the media type of a figure among a run's products.
const FigureType = "application/vnd.plotly.v1+json"

// Full is the full answer to a submission, as POST /v1/run gives it.
type Full struct {
	Status     gateway.Status      `json:"status"`
	Value      *string             `json:"value"`
	Stdout     string              `json:"stdout"`
	Stderr     string              `json:"stderr"`
	Truncated  Truncated           `json:"truncated"`
	Error      *RunError           `json:"error"`
	Notes      []string            `json:"notes"`
	Figures    []jsontext.Value    `json:"figures"`
	Violations []gateway.Violation `json:"violations"`
	Usage      Usage               `json:"usage"`
	Limits     Limits              `json:"limits"`
	Isolation  []string            `json:"isolation"`
	Policy     *Policy             `json:"policy"`
	Plugin     Plugin              `json:"plugin"`
	Session    *RunSession         `json:"session"`
}

// RunSession is the session that a cell ran in, and what became of it.
type RunSession struct {
	ID    string `json:"session_id"`
	State string `json:"state"`
}

// Truncated counts the bytes that were left out of each stream.
type Truncated struct {
	Stdout uint64 `json:"stdout"`
	Stderr uint64 `json:"stderr"`
}

// RunError is what a program raised, or which limit ended it.
type RunError struct {
	Type      string  `json:"type"`
	Message   string  `json:"message"`
	Line      *uint32 `json:"line"`
	Traceback *string `json:"traceback"`
}

// Usage is what a run cost, measured from outside.
type Usage struct {
	WallMS     float64 `json:"wall_ms"`
	CPUMS      float64 `json:"cpu_ms"`
	PeakMemory uint64  `json:"peak_memory_bytes"`
}

// Limits are those in force, and which of them fired.
type Limits struct {
	Wall   float64 `json:"wall_seconds"`
	CPU    float64 `json:"cpu_seconds"`
	Memory uint64  `json:"memory_bytes"`
	Output uint64  `json:"output_bytes"`
	Stdout uint64  `json:"stdout_bytes"`
	Stderr uint64  `json:"stderr_bytes"`
	Fired  *string `json:"fired"`
}

// Policy names the rules that decided.
type Policy struct {
	Revision   string `json:"revision"`
	Profile    string `json:"profile"`
	DecisionID string `json:"decision_id,omitzero"`
}

// Plugin names the executor that served a submission.
type Plugin struct {
	Name            string `json:"name"`
	Version         string `json:"version"`
	LanguageVersion string `json:"language_version"`
}

// FullAnswer gives an answer in the form of POST /v1/run.
func FullAnswer(ans gateway.Answer) Full {
	figures, notes := Figures(ans)
	out := Full{
		Status: ans.Status, Stdout: ans.StdoutText(), Stderr: ans.StderrText(),
		Truncated: Truncated{Stdout: ans.Result.StdoutOmitted, Stderr: ans.Result.StderrOmitted},
		Error:     errorOf(ans), Notes: append(append([]string{}, ans.Result.Notes...), notes...),
		Figures: figures, Violations: ViolationsOf(ans), Usage: usageOf(ans.Result.Usage), Limits: limitsOf(ans),
		Isolation: append([]string{}, ans.Result.Walls...), Policy: PolicyOf(ans.Decision),
		Plugin: Plugin{Name: ans.Plugin.Name, Version: ans.Plugin.Version, LanguageVersion: ans.Plugin.LanguageVersion},
	}
	if ans.Session != "" {
		out.Session = &RunSession{ID: ans.Session, State: ans.Result.SessionState}
	}
	if ans.Result.HasValue {
		out.Value = &ans.Result.Value
	}
	return out
}

// Figures takes the figures out of a run's products, and says what was left
// out.
func Figures(ans gateway.Answer) (figures []jsontext.Value, notes []string) {
	figures = []jsontext.Value{}
	for _, a := range ans.Result.Artifacts {
		if a.MediaType != FigureType {
			continue
		}
		if why := figureFault(a.Data, ans.Limits.ArtifactBytes); why != "" {
			notes = append(notes, why)
			continue
		}
		figures = append(figures, jsontext.Value(a.Data))
	}
	return figures, notes
}

// errorOf is what the program raised or which limit ended it; nil when it
// completed or was refused.
func errorOf(ans gateway.Answer) *RunError {
	if ans.Status == gateway.Completed || ans.Status == gateway.Rejected {
		return nil
	}
	p := ans.Result.Problem
	if p == nil {
		return &RunError{Type: string(ans.Status), Message: Reason(ans)}
	}
	out := &RunError{Type: p.Type, Message: p.Message, Traceback: orNull(p.Trace)}
	if p.Line > 0 {
		out.Line = &p.Line
	}
	return out
}

// Reason is the gateway's summary without what was printed and what was cut.
func Reason(ans gateway.Answer) string {
	ans.Stderr, ans.Result.Notes = nil, nil
	ans.Result.StdoutOmitted, ans.Result.StderrOmitted = 0, 0
	return ans.Summary()
}

// ViolationsOf lists the places where a program breaks a rule; it is never nil.
func ViolationsOf(ans gateway.Answer) []gateway.Violation {
	if ans.Decision == nil {
		return []gateway.Violation{}
	}
	return append([]gateway.Violation{}, ans.Decision.Violations...)
}

func usageOf(u executor.Usage) Usage {
	return Usage{WallMS: millis(u.Wall), CPUMS: millis(u.CPU), PeakMemory: u.MaxRSSBytes}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func limitsOf(ans gateway.Answer) Limits {
	l := ans.Limits
	return Limits{
		Wall: l.Wall.Seconds(), CPU: l.CPU.Seconds(), Memory: l.MemoryBytes, Output: l.OutputCeilingBytes,
		Stdout: l.StdoutBytes, Stderr: l.StderrBytes, Fired: orNull(ans.Result.LimitFired),
	}
}

// PolicyOf names the rules behind a decision; nil when there is none.
func PolicyOf(d *gateway.Decision) *Policy {
	if d == nil {
		return nil
	}
	return &Policy{Revision: d.Revision, Profile: d.Profile, DecisionID: d.ID}
}

// figureFault says why an artifact is no figure that we hand on. The bound is
// the run's own, whatever the plugin made of it; 0: none.
func figureFault(data []byte, bound uint64) string {
	switch v := jsontext.Value(data); {
	case bound > 0 && uint64(len(data)) > bound:
		return fmt.Sprintf("the figure was left out: it has %d bytes, at most %s are handed on", len(data), gateway.Bytes(bound))
	case !v.IsValid() || v.Kind() != '{':
		return "the figure was left out: it is not a JSON object"
	}
	return ""
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
