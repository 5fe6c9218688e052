package rest_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Every way in which a token may be sent, on every route, with every kind of
// end: no token and no program text may be seen in the log, the journal or an
// answer's head or error.
func TestNoTokenAndNoProgramIsWrittenDown(t *testing.T) {
	const program = "marker-of-a-program-8d1"
	l := newLab(t)
	ends := map[string]behaviour{
		"ok": l.python.submit,
		"dies": func(context.Context, executor.Source) (gateway.Submission, error) {
			return nil, fmt.Errorf("lost: %w", gateway.ErrPluginDied)
		},
		"faults": func(context.Context, executor.Source) (gateway.Submission, error) { return nil, gateway.ErrPluginFault },
		"panics": func(context.Context, executor.Source) (gateway.Submission, error) { panic("boom") },
		"does not parse": func(context.Context, executor.Source) (gateway.Submission, error) {
			return &submission{ended: &executor.Result{Status: executor.StatusCompileError, Problem: &executor.Problem{Type: "E", Message: program}}}, nil
		},
	}
	paths := map[string]string{
		"/solve": "POST", "/v1/run": "POST", "/v1/check": "POST", "/v1/tools": "GET", "/v1/tools/call": "POST", "/v1/sessions": "POST",
		"/openapi.json": "GET", "/": "GET", "/readyz": "GET", "/nosuch": "POST", "//x": "GET",
	}
	bodies := []string{
		`{"code":"` + program + ` forbidden","name":"calc","arguments":{"code":"` + program + `"}}`,
		`{"code":"` + program + `","name":"calc","arguments":{"code":"` + program + ` forbidden"}}`,
		`{"code":"` + program, `{"code":7,"` + program + `":1}`, `{"` + program + `":1,"` + program + `":2}`,
	}
	for name, end := range ends {
		l.python.submit, l.calc.submit = end, end
		for path, method := range paths {
			for _, sent := range []string{token, solveOnly, slowToken, wrongToken} {
				for i, header := range credentials(sent) {
					answer := l.do(call{method: method, path: path + "?token=" + sent, body: bodies[i%len(bodies)], header: header})
					where := fmt.Sprintf("%s %s, %s, header %v", method, path, name, header)
					if answer.Code >= 400 {
						unseen(t, where, answer.Body.String(), program)
					}
					unseen(t, where, fmt.Sprint(answer.Body.String(), answer.Header()), sent)
				}
			}
			l.do(call{method: method, path: strings.TrimSuffix(path, "/") + "/" + token})
		}
	}
	l.close()
	for _, secret := range []string{token, solveOnly, slowToken, wrongToken, program, base64.StdEncoding.EncodeToString([]byte("u:" + token))} {
		unseen(t, "the log", l.log.String(), secret)
		unseen(t, "the journal", l.journal.String(), secret)
	}
	if strings.Count(l.journal.String(), "\n") < 20 {
		t.Errorf("the journal has few lines: %s", l.journal)
	}
}

func credentials(token string) []map[string]string {
	basic := base64.StdEncoding.EncodeToString([]byte("u:" + token))
	return []map[string]string{
		{"Authorization": "Bearer " + token},
		{"Authorization": "Basic " + basic},
		{"X-Api-Key": token},
		{"X-Api-Key": token, "Authorization": "Bearer other"},
		{"Cookie": "t=" + token, "Referer": "http://x/?t=" + token, "User-Agent": token},
	}
}

func unseen(t *testing.T, where, text, secret string) {
	t.Helper()
	if at := strings.Index(text, secret); at >= 0 {
		t.Fatalf("%s shows %q: …%s", where, secret, text[max(0, at-200):at+len(secret)])
	}
}

func TestOneLogLinePerRequest(t *testing.T) {
	l := newLab(t)
	w := l.do(call{path: "/solve", token: token, body: `{"code":"x"}`})
	line := l.logLine("request")
	if line["request_id"] != w.Header().Get("X-Request-Id") || line["status"] != float64(http.StatusOK) || line["caller"] != "all" ||
		line["route"] != "/solve" || line["method"] != "POST" {
		t.Errorf("got %v", line)
	}
	l = newLab(t)
	l.do(call{method: "EVIL", path: "/solve"})
	if line := l.logLine("request"); line["method"] != "other" || line["status"] != float64(http.StatusMethodNotAllowed) {
		t.Errorf("got %v", line)
	}
}
