package rest

import (
	"net/http"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

type checkRequest struct {
	Code    *string `json:"code"`
	Tool    *string `json:"tool"`
	Profile *string `json:"profile"`
}

type checkAnswer struct {
	Allow      bool                `json:"allow"`
	Violations []gateway.Violation `json:"violations"`
	Policy     *toolcall.Policy    `json:"policy"` // null: the text does not parse and was not judged
}

func (s *server) check(x *exchange) error {
	var body checkRequest
	if err := x.decode(&body); err != nil {
		return err
	}
	code, err := text("code", body.Code)
	if err != nil {
		return err
	}
	req := x.request(gateway.RouteRun, orPython(body.Tool), code)
	if body.Profile != nil {
		if *body.Profile == "" {
			return invalid("profile", "must not be empty")
		}
		req.Profile = *body.Profile
	}
	ans, err := s.cfg.Gateway.Check(x.r.Context(), req)
	if err != nil {
		return noTool(err)
	}
	x.json(http.StatusOK, decisionOf(ans))
	return nil
}

func decisionOf(ans gateway.Answer) checkAnswer {
	if ans.Decision == nil {
		return checkAnswer{Violations: []gateway.Violation{syntaxViolation(ans)}}
	}
	p := toolcall.PolicyOf(ans.Decision)
	p.DecisionID = ""
	return checkAnswer{Allow: ans.Decision.Allow, Violations: toolcall.ViolationsOf(ans), Policy: p}
}

// syntaxViolation tells a text that does not parse in the form of a violation.
func syntaxViolation(ans gateway.Answer) gateway.Violation {
	v := gateway.Violation{Rule: "syntax", Level: gateway.LevelError, Message: toolcall.Reason(ans), Line: 1, Column: 1}
	if p := ans.Result.Problem; p != nil {
		v.Message = p.Type + ": " + p.Message
		v.Line, v.Column = max(1, int(p.Line)), max(1, int(p.Column))
	}
	v.EndLine, v.EndColumn = v.Line, v.Column
	return v
}
