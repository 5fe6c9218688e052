package pluginhost

import (
	"time"

	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// State is where a plugin's process stands in its life.
type State string

// The states.
const (
	Starting    State = "STARTING"
	Healthy     State = "HEALTHY"
	Degraded    State = "DEGRADED"
	Draining    State = "DRAINING"
	Stopping    State = "STOPPING"
	Stopped     State = "STOPPED"
	Backoff     State = "BACKOFF"
	Quarantined State = "QUARANTINED"
	Disabled    State = "DISABLED" // by an operator, or by the configuration
)

// PluginStatus is one process of a plugin, for operators: LastWords is what the
// latest dead process wrote last on its standard error and may hold parts of
// programs.
type PluginStatus struct {
	Name      string // of the section in the configuration
	Instance  int    // from 0
	Plugin    string // as it calls itself; empty: not known yet
	Version   string
	State     State
	Why       string // of BACKOFF, QUARANTINED and DEGRADED
	PID       int    // 0: no process
	Since     time.Time
	Restarts  int
	Inflight  int
	LastWords string
	LastEnd   string         // why the latest process that failed did; empty: none did
	EndedAt   time.Time      // when that was
	Walls     []sandbox.Wall // around the plugin itself
	Warnings  []string       // of its settings and of what it found, as it gave them when it was configured
	Inner     bool           // it sees to walls around programs by itself, and was told what is required of them
}
