package rest

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

type solveRequest struct {
	Code    *string  `json:"code"`
	Timeout *float64 `json:"timeout"`
}

// Solution has exactly the six keys of POST /solve.
type Solution struct {
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
	x.json(http.StatusOK, SolutionOf(ans))
	return nil
}

// SolutionOf renders an answer as POST /solve does; the last figure is the one.
func SolutionOf(ans gateway.Answer) Solution {
	figures, notes := toolcall.Figures(ans)
	ans.Result.Notes = append(ans.Result.Notes, notes...)
	out := Solution{
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
