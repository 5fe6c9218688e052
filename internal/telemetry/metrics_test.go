package telemetry_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/telemetry"
)

func state() telemetry.State {
	return telemetry.State{
		Policy:        telemetry.Policy{Revision: "1.2-abc", Pins: "one@0123456789ab", LoadedAt: time.Unix(1700000000, 0), Good: true, Loads: 3, FailedLoads: 1},
		Queue:         telemetry.Queue{Running: 1, Slots: 2, Waiting: 3, Limit: 64},
		Sessions:      telemetry.Sessions{Open: 4, Limit: 64},
		ShadowsMissed: 7,
		Plugins:       []telemetry.Plugin{{Name: "python", Version: "1.0.0", State: "healthy", Inflight: 1}},
	}
}

func read(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("/metrics answered %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func busy() *telemetry.Metrics {
	m := telemetry.New(telemetry.Config{Version: "0.1.0", Build: "abc", State: state})
	m.Request("POST", "/solve", 200, 20*time.Millisecond)
	m.Request("GET", "", 404, time.Millisecond)
	m.Record(gateway.Entry{
		Route: gateway.RouteSolve, Tool: "python", Plugin: "python", Status: gateway.Rejected, Stages: gateway.Stages{Parse: time.Millisecond},
		Decision: &gateway.Decision{Profile: "solve", Violations: []gateway.Violation{{Rule: "blocked-call", Level: "error", Subject: "eval"}}},
		Shadow:   &gateway.Shadow{Profile: "next", Decision: &gateway.Decision{Allow: true}},
	})
	m.Record(gateway.Entry{Route: gateway.RouteRun, Tool: "what a caller wrote", Fault: "unknown_tool", Code: []byte("print('program text')")})
	return m
}

func TestMetricsPassPromlint(t *testing.T) {
	problems, err := promlint.New(strings.NewReader(read(t, busy()))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if !strings.HasPrefix(p.Metric, "go_") { // the collector of the library
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestMetricsTellWhatWasDone(t *testing.T) {
	text := read(t, busy())
	for _, want := range []string{
		`gateway_build_info{build="abc",pins="one@0123456789ab",policy_revision="1.2-abc",version="0.1.0"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_code="200",http_route="/solve"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_code="404",http_route="none"} 1`,
		`gateway_submissions_total{plugin="python",route="solve",status="rejected"} 1`,
		`gateway_submissions_total{plugin="none",route="run",status="unknown_tool"} 1`,
		`gateway_decisions_total{profile="solve",verdict="deny"} 1`,
		`gateway_violations_total{level="error",rule="blocked-call"} 1`,
		`gateway_shadow_decisions_total{outcome="newly_allowed",profile="next"} 1`, `gateway_shadow_missed_total 7`,
		`gateway_stage_duration_seconds_count{stage="parse"} 1`,
		`gateway_policy_loads_total{result="good"} 3`, `gateway_policy_loads_total{result="failed"} 1`,
		`gateway_queue_waiting 3`, `gateway_sessions_open 4`, `gateway_slots 2`,
		`gateway_plugin_state{instance="0",plugin="python",state="healthy",version="1.0.0"} 1`,
		`gateway_plugin_state{instance="0",plugin="python",state="backoff",version="1.0.0"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	for _, secret := range []string{"what a caller wrote", "program text", "eval"} {
		if strings.Contains(text, secret) {
			t.Errorf("the metrics hold %q", secret)
		}
	}
}

// Ever new names of rules and profiles, as ever new policies would bring, end
// in one label.
func TestLabelsAreBounded(t *testing.T) {
	m := telemetry.New(telemetry.Config{State: state})
	for i := range 1000 {
		m.Record(gateway.Entry{Route: gateway.RouteSolve, Decision: &gateway.Decision{
			Profile: fmt.Sprintf("profile-%d", i), Violations: []gateway.Violation{{Rule: fmt.Sprintf("rule-%d", i), Level: "error"}},
		}})
	}
	text := read(t, m)
	for name, series := range map[string]*regexp.Regexp{
		"rules": regexp.MustCompile(`(?m)^gateway_violations_total\{`), "profiles": regexp.MustCompile(`(?m)^gateway_decisions_total\{`),
	} {
		if n := len(series.FindAllString(text, -1)); n != 257 {
			t.Errorf("%s: %d series, want 256 and the one for the others", name, n)
		}
	}
	if !strings.Contains(text, `gateway_violations_total{level="error",rule="other"} 744`) {
		t.Error("the rules beyond the bound are not counted as other")
	}
}
