package audit

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Event is one line of the decision log, in the shape of OPA's decision log:
// tools that read those read this. What OPA has no member for stands in Custom.
type Event struct {
	Labels      map[string]string `json:"labels"`
	DecisionID  string            `json:"decision_id"` // empty: there was no decision
	TraceID     string            `json:"trace_id,omitempty"`
	SpanID      string            `json:"span_id,omitempty"`
	Bundles     map[string]Bundle `json:"bundles,omitempty"` // "policy": the policy that decided
	Path        string            `json:"path,omitempty"`    // of the decision in the policy
	Input       *Input            `json:"input,omitempty"`
	Result      *Result           `json:"result,omitempty"` // nil: there was no decision
	Erased      []string          `json:"erased,omitempty"` // what the policy's mask took out
	Masked      []string          `json:"masked,omitempty"` // what it replaced
	RequestedBy string            `json:"requested_by"`
	Timestamp   time.Time         `json:"timestamp"` // UTC
	Metrics     Metrics           `json:"metrics"`
	Custom      Custom            `json:"custom"`

	line []byte // as it was read
}

// Line is the event as a line of JSON, without the newline: as it was read, with
// members that this package does not know.
func (e *Event) Line() ([]byte, error) {
	if e.line != nil {
		return e.line, nil
	}
	return json.Marshal(e)
}

// Bundle names a policy.
type Bundle struct {
	Revision string `json:"revision,omitempty"`
}

// Input is what the policy was asked about. The syntax tree is not in it: it
// follows from the text.
type Input struct {
	Language string `json:"language,omitempty"`
	Tool     string `json:"tool"`
	Profile  string `json:"profile,omitempty"`
	Caller   string `json:"caller"`
	Session  bool   `json:"session"`
	Code     Code   `json:"code"`
}

// Code is a program by its digest; its text when the operator asked for that.
type Code struct {
	SHA256 string  `json:"sha256"`
	Bytes  int     `json:"bytes"`
	Text   *string `json:"text,omitempty"`
}

// Result is a decision.
type Result struct {
	Allow      bool        `json:"allow"`
	Violations []Violation `json:"violations"`
	More       int         `json:"more,omitempty"` // violations that were cut
}

// Violation is one place at which a rule was broken; lines and columns from 1.
// Message, Hint and Subject quote the program, and stand here where its text
// does.
type Violation struct {
	Rule      string `json:"rule"`
	Level     string `json:"level"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
	Title     string `json:"title,omitempty"`
	URL       string `json:"url,omitempty"`
	More      int    `json:"more,omitempty"` // further places of the same kind that were cut
	Message   string `json:"message,omitempty"`
	Hint      string `json:"hint,omitempty"`
	Subject   string `json:"subject,omitempty"`
}

// Metrics is the time of each stage, named as OPA names timers, and what the
// run took.
type Metrics struct {
	Wait       int64  `json:"timer_wait_ns"`
	Parse      int64  `json:"timer_parse_ns"`
	Judge      int64  `json:"timer_rego_query_eval_ns"`
	Run        int64  `json:"timer_run_ns"`
	Wall       int64  `json:"timer_usage_wall_ns"`
	CPU        int64  `json:"timer_usage_cpu_ns"`
	PeakMemory uint64 `json:"counter_peak_memory_bytes"`
}

// Custom is what is the gateway's own.
type Custom struct {
	RequestID string  `json:"request_id"`
	Route     string  `json:"route"`
	Plugin    string  `json:"plugin,omitempty"`
	Status    string  `json:"status,omitempty"`        // of the answer; empty: it ended in Fault
	Fault     string  `json:"fault,omitempty"`         // class of the error
	Session   string  `json:"session,omitempty"`       // short digest of the session's id
	State     string  `json:"session_state,omitempty"` // what became of it
	Shadow    *Shadow `json:"shadow,omitempty"`        // nil: none was asked
}

// Shadow is what a profile that is not in force says of the program. It quotes
// nothing of it.
type Shadow struct {
	Profile    string      `json:"profile"`
	Outcome    string      `json:"outcome"` // same, newly_refused, newly_allowed, changed_reasons or undecided
	Allow      bool        `json:"allow"`
	Violations []Violation `json:"violations"`
	More       int         `json:"more,omitempty"`  // violations that were cut
	Fault      string      `json:"fault,omitempty"` // class of the error: undecided
}

func shadowOf(s *gateway.Shadow, inForce *gateway.Decision) *Shadow {
	if s == nil || inForce == nil {
		return nil
	}
	shadow := &Shadow{Profile: clip(s.Profile, maxNameBytes), Outcome: s.Outcome(*inForce), Violations: []Violation{}, Fault: s.Fault}
	if s.Decision != nil {
		result := resultOf(*s.Decision, false)
		shadow.Allow, shadow.Violations, shadow.More = result.Allow, result.Violations, result.More
	}
	return shadow
}

// Verdict is "allow" or "deny", and "none" where there was no decision.
func (e *Event) Verdict() string {
	switch {
	case e.Result == nil:
		return "none"
	case e.Result.Allow:
		return "allow"
	}
	return "deny"
}

// Revision names the policy that decided.
func (e *Event) Revision() string { return e.Bundles[policyBundle].Revision }

const (
	policyBundle = "policy"
	decisionPath = "gateway/decision"
)

// maxPlaces bounds the violations in a line; Result.More counts the rest.
const maxPlaces = 100

// Bounds of texts in a line: names may come from callers, messages quote
// programs.
const (
	maxNameBytes    = 128
	maxMessageBytes = 512
)

// eventOf is the line of an entry.
func eventOf(e gateway.Entry, labels map[string]string) Event {
	event := Event{
		Labels: labels, RequestedBy: clip(e.Caller, maxNameBytes), Timestamp: e.Time.UTC(),
		Input: &Input{
			Language: e.Language, Tool: clip(e.Tool, maxNameBytes), Caller: clip(e.Caller, maxNameBytes), Session: e.Session != "",
			Code: Code{SHA256: hex.EncodeToString(e.CodeSHA256[:]), Bytes: e.CodeBytes},
		},
		Metrics: Metrics{
			Wait: int64(e.Stages.Wait), Parse: int64(e.Stages.Parse), Judge: int64(e.Stages.Judge), Run: int64(e.Stages.Run),
			Wall: int64(e.Usage.Wall), CPU: int64(e.Usage.CPU), PeakMemory: e.Usage.MaxRSSBytes,
		},
		Custom: Custom{
			RequestID: clip(e.RequestID, maxNameBytes), Route: string(e.Route), Plugin: e.Plugin, Status: string(e.Status), Fault: e.Fault,
			Session: e.Session, State: e.State, Shadow: shadowOf(e.Shadow, e.Decision),
		},
	}
	event.TraceID, event.SpanID = trace(e.Traceparent)
	if e.Code != nil {
		text := string(e.Code)
		event.Input.Code.Text = &text
	}
	event.judged(e.Decision, e.Code != nil)
	return event
}

// trace takes a W3C traceparent apart; what is none gives nothing.
func trace(parent string) (traceID, spanID string) {
	parts := strings.Split(parent, "-")
	if len(parts) < 4 || len(parts[1]) != 32 || len(parts[2]) != 16 {
		return "", ""
	}
	return parts[1], parts[2]
}

func (e *Event) judged(d *gateway.Decision, quoted bool) {
	if d == nil {
		return
	}
	e.DecisionID, e.Path, e.Input.Profile = clip(d.ID, maxNameBytes), decisionPath, clip(d.Profile, maxNameBytes)
	e.Bundles = map[string]Bundle{policyBundle: {Revision: clip(d.Revision, maxNameBytes)}}
	result := resultOf(*d, quoted)
	e.Result = &result
}

// resultOf is a decision in a line; quoted: with what quotes the program.
func resultOf(d gateway.Decision, quoted bool) Result {
	result := Result{Allow: d.Allow, Violations: []Violation{}, More: max(0, len(d.Violations)-maxPlaces)}
	for _, v := range d.Violations[:len(d.Violations)-result.More] {
		violation := Violation{
			Rule: v.Rule, Level: v.Level, Line: v.Line, Column: v.Column, EndLine: v.EndLine, EndColumn: v.EndColumn,
			Title: clip(v.Title, maxMessageBytes), URL: clip(v.URL, maxMessageBytes), More: v.More,
		}
		if quoted {
			violation.Message, violation.Hint = clip(v.Message, maxMessageBytes), clip(v.Hint, maxMessageBytes)
			violation.Subject = clip(v.Subject, maxMessageBytes)
		}
		result.Violations = append(result.Violations, violation)
	}
	return result
}

func clip(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
