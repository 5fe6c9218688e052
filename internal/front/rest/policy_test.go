package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Show makes the policy of the tests one that tells what it lets pass.
func (p *rules) Show(_ context.Context, profile string) (gateway.ProfileView, error) {
	if p.err != nil {
		return gateway.ProfileView{}, p.err
	}
	return gateway.ProfileView{Name: profile, Description: "of " + profile, Limits: map[string]float64{"wall_seconds": 5}, Languages: []gateway.LanguageView{
		{ID: "calc", Rules: []gateway.RuleView{}},
		{ID: "nobody-runs-it"},
		{ID: "python", Rules: []gateway.RuleView{{ID: "blocked-name", Title: "A name", Level: "error", Hint: "another"}}, Modules: []string{"math", "numpy.linalg"}},
	}}, nil
}

// Libraries makes the tools of the tests stocked.
func (t *target) Libraries() []executor.Library {
	return []executor.Library{{Name: "numpy", Version: "2.1", Roots: []string{"numpy"}}}
}

func getPolicy(l *lab, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/v1/policy", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, r)
	return w
}

func TestPolicyIsShownToWhomItHolds(t *testing.T) {
	l := newLab(t)
	w := getPolicy(l, token)
	want := `{"revision":"r1","profiles":[{"name":"solve","description":"of solve","routes":["/solve","/v1/run","/v1/check"],"limits":{"wall_seconds":5},` +
		`"languages":[{"language":"calc","version":"","rules":[]},{"language":"python","version":"","rules":[{"rule":"blocked-name","level":"error",` +
		`"title":"A name","hint":"another"}],"modules":[{"name":"math","version":null},{"name":"numpy.linalg","version":"2.1"}]}]},{"name":"tool",`
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), want) || !json.Valid(w.Body.Bytes()) {
		t.Errorf("answered %d\n%s\nwant\n%s", w.Code, w.Body, want)
	}
	if w := getPolicy(l, solveOnly); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "policy:read") {
		t.Errorf("a token without the scope: %d %s", w.Code, w.Body)
	}
	if w := getPolicy(l, wrongToken); w.Code != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", w.Code)
	}
	l.policy.currentErr = gateway.ErrNoPolicy
	if w := getPolicy(l, token); w.Code != http.StatusServiceUnavailable {
		t.Errorf("no policy in force: %d", w.Code)
	}
}
