package audit

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// maxPlaces bounds the rules in a line; line.More counts the rest.
const maxPlaces = 100

// maxNameBytes bounds names that come from callers.
const maxNameBytes = 128

// line is one line of the journal. Times are milliseconds.
type line struct {
	Time        string  `json:"time"` // RFC 3339, UTC
	RequestID   string  `json:"request_id"`
	Traceparent string  `json:"traceparent,omitempty"`
	Caller      string  `json:"caller"`
	Route       string  `json:"route"`
	Tool        string  `json:"tool"`
	Plugin      string  `json:"plugin,omitempty"`
	Profile     string  `json:"profile,omitempty"`
	Revision    string  `json:"policy_revision,omitempty"`
	DecisionID  string  `json:"decision_id,omitempty"`
	CodeSHA256  string  `json:"code_sha256"`
	CodeBytes   int     `json:"code_bytes"`
	Verdict     string  `json:"verdict"` // allow, deny, none
	Places      []place `json:"rules"`
	More        int     `json:"rules_more,omitempty"`
	Session     string  `json:"session,omitempty"` // short digest of the session's id
	State       string  `json:"session_state,omitempty"`
	Status      string  `json:"status,omitempty"`
	Fault       string  `json:"fault,omitempty"`
	Stages      stages  `json:"stages_ms"`
	Usage       usage   `json:"usage"`
	Code        *string `json:"code,omitempty"`
}

type place struct {
	Rule   string `json:"rule"`
	Level  string `json:"level"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	More   int    `json:"more,omitempty"`
}

type stages struct {
	Wait  float64 `json:"wait"`
	Parse float64 `json:"parse"`
	Judge float64 `json:"judge"`
	Run   float64 `json:"run"`
}

type usage struct {
	WallMS     float64 `json:"wall_ms"`
	CPUMS      float64 `json:"cpu_ms"`
	PeakMemory uint64  `json:"peak_memory_bytes"`
}

// encode makes the line of an entry, its newline included.
func encode(e gateway.Entry, mask func(string) string) ([]byte, error) {
	l := line{
		Time: e.Time.UTC().Format(time.RFC3339Nano), RequestID: clip(e.RequestID), Traceparent: clip(e.Traceparent),
		Caller: clip(e.Caller), Route: string(e.Route), Tool: clip(e.Tool), Plugin: e.Plugin,
		CodeSHA256: hex.EncodeToString(e.CodeSHA256[:]), CodeBytes: e.CodeBytes, Verdict: "none", Places: []place{},
		Session: e.Session, State: e.State, Status: string(e.Status), Fault: e.Fault,
		Stages: stages{Wait: ms(e.Stages.Wait), Parse: ms(e.Stages.Parse), Judge: ms(e.Stages.Judge), Run: ms(e.Stages.Run)},
		Usage:  usage{WallMS: ms(e.Usage.Wall), CPUMS: ms(e.Usage.CPU), PeakMemory: e.Usage.MaxRSSBytes},
	}
	l.judged(e.Decision)
	if e.Code != nil {
		text := mask(string(e.Code))
		l.Code = &text
	}
	raw, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return append(raw, '\n'), nil
}

func (l *line) judged(d *gateway.Decision) {
	if d == nil {
		return
	}
	l.Verdict, l.Profile, l.Revision, l.DecisionID = "deny", clip(d.Profile), clip(d.Revision), clip(d.ID)
	if d.Allow {
		l.Verdict = "allow"
	}
	for i, v := range d.Violations {
		if i == maxPlaces {
			l.More = len(d.Violations) - maxPlaces
			break
		}
		l.Places = append(l.Places, place{Rule: v.Rule, Level: v.Level, Line: v.Line, Column: v.Column, More: v.More})
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func clip(name string) string {
	if len(name) > maxNameBytes {
		return strings.ToValidUTF8(name[:maxNameBytes], "") + "…"
	}
	return name
}
