package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// Deadlines of the session verbs; a shorter one of the caller's holds.
const (
	openTime  = 10 * time.Second // also to fork and to reset
	touchTime = 3 * time.Second  // to close, list and interrupt
)

// KeepsSessions says whether the plugin, as it described itself, keeps
// sessions.
func (c *Client) KeepsSessions() bool {
	d := c.about.Load()
	return d != nil && slices.Contains(d.Features, featureSessions)
}

// OpenSession starts an empty session under o.ID. Beside the errors of every
// verb: executor.ErrTooManySessions.
func (c *Client) OpenSession(ctx context.Context, o executor.SessionOptions) (executor.SessionInfo, error) {
	res, err := callSession(ctx, c, "open session", openTime, c.rpc.OpenSession, sessionOptionsToWire(o))
	if err != nil {
		return executor.SessionInfo{}, err
	}
	return c.opened(ctx, "open session", o.ID, res.GetSession())
}

// ForkSession makes the session newID from the state of id. Beside the errors
// of every verb: executor.ErrSessionUnknown, ErrSessionBusy, ErrTooManySessions.
func (c *Client) ForkSession(ctx context.Context, id, newID string) (executor.SessionInfo, error) {
	res, err := callSession(ctx, c, "fork session", openTime, c.rpc.ForkSession,
		&executorpb.ForkSessionRequest{SessionId: clean(id), NewSessionId: clean(newID)})
	if err != nil {
		return executor.SessionInfo{}, err
	}
	return c.opened(ctx, "fork session", newID, res.GetSession())
}

func (c *Client) opened(ctx context.Context, verb, id string, w *executorpb.SessionInfo) (executor.SessionInfo, error) {
	var bounds check
	info := sessionFromWire(&bounds, w)
	bounds.require(info.ID == id, "session under another id than was asked for")
	return info, c.fault(ctx, verb, bounds.err)
}

// CloseSession ends a session; existed tells whether there was one.
func (c *Client) CloseSession(ctx context.Context, id string) (existed bool, err error) {
	res, err := callSession(ctx, c, "close session", touchTime, c.rpc.CloseSession, &executorpb.CloseSessionRequest{SessionId: clean(id)})
	return res.GetExisted(), err
}

// ListSessions tells of every session that the plugin holds.
func (c *Client) ListSessions(ctx context.Context) ([]executor.SessionInfo, error) {
	res, err := callSession(ctx, c, "list sessions", touchTime, c.rpc.ListSessions, &executorpb.ListSessionsRequest{})
	if err != nil {
		return nil, err
	}
	var bounds check
	bounds.count("sessions", len(res.GetSessions()), maxMany)
	list := make([]executor.SessionInfo, 0, min(len(res.GetSessions()), maxMany))
	for _, w := range clampLen(res.GetSessions(), maxMany) {
		list = append(list, sessionFromWire(&bounds, w))
	}
	return list, c.fault(ctx, "list sessions", bounds.err)
}

// ResetSession gives a session its first state back: executor.ErrSessionUnknown,
// ErrSessionBusy.
func (c *Client) ResetSession(ctx context.Context, id string) error {
	_, err := callSession(ctx, c, "reset session", openTime, c.rpc.ResetSession, &executorpb.ResetSessionRequest{SessionId: clean(id)})
	return err
}

// InterruptSession stops the cell that runs now: executor.ErrSessionUnknown.
func (c *Client) InterruptSession(ctx context.Context, id string) error {
	_, err := callSession(ctx, c, "interrupt session", touchTime, c.rpc.InterruptSession, &executorpb.InterruptSessionRequest{SessionId: clean(id)})
	return err
}

// callSession is call for the session verbs, whose refusals are no faults of
// the plugin.
func callSession[Req, Res any](ctx context.Context, c *Client, verb string, limit time.Duration,
	do func(context.Context, Req, ...grpc.CallOption) (Res, error), req Req,
) (Res, error) {
	return call(ctx, c, verb, limit, func(ctx context.Context, req Req, opts ...grpc.CallOption) (Res, error) {
		res, err := do(ctx, req, opts...)
		return res, sessionError(err)
	}, req)
}

// errSession marks the refusals that classify lets pass.
var errSession = errors.New("session")

func sessionError(err error) error {
	known := map[codes.Code]error{
		codes.NotFound:          executor.ErrSessionUnknown,
		codes.ResourceExhausted: executor.ErrTooManySessions,
		codes.Aborted:           executor.ErrSessionBusy,
		codes.Internal:          ErrInternal,
	}
	if told := known[status.Code(err)]; err != nil && told != nil {
		return fmt.Errorf("%w: %w", errSession, told)
	}
	return err
}

func sessionOptionsToWire(o executor.SessionOptions) *executorpb.OpenSessionRequest {
	return &executorpb.OpenSessionRequest{
		SessionId: clean(o.ID), Language: clean(o.Language), IdleMs: toUnits(o.Idle, time.Millisecond),
		Limits: limitsToWire(o.Limits), Labels: labelsToWire(o.Labels),
	}
}

func sessionOptionsFromWire(r *executorpb.OpenSessionRequest) executor.SessionOptions {
	return executor.SessionOptions{
		ID: r.GetSessionId(), Language: r.GetLanguage(), Idle: fromUnits(r.GetIdleMs(), time.Millisecond),
		Limits: limitsFromWire(r.GetLimits()), Labels: r.GetLabels(),
	}
}

func sessionToWire(i executor.SessionInfo) *executorpb.SessionInfo {
	return &executorpb.SessionInfo{
		SessionId: clip(i.ID, maxWord), Language: clip(i.Language, maxWord),
		AgeMs: toUnits(i.Age, time.Millisecond), IdleMs: toUnits(i.Idle, time.Millisecond),
		Runs: i.Cells, RssBytes: i.MemoryBytes, Busy: i.Busy,
	}
}

func sessionFromWire(c *check, w *executorpb.SessionInfo) executor.SessionInfo {
	c.require(isSessionID(w.GetSessionId()), "session has an id that no host made")
	c.word0("session.language", w.GetLanguage())
	return executor.SessionInfo{
		ID: w.GetSessionId(), Language: w.GetLanguage(),
		Age: fromUnits(w.GetAgeMs(), time.Millisecond), Idle: fromUnits(w.GetIdleMs(), time.Millisecond),
		Cells: w.GetRuns(), MemoryBytes: w.GetRssBytes(), Busy: w.GetBusy(),
	}
}

// isSessionID says whether id is of the form that the contract gives to ids of
// sessions.
func isSessionID(id string) bool {
	const longest, allowed = 128, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	return id != "" && len(id) <= longest && strings.Trim(id, allowed) == ""
}
