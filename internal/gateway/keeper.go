package gateway

import (
	"context"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// Keeper is a [Target] whose plugin may keep state from one submission to the
// next. It is found by type assertion.
type Keeper interface {
	Target
	// KeepsSessions says whether the plugin does, as far as is known.
	KeepsSessions() bool
	// OpenSession starts an empty session in one of the plugin's processes.
	// Errors: ErrUnsupported, ErrSessionsFull, those of Submit.
	OpenSession(ctx context.Context, o executor.SessionOptions) (Kept, error)
	// Sessions tells of all sessions in all processes of the plugin, under the
	// ids they were opened with.
	Sessions(ctx context.Context) ([]executor.SessionInfo, error)
}

// Kept is a session in the process that holds it; it never moves to another.
// When that process or the session is gone, every method's error wraps
// executor.ErrSessionLost. Safe for concurrent use, but for Submit, Fork and
// Reset, which need the session at rest.
type Kept interface {
	// Submit is Target.Submit for a cell. It is never tried elsewhere.
	Submit(ctx context.Context, src executor.Source) (Submission, error)
	// Fork makes a session in the same process that starts from this state.
	Fork(ctx context.Context, newID string) (Kept, error)
	// Reset gives the session its first state back.
	Reset(ctx context.Context) error
	// Interrupt stops the running cell as Ctrl-C would.
	Interrupt(ctx context.Context) error
	// Close ends the session, and the running cell with it.
	Close(ctx context.Context) error
	// ID is what Keeper.Sessions calls it.
	ID() string
	// Gone is closed when the process is gone.
	Gone() <-chan struct{}
}

// Cell asks for a submission to be run in a session of its caller's.
type Cell struct {
	// Session is the session's id; empty: the caller's own default session,
	// which is started when there is none.
	Session string
	// Wait bounds the wait for the session's earlier cells; nil:
	// Limits.QueueWait. 0 does not wait.
	Wait *time.Duration
}
