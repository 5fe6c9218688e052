package rest

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/front/toolcall"
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
		return noTool(s.streamRun(x, req))
	}
	ans, err := x.solve(req)
	if err != nil {
		return noTool(err)
	}
	x.json(http.StatusOK, toolcall.FullAnswer(ans))
	return nil
}

// noTool says which key of the request names a tool, where there is none of that
// name: a request for another language that leaves it out is for Python.
func noTool(err error) error {
	if errors.Is(err, gateway.ErrUnknownTool) {
		return refusal{status: http.StatusNotFound, detail: `no such tool: "tool" is a name of GET /v1/tools or a language, and python where it is left out`}
	}
	return err
}

func (x *exchange) runRequest(body runRequest) (gateway.Request, error) {
	code, err := text("code", body.Code)
	if err != nil {
		return gateway.Request{}, err
	}
	inSession, err := toolcall.CellOf(body.Session, body.Wait)
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
	return toolcall.Name(*tool)
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
