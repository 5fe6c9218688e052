package executor

import (
	"context"
	"errors"
	"time"
)

// SessionKeeper is implemented by executors whose programs can keep state from
// one submission to the next. It is found by type assertion; the kit then
// announces the feature "sessions".
//
// A cell is a submission whose Source.SessionID names an open session. Parse
// must not let earlier cells of the session touch what the policy is shown, and
// gives ErrSessionLost for a session that is not there any more. Run runs the
// cell in the session, and Result.SessionState says what became of it:
// SessionKept, SessionRolledBack (the cell was ended; what the session holds is
// what it held before that cell) or SessionLost (it is gone, with whatever it
// held). A cell that was refused or does not parse leaves the session as it was.
//
// The kit keeps the cells of one session apart: a cell is parsed when the one
// before it has been closed, and ForkSession and ResetSession are called between
// cells. The other methods are called at any time, from several goroutines:
// CloseSession ends the running cell, InterruptSession and ListSessions go on
// beside it. When a cell's context ends, Run has 750 ms to interrupt the cell, to
// end it, and to return.
type SessionKeeper interface {
	// OpenSession starts an empty session under o.ID, which was not used
	// before. ErrTooManySessions when there is no room.
	OpenSession(ctx context.Context, o SessionOptions) (SessionInfo, error)
	// CloseSession ends a session and frees what it holds. It is no error when
	// there is none: existed tells.
	CloseSession(ctx context.Context, id string) (existed bool, err error)
	// ListSessions tells of every session that is there now, in any order.
	ListSessions(ctx context.Context) ([]SessionInfo, error)
	// ForkSession makes a second session, newID, that starts from the state of
	// id. Neither sees the other's later cells. Idle time, limits and labels
	// are those of id. ErrSessionUnknown, ErrTooManySessions.
	ForkSession(ctx context.Context, id, newID string) (SessionInfo, error)
	// ResetSession gives a session its first, empty state back under the same
	// id. ErrSessionUnknown.
	ResetSession(ctx context.Context, id string) error
	// InterruptSession stops the cell that runs now as Ctrl-C would; the
	// session and its state stay. Without a running cell it does nothing.
	// ErrSessionUnknown.
	InterruptSession(ctx context.Context, id string) error
}

// SessionOptions say what session is wanted.
type SessionOptions struct {
	ID       string            // made by the gateway: 1–128 characters of [A-Za-z0-9._-], not to be guessed
	Language string            // Language.ID
	Idle     time.Duration     // closed after this long without a cell or another use; 0: never
	Limits   Limits            // of the session as a whole; a cell's own come with its Grant
	Labels   map[string]string // trace ids; never secrets
}

// SessionInfo is what a plugin tells of a session.
type SessionInfo struct {
	ID          string
	Language    string
	Age         time.Duration // since it was opened or forked
	Idle        time.Duration // since its last cell ended, or since it was opened
	Cells       uint64        // that were run
	MemoryBytes uint64        // what it takes by itself, without what it shares; 0: not known
	Busy        bool          // a cell runs now
}

// The words of Result.SessionState. SessionNew is the gateway's own: the session
// was opened for this very cell.
const (
	SessionNew        = "new"
	SessionKept       = "kept"
	SessionRolledBack = "rolled_back"
	SessionLost       = "lost"
)

// Errors of SessionKeeper's methods; ErrSessionLost is what a cell ends with.
// ErrSessionBusy is the kit's own, for a session that did not come to rest.
var (
	ErrSessionUnknown  = errors.New("no such session")
	ErrSessionBusy     = errors.New("session is running a cell")
	ErrTooManySessions = errors.New("no room for another session")
)
