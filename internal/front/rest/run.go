package rest

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

type runRequest struct {
	Tool    *string    `json:"tool"`
	Code    *string    `json:"code"`
	Session *string    `json:"session_id"`
	Wait    *float64   `json:"wait"`
	Stdin   *string    `json:"stdin"`
	Limits  *runLimits `json:"limits"`
}

type runLimits struct {
	Wall   *float64 `json:"wall_seconds"`
	CPU    *float64 `json:"cpu_seconds"`
	Memory *uint64  `json:"memory_bytes"`
	Output *uint64  `json:"output_bytes"`

	Unknown jsontext.Value `json:",embed"`
}

// What memory may be asked for: below the least not even a program that does
// nothing ends well, and nobody means what is above the most.
const (
	leastMemory = 16 << 20
	mostMemory  = 1 << 40
)

type runAnswer struct {
	Status     gateway.Status      `json:"status"`
	Value      *string             `json:"value"`
	Stdout     string              `json:"stdout"`
	Stderr     string              `json:"stderr"`
	Truncated  truncated           `json:"truncated"`
	Error      *runError           `json:"error"`
	Notes      []string            `json:"notes"`
	Figures    []jsontext.Value    `json:"figures"`
	Violations []gateway.Violation `json:"violations"`
	Usage      usage               `json:"usage"`
	Limits     limits              `json:"limits"`
	Isolation  []string            `json:"isolation"`
	Policy     *policy             `json:"policy"`
	Plugin     plugin              `json:"plugin"`
	Session    *runSession         `json:"session"`
}

// runSession is the session that a cell ran in, and what became of it.
type runSession struct {
	ID    string `json:"session_id"`
	State string `json:"state"`
}

// truncated counts the bytes that were left out of each stream.
type truncated struct {
	Stdout uint64 `json:"stdout"`
	Stderr uint64 `json:"stderr"`
}

type runError struct {
	Type      string  `json:"type"`
	Message   string  `json:"message"`
	Line      *uint32 `json:"line"`
	Traceback *string `json:"traceback"`
}

type usage struct {
	WallMS     float64 `json:"wall_ms"`
	CPUMS      float64 `json:"cpu_ms"`
	PeakMemory uint64  `json:"peak_memory_bytes"`
}

type limits struct {
	Wall   float64 `json:"wall_seconds"`
	CPU    float64 `json:"cpu_seconds"`
	Memory uint64  `json:"memory_bytes"`
	Output uint64  `json:"output_bytes"`
	Stdout uint64  `json:"stdout_bytes"`
	Stderr uint64  `json:"stderr_bytes"`
	Fired  *string `json:"fired"`
}

type policy struct {
	Revision   string `json:"revision"`
	Profile    string `json:"profile"`
	DecisionID string `json:"decision_id,omitzero"`
}

type plugin struct {
	Name            string `json:"name"`
	Version         string `json:"version"`
	LanguageVersion string `json:"language_version"`
}

func (s *server) run(x *exchange) error {
	var body runRequest
	if err := x.decode(&body); err != nil {
		return err
	}
	req, err := x.runRequest(body)
	if err != nil {
		return err
	}
	if prefers(x.r.Header.Values("Accept"), "application/json", eventStream) == eventStream {
		return s.streamRun(x, req)
	}
	ans, err := x.solve(req)
	if err != nil {
		return err
	}
	x.json(http.StatusOK, fullAnswer(ans))
	return nil
}

func (x *exchange) runRequest(body runRequest) (gateway.Request, error) {
	code, err := text("code", body.Code)
	if err != nil {
		return gateway.Request{}, err
	}
	inSession, err := cell(body.Session, body.Wait)
	if err != nil {
		return gateway.Request{}, err
	}
	req := x.request(gateway.RouteRun, orPython(body.Tool), code)
	if body.Session != nil {
		req.Cell = inSession
	}
	req.ValueWanted = true
	if body.Stdin != nil {
		req.Stdin = []byte(*body.Stdin)
	}
	if body.Limits != nil {
		req.Asked, err = body.Limits.asked()
	}
	return req, err
}

func orPython(tool *string) string {
	if tool == nil {
		return python
	}
	return toolName(*tool)
}

func (l runLimits) asked() (asked executor.Limits, err error) {
	if name := firstMember(l.Unknown); name != "" {
		return asked, invalid("limits."+name, "there is no such limit; known are wall_seconds, cpu_seconds, memory_bytes and output_bytes")
	}
	if asked.Wall, err = seconds("limits.wall_seconds", l.Wall); err != nil {
		return asked, err
	}
	if asked.CPU, err = seconds("limits.cpu_seconds", l.CPU); err != nil {
		return asked, err
	}
	if asked.MemoryBytes, err = count("limits.memory_bytes", l.Memory); err != nil {
		return asked, err
	}
	if asked.MemoryBytes != 0 && (asked.MemoryBytes < leastMemory || asked.MemoryBytes > mostMemory) {
		return asked, invalid("limits.memory_bytes", "must be from 16777216 (16 MiB) to 1099511627776 (1 TiB)")
	}
	asked.OutputCeilingBytes, err = count("limits.output_bytes", l.Output)
	return asked, err
}

// longestName bounds what of a caller's key is shown again.
const longestName = 64

// firstMember is the name of the first member of an object, cut to what may be
// shown; empty: there is none.
func firstMember(object jsontext.Value) string {
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if start, err := dec.ReadToken(); err != nil || start.Kind() != '{' {
		return ""
	}
	name, err := dec.ReadToken()
	if err != nil || name.Kind() != '"' {
		return ""
	}
	text := strings.ToValidUTF8(name.String(), "")
	if len(text) > longestName {
		text = strings.ToValidUTF8(text[:longestName], "") + "…"
	}
	return text
}

func fullAnswer(ans gateway.Answer) runAnswer {
	figures, notes := figuresOf(ans)
	out := runAnswer{
		Status: ans.Status, Stdout: ans.StdoutText(), Stderr: ans.StderrText(),
		Truncated: truncated{Stdout: ans.Result.StdoutOmitted, Stderr: ans.Result.StderrOmitted},
		Error:     errorOf(ans), Notes: append(append([]string{}, ans.Result.Notes...), notes...),
		Figures: figures, Violations: violationsOf(ans), Usage: usageOf(ans.Result.Usage), Limits: limitsOf(ans),
		Isolation: append([]string{}, ans.Result.Walls...), Policy: policyOf(ans.Decision),
		Plugin: plugin{Name: ans.Plugin.Name, Version: ans.Plugin.Version, LanguageVersion: ans.Plugin.LanguageVersion},
	}
	if ans.Session != "" {
		out.Session = &runSession{ID: ans.Session, State: ans.Result.SessionState}
	}
	if ans.Result.HasValue {
		out.Value = &ans.Result.Value
	}
	return out
}

// figuresOf takes the figures out of a run's products, and says what was left
// out.
func figuresOf(ans gateway.Answer) (figures []jsontext.Value, notes []string) {
	figures = []jsontext.Value{}
	for _, a := range ans.Result.Artifacts {
		if a.MediaType != figureType {
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
func errorOf(ans gateway.Answer) *runError {
	if ans.Status == gateway.Completed || ans.Status == gateway.Rejected {
		return nil
	}
	p := ans.Result.Problem
	if p == nil {
		return &runError{Type: string(ans.Status), Message: reason(ans)}
	}
	out := &runError{Type: p.Type, Message: p.Message, Traceback: orNull(p.Trace)}
	if p.Line > 0 {
		out.Line = &p.Line
	}
	return out
}

// reason is the gateway's summary without what was printed and what was cut.
func reason(ans gateway.Answer) string {
	ans.Stderr, ans.Result.Notes = nil, nil
	ans.Result.StdoutOmitted, ans.Result.StderrOmitted = 0, 0
	return ans.Summary()
}

func violationsOf(ans gateway.Answer) []gateway.Violation {
	if ans.Decision == nil {
		return []gateway.Violation{}
	}
	return append([]gateway.Violation{}, ans.Decision.Violations...)
}

func usageOf(u executor.Usage) usage {
	return usage{WallMS: millis(u.Wall), CPUMS: millis(u.CPU), PeakMemory: u.MaxRSSBytes}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func limitsOf(ans gateway.Answer) limits {
	l := ans.Limits
	return limits{
		Wall: l.Wall.Seconds(), CPU: l.CPU.Seconds(), Memory: l.MemoryBytes, Output: l.OutputCeilingBytes,
		Stdout: l.StdoutBytes, Stderr: l.StderrBytes, Fired: orNull(ans.Result.LimitFired),
	}
}

func policyOf(d *gateway.Decision) *policy {
	if d == nil {
		return nil
	}
	return &policy{Revision: d.Revision, Profile: d.Profile, DecisionID: d.ID}
}
