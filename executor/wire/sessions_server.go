package wire

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// featureSessions is announced for every executor that keeps sessions.
const featureSessions = "sessions"

// about is what the plugin says of itself, and what the kit adds to it.
func about(e executor.Executor) executor.Description {
	d := e.Describe()
	if _, ok := e.(executor.SessionKeeper); ok && !slices.Contains(d.Features, featureSessions) {
		d.Features = append(slices.Clone(d.Features), featureSessions)
	}
	return d
}

// turns keep the cells of one session apart, and what else needs the session at
// rest. Safe for concurrent use.
type turns struct {
	mu sync.Mutex
	of map[string]*turn
}

type turn struct {
	free  chan struct{} // holds one token while nobody has the turn
	users int           // who has it or waits for it
}

// take waits for a session's turn; nil when ctx ends first.
func (t *turns) take(ctx context.Context, id string) (give func()) {
	t.mu.Lock()
	if t.of == nil {
		t.of = map[string]*turn{}
	}
	at := t.of[id]
	if at == nil {
		at = &turn{free: make(chan struct{}, 1)}
		at.free <- struct{}{}
		t.of[id] = at
	}
	at.users++
	t.mu.Unlock()
	select {
	case <-at.free:
		return func() {
			at.free <- struct{}{}
			t.leave(id, at)
		}
	case <-ctx.Done():
		t.leave(id, at)
		return nil
	}
}

func (t *turns) leave(id string, at *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.users--; at.users == 0 {
		delete(t.of, id)
	}
}

// turnWait bounds how long a verb waits for a session to come to rest.
const turnWait = 2 * time.Second

// keeper is the executor's own half of the session verbs, once it has its
// settings.
func (s *server) keeper() (executor.SessionKeeper, error) {
	keeper, ok := s.exec.(executor.SessionKeeper)
	switch {
	case !ok:
		return nil, status.Error(codes.Unimplemented, "sessions are not supported by this plugin")
	case !s.ready():
		return nil, status.Error(codes.FailedPrecondition, "not configured yet")
	}
	return keeper, nil
}

// session calls a verb of the executor's; atRest waits for the session's turn.
func (s *server) session(ctx context.Context, verb, atRest string, do func(executor.SessionKeeper) error) error {
	keeper, err := s.keeper()
	if err != nil {
		return err
	}
	if atRest != "" {
		waiting, cancel := context.WithTimeout(ctx, turnWait)
		defer cancel()
		give := s.turns.take(waiting, atRest)
		if give == nil {
			return sessionStatus(executor.ErrSessionBusy)
		}
		defer give()
	}
	err = s.protect(verb, func() error { return do(keeper) })
	if err == nil {
		return nil
	}
	told := sessionStatus(err)
	if status.Code(told) == codes.Internal && !errors.Is(err, errPanic) {
		s.log.Error("session verb failed", "verb", verb, "error", err)
	}
	return told
}

// sessionStatus is an error of SessionKeeper's in gRPC's words. The text of one
// that is not of the contract stays in the log.
func sessionStatus(err error) error {
	switch {
	case errors.Is(err, executor.ErrSessionUnknown), errors.Is(err, executor.ErrSessionLost):
		return status.Error(codes.NotFound, executor.ErrSessionUnknown.Error())
	case errors.Is(err, executor.ErrTooManySessions), errors.Is(err, executor.ErrOverloaded):
		return status.Error(codes.ResourceExhausted, executor.ErrTooManySessions.Error())
	case errors.Is(err, executor.ErrSessionBusy):
		return status.Error(codes.Aborted, executor.ErrSessionBusy.Error())
	}
	return status.Error(codes.Internal, "the plugin's own fault")
}

// OpenSession implements the contract.
func (s *server) OpenSession(ctx context.Context, req *executorpb.OpenSessionRequest) (*executorpb.OpenSessionResponse, error) {
	o := sessionOptionsFromWire(req)
	if _, err := s.keeper(); err == nil && !s.mayOpen(o.ID, o.Language) {
		return nil, status.Error(codes.InvalidArgument, "malformed session id, or no such language")
	}
	var info executor.SessionInfo
	err := s.session(ctx, "open session", "", func(k executor.SessionKeeper) (err error) {
		if s.draining.Load() {
			return executor.ErrTooManySessions
		}
		info, err = k.OpenSession(ctx, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &executorpb.OpenSessionResponse{SessionId: info.ID, Session: sessionToWire(info)}, nil
}

func (s *server) mayOpen(id, language string) bool {
	return isSessionID(id) && slices.ContainsFunc(s.about.Languages, func(l executor.Language) bool { return l.ID == language })
}

// CloseSession implements the contract.
func (s *server) CloseSession(ctx context.Context, req *executorpb.CloseSessionRequest) (*executorpb.CloseSessionResponse, error) {
	var existed bool
	err := s.session(ctx, "close session", "", func(k executor.SessionKeeper) (err error) {
		existed, err = k.CloseSession(ctx, req.GetSessionId())
		return err
	})
	if err != nil {
		return nil, err
	}
	return &executorpb.CloseSessionResponse{Existed: existed}, nil
}

// ListSessions implements the contract.
func (s *server) ListSessions(ctx context.Context, _ *executorpb.ListSessionsRequest) (*executorpb.ListSessionsResponse, error) {
	var list []executor.SessionInfo
	err := s.session(ctx, "list sessions", "", func(k executor.SessionKeeper) (err error) {
		list, err = k.ListSessions(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	res := &executorpb.ListSessionsResponse{}
	for _, info := range clampLen(list, maxMany) {
		res.Sessions = append(res.Sessions, sessionToWire(info))
	}
	return res, nil
}

// ForkSession implements the contract.
func (s *server) ForkSession(ctx context.Context, req *executorpb.ForkSessionRequest) (*executorpb.ForkSessionResponse, error) {
	if _, err := s.keeper(); err == nil && !isSessionID(req.GetNewSessionId()) {
		return nil, status.Error(codes.InvalidArgument, "malformed session id")
	}
	var info executor.SessionInfo
	err := s.session(ctx, "fork session", req.GetSessionId(), func(k executor.SessionKeeper) (err error) {
		if s.draining.Load() {
			return executor.ErrTooManySessions
		}
		info, err = k.ForkSession(ctx, req.GetSessionId(), req.GetNewSessionId())
		return err
	})
	if err != nil {
		return nil, err
	}
	return &executorpb.ForkSessionResponse{SessionId: info.ID, Session: sessionToWire(info)}, nil
}

// ResetSession implements the contract.
func (s *server) ResetSession(ctx context.Context, req *executorpb.ResetSessionRequest) (*executorpb.ResetSessionResponse, error) {
	err := s.session(ctx, "reset session", req.GetSessionId(), func(k executor.SessionKeeper) error {
		return k.ResetSession(ctx, req.GetSessionId())
	})
	if err != nil {
		return nil, err
	}
	return &executorpb.ResetSessionResponse{}, nil
}

// InterruptSession implements the contract.
func (s *server) InterruptSession(ctx context.Context, req *executorpb.InterruptSessionRequest) (*executorpb.InterruptSessionResponse, error) {
	err := s.session(ctx, "interrupt session", "", func(k executor.SessionKeeper) error {
		return k.InterruptSession(ctx, req.GetSessionId())
	})
	if err != nil {
		return nil, err
	}
	return &executorpb.InterruptSessionResponse{}, nil
}
