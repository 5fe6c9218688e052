package rest

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

type solveRequest struct {
	Code    *string  `json:"code"`
	Timeout *float64 `json:"timeout"`
}

// solveAnswer has exactly the six keys of the contract.
type solveAnswer struct {
	Passed   bool           `json:"passed"`
	Status   gateway.Status `json:"status"`
	TimedOut bool           `json:"timed_out"`
	Stdout   string         `json:"stdout"`
	Summary  *string        `json:"stderr_summary"`
	Figure   jsontext.Value `json:"plotly_json"`
}

// python is the language of a route that names no tool.
const python = "python"

func (s *server) solve(x *exchange) error {
	var body solveRequest
	if err := x.decode(&body); err != nil {
		return err
	}
	code, err := text("code", body.Code)
	if err != nil {
		return err
	}
	req := x.request(gateway.RouteSolve, python, code)
	if req.Asked.Wall, err = seconds("timeout", body.Timeout); err != nil {
		return err
	}
	ans, err := x.solve(req)
	if err != nil {
		return err
	}
	x.json(http.StatusOK, sixKeys(ans))
	return nil
}

func sixKeys(ans gateway.Answer) solveAnswer {
	figures, notes := figuresOf(ans.Result.Artifacts)
	ans.Result.Notes = append(ans.Result.Notes, notes...)
	out := solveAnswer{
		Passed: ans.Status == gateway.Completed, Status: ans.Status, TimedOut: ans.Status == gateway.TimedOut,
		Stdout: ans.StdoutText(), Summary: orNull(ans.Summary()),
	}
	if len(figures) > 0 {
		out.Figure = figures[len(figures)-1]
	}
	return out
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// figureBytes bounds a figure on the wire, whatever the plugin's own bound is.
const figureBytes = 512 << 10

const figureType = "application/vnd.plotly.v1+json"

// figureFault says why an artifact is no figure that we hand on.
func figureFault(data []byte) string {
	switch v := jsontext.Value(data); {
	case len(data) > figureBytes:
		return fmt.Sprintf("the figure was left out: it has %d bytes, at most %s are handed on", len(data), gateway.Bytes(figureBytes))
	case !v.IsValid() || v.Kind() != '{':
		return "the figure was left out: it is not a JSON object"
	}
	return ""
}
