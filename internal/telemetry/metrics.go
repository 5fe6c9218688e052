package telemetry

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// maxNames bounds the different values of a label that the policy names: after
// that many reloads with ever new names, the rest is counted as "other".
const maxNames = 256

// maxScrapes bounds how many read the metrics at once; one more is 503.
const maxScrapes = 4

// Config is what Metrics are made of. All must be set.
type Config struct {
	Version string
	Build   string
	// State is asked at every reading, from several goroutines at once.
	State func() State
}

// Metrics counts, and answers those who read. Safe for concurrent use.
type Metrics struct {
	registry    *prometheus.Registry
	requests    *prometheus.HistogramVec
	submissions *prometheus.CounterVec
	stages      *prometheus.HistogramVec
	decisions   *prometheus.CounterVec
	violations  *prometheus.CounterVec
	shadows     *prometheus.CounterVec
	rules       bounded
	profiles    bounded
}

var _ gateway.Journal = (*Metrics)(nil)

// New makes Metrics in a registry of their own.
func New(c Config) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_server_request_duration_seconds", Help: "Time from a request's header to the end of its answer.",
			Buckets: []float64{.0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30, 60, 120},
		}, []string{"http_request_method", "http_route", "http_response_status_code"}),
		submissions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gateway_submissions_total", Help: "Programs by what became of them: a status of the answer, or the class of the fault that left none.",
		}, []string{"route", "plugin", "status"}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gateway_stage_duration_seconds", Help: "Time of a submission in each stage of the corridor.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
		}, []string{"stage"}),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gateway_decisions_total", Help: "Decisions of the policy by profile and verdict.",
		}, []string{"profile", "verdict"}),
		violations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gateway_violations_total", Help: "Places at which programs broke a rule, by rule and level.",
		}, []string{"rule", "level"}),
		shadows: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gateway_shadow_decisions_total", Help: "What profiles that are not in force say of programs, by how that differs.",
		}, []string{"profile", "outcome"}),
		rules:    bounded{most: maxNames},
		profiles: bounded{most: maxNames},
	}
	m.registry.MustRegister(
		m.requests, m.submissions, m.stages, m.decisions, m.violations, m.shadows,
		newStateCollector(c), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Handler answers with the metrics in Prometheus' formats.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes, EnableOpenMetrics: true})
}

// Request counts one HTTP exchange. route is a pattern of the front's table,
// never a path as it was asked for; method is one of HTTP's, or "other".
func (m *Metrics) Request(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(took.Seconds())
}

// Record implements gateway.Journal.
func (m *Metrics) Record(e gateway.Entry) {
	status := string(e.Status)
	if e.Fault != "" {
		status = e.Fault
	}
	m.submissions.WithLabelValues(string(e.Route), orNone(e.Plugin), orNone(status)).Inc()
	for stage, took := range map[string]time.Duration{"wait": e.Stages.Wait, "parse": e.Stages.Parse, "judge": e.Stages.Judge, "run": e.Stages.Run} {
		if took > 0 {
			m.stages.WithLabelValues(stage).Observe(took.Seconds())
		}
	}
	if e.Decision != nil {
		m.judged(e.Decision)
	}
	if e.Shadow != nil && e.Decision != nil {
		m.shadows.WithLabelValues(m.profiles.name(e.Shadow.Profile), e.Shadow.Outcome(*e.Decision)).Inc()
	}
}

func (m *Metrics) judged(d *gateway.Decision) {
	verdict := "deny"
	if d.Allow {
		verdict = "allow"
	}
	m.decisions.WithLabelValues(m.profiles.name(d.Profile), verdict).Inc()
	for _, v := range d.Violations {
		m.violations.WithLabelValues(m.rules.name(v.Rule), v.Level).Inc()
	}
}

func orNone(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// bounded lets the first names pass and turns further ones into "other". Safe
// for concurrent use.
type bounded struct {
	most  int
	known sync.Map

	mu    sync.Mutex
	count int
}

func (b *bounded) name(name string) string {
	if _, ok := b.known.Load(name); ok {
		return name
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count >= b.most {
		return "other"
	}
	if _, had := b.known.LoadOrStore(name, struct{}{}); !had {
		b.count++
	}
	return name
}
