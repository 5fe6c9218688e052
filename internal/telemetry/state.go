package telemetry

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// State is what stands elsewhere and is read with the metrics.
type State struct {
	Policy   Policy
	Queue    Queue
	Sessions Sessions
	Plugins  []Plugin
	// AuditLost counts lines of the decision log that were not written.
	AuditLost uint64
	// ShadowsMissed counts decisions that a shadow profile was not asked about.
	ShadowsMissed uint64
}

// Policy is what is in force and how its loads went.
type Policy struct {
	Revision    string // empty: none is in force
	Pins        string // short digests of the sources that it follows
	LoadedAt    time.Time
	Good        bool   // the last load was put in force
	Loads       uint64 // that were put in force
	FailedLoads uint64
	Slow        uint64 // decisions
	Faults      uint64 // decisions that ended in a fault of the policy
	Profiles    int
}

// Queue is how much runs and waits, and how much may.
type Queue struct{ Running, Slots, Waiting, Limit int }

// Sessions is how many are open, and may be.
type Sessions struct{ Open, Limit int }

// Plugin is one process of a plugin.
type Plugin struct {
	Name     string // as it calls itself
	Version  string
	Instance int
	State    string // one of States
	Restarts int
	Inflight int
}

// States lists a plugin's states, in lower case.
func States() []string {
	return []string{"starting", "healthy", "degraded", "draining", "stopping", "stopped", "backoff", "quarantined"}
}

// gauge is a metric that is read from the State.
type gauge struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(State) float64
}

// stateCollector reads the State when the metrics are read.
type stateCollector struct {
	cfg    Config
	gauges []gauge
	build  *prometheus.Desc
	plugin pluginDescs
}

type pluginDescs struct{ state, restarts, inflight *prometheus.Desc }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

func newStateCollector(c Config) *stateCollector {
	return &stateCollector{
		cfg: c, gauges: gauges(),
		build: desc("gateway_build_info", "Always 1: what runs, which policy is in force, and the short digests of the sources that it follows.",
			"version", "build", "policy_revision", "pins"),
		plugin: pluginDescs{
			state:    desc("gateway_plugin_state", "1 for the state in which a plugin's process is.", "plugin", "version", "instance", "state"),
			restarts: desc("gateway_plugin_restarts_total", "Restarts of a plugin's process.", "plugin", "instance"),
			inflight: desc("gateway_plugin_inflight", "Submissions that are with a plugin's process.", "plugin", "instance"),
		},
	}
}

func gauges() []gauge {
	value, counter := prometheus.GaugeValue, prometheus.CounterValue
	return []gauge{
		{desc("gateway_queue_waiting", "Submissions that wait for a slot."), value, func(s State) float64 { return float64(s.Queue.Waiting) }},
		{desc("gateway_queue_limit", "Submissions that may wait for a slot."), value, func(s State) float64 { return float64(s.Queue.Limit) }},
		{desc("gateway_slots_busy", "Submissions that have a slot."), value, func(s State) float64 { return float64(s.Queue.Running) }},
		{desc("gateway_slots", "Submissions that may have a slot."), value, func(s State) float64 { return float64(s.Queue.Slots) }},
		{desc("gateway_sessions_open", "Open sessions."), value, func(s State) float64 { return float64(s.Sessions.Open) }},
		{desc("gateway_sessions_limit", "Sessions that may be open."), value, func(s State) float64 { return float64(s.Sessions.Limit) }},
		{desc("gateway_shadow_missed_total", "Decisions that a shadow profile was not asked about, because too many waited."), counter, func(s State) float64 { return float64(s.ShadowsMissed) }},
		{desc("gateway_audit_lost_total", "Lines of the decision log that were not written."), counter, func(s State) float64 { return float64(s.AuditLost) }},
		{desc("gateway_policy_in_force", "1 when a policy is in force."), value, func(s State) float64 { return one(s.Policy.Revision != "") }},
		{desc("gateway_policy_last_load_good", "1 when the last load of the policy was put in force."), value, func(s State) float64 { return one(s.Policy.Good) }},
		{desc("gateway_policy_loaded_timestamp_seconds", "When the policy in force was loaded; 0 when there is none."), value, func(s State) float64 { return unix(s.Policy.LoadedAt) }},
		{desc("gateway_policy_slow_decisions_total", "Decisions that took more than 100 ms."), counter, func(s State) float64 { return float64(s.Policy.Slow) }},
		{desc("gateway_policy_faults_total", "Decisions that ended in a fault of the policy."), counter, func(s State) float64 { return float64(s.Policy.Faults) }},
		{desc("gateway_policy_profiles", "Profiles of the policy in force."), value, func(s State) float64 { return float64(s.Policy.Profiles) }},
		{prometheus.NewDesc("gateway_policy_loads_total", "Loads of the policy by how they ended.", nil, prometheus.Labels{"result": "good"}), counter,
			func(s State) float64 { return float64(s.Policy.Loads) }},
		{prometheus.NewDesc("gateway_policy_loads_total", "Loads of the policy by how they ended.", nil, prometheus.Labels{"result": "failed"}), counter,
			func(s State) float64 { return float64(s.Policy.FailedLoads) }},
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// Describe implements prometheus.Collector.
func (c *stateCollector) Describe(to chan<- *prometheus.Desc) {
	for _, g := range c.gauges {
		to <- g.desc
	}
	p := c.plugin
	for _, d := range []*prometheus.Desc{c.build, p.state, p.restarts, p.inflight} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *stateCollector) Collect(to chan<- prometheus.Metric) {
	s := c.cfg.State()
	for _, g := range c.gauges {
		to <- prometheus.MustNewConstMetric(g.desc, g.kind, g.read(s))
	}
	to <- prometheus.MustNewConstMetric(c.build, prometheus.GaugeValue, 1, c.cfg.Version, c.cfg.Build, s.Policy.Revision, s.Policy.Pins)
	for _, p := range s.Plugins {
		c.collectPlugin(to, p)
	}
}

func (c *stateCollector) collectPlugin(to chan<- prometheus.Metric, p Plugin) {
	instance := strconv.Itoa(p.Instance)
	send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	for _, state := range States() {
		send(c.plugin.state, prometheus.GaugeValue, one(state == p.State), p.Name, p.Version, instance, state)
	}
	send(c.plugin.restarts, prometheus.CounterValue, float64(p.Restarts), p.Name, instance)
	send(c.plugin.inflight, prometheus.GaugeValue, float64(p.Inflight), p.Name, instance)
}
