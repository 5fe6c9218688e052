package rest

import (
	"errors"
	"net/http"
	"time"

	"github.com/sluice-gateway/sluice/internal/front/toolcall"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

type sessionRequest struct {
	Language *string  `json:"language"`
	TTL      *float64 `json:"ttl_seconds"`
}

// sessionVerb is the body of the verbs on one session; it may be missing.
type sessionVerb struct {
	Wait *float64 `json:"wait"`
}

type sessionAnswer struct {
	ID       string               `json:"session_id"`
	Language string               `json:"language"`
	Default  bool                 `json:"default"` // the one that calls without a session_id use
	Created  time.Time            `json:"created_at"`
	LastUsed time.Time            `json:"last_used_at"`
	Expires  *time.Time           `json:"expires_at"` // if it is not used before; null: not now
	Cells    uint64               `json:"cells"`
	Memory   *uint64              `json:"memory_bytes"` // null: not known
	State    gateway.SessionState `json:"state"`
}

type sessionList struct {
	Sessions []sessionAnswer `json:"sessions"`
}

type interruptAnswer struct {
	ID          string `json:"session_id"`
	Interrupted bool   `json:"interrupted"` // false: no cell ran
}

func sessionOf(v gateway.SessionView) sessionAnswer {
	a := sessionAnswer{
		ID: v.ID, Language: v.Language, Default: v.Default, Created: wireTime(v.Created), LastUsed: wireTime(v.LastUsed),
		Cells: v.Cells, State: v.State,
	}
	if !v.Expires.IsZero() {
		at := wireTime(v.Expires)
		a.Expires = &at
	}
	if v.MemoryBytes > 0 {
		a.Memory = &v.MemoryBytes
	}
	return a
}

func wireTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func (s *server) openSession(x *exchange) error {
	var body sessionRequest
	if err := x.decodeOptional(&body); err != nil {
		return err
	}
	ttl, err := seconds("ttl_seconds", body.TTL)
	if err != nil {
		return err
	}
	view, err := s.cfg.Gateway.OpenSession(x.r.Context(), x.caller, orPython(body.Language), ttl)
	if errors.Is(err, gateway.ErrUnknownTool) {
		return invalid("language", "there is no such language; left out, it is python")
	}
	if err != nil {
		return err
	}
	return x.created(view)
}

func (x *exchange) created(view gateway.SessionView) error {
	x.Header().Set("Location", "/v1/sessions/"+view.ID)
	x.json(http.StatusCreated, sessionOf(view))
	return nil
}

func (s *server) listSessions(x *exchange) error {
	views, err := s.cfg.Gateway.Sessions(x.r.Context(), x.caller)
	if err != nil {
		return err
	}
	list := sessionList{Sessions: []sessionAnswer{}}
	for _, v := range views {
		list.Sessions = append(list.Sessions, sessionOf(v))
	}
	x.json(http.StatusOK, list)
	return nil
}

func (s *server) getSession(x *exchange) error {
	view, err := s.cfg.Gateway.Session(x.r.Context(), x.caller, x.sessionID())
	if err != nil {
		return err
	}
	x.json(http.StatusOK, sessionOf(view))
	return nil
}

func (x *exchange) sessionID() string { return x.r.PathValue("id") }

func (s *server) forkSession(x *exchange) error {
	wait, err := x.verbWait()
	if err != nil {
		return err
	}
	view, err := s.cfg.Gateway.ForkSession(x.r.Context(), x.caller, x.sessionID(), wait)
	if err != nil {
		return err
	}
	return x.created(view)
}

func (s *server) resetSession(x *exchange) error {
	wait, err := x.verbWait()
	if err != nil {
		return err
	}
	view, err := s.cfg.Gateway.ResetSession(x.r.Context(), x.caller, x.sessionID(), wait)
	if err != nil {
		return err
	}
	x.json(http.StatusOK, sessionOf(view))
	return nil
}

// verbWait is how long the running cell may be waited for.
func (x *exchange) verbWait() (*time.Duration, error) {
	var body sessionVerb
	if err := x.decodeOptional(&body); err != nil {
		return nil, err
	}
	return toolcall.WaitOf(body.Wait)
}

func (s *server) interruptSession(x *exchange) error {
	if err := x.decodeOptional(&sessionVerb{}); err != nil {
		return err
	}
	interrupted, err := s.cfg.Gateway.InterruptSession(x.r.Context(), x.caller, x.sessionID())
	if err != nil {
		return err
	}
	x.json(http.StatusOK, interruptAnswer{ID: x.sessionID(), Interrupted: interrupted})
	return nil
}

func (s *server) deleteSession(x *exchange) error {
	if err := s.cfg.Gateway.DeleteSession(x.r.Context(), x.caller, x.sessionID()); err != nil {
		return err
	}
	x.Header().Set("Cache-Control", "no-store")
	x.WriteHeader(http.StatusNoContent)
	return nil
}
