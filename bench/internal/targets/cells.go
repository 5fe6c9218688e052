package targets

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/sluice-gateway/sluice/bench/internal/load"
)

// sessions is Sluice's tool for cells: each client has a session of its own,
// whose variables stay from call to call.
type sessions struct {
	*sluice
	mu  sync.Mutex
	ids map[int]string
}

func newSessions(c Config) (Target, error) {
	target, err := newSluice(c)
	if err != nil {
		return nil, err
	}
	gateway, ok := target.(*sluice)
	if !ok {
		return nil, errors.New("the gateway is none")
	}
	return &sessions{sluice: gateway, ids: map[int]string{}}, nil
}

// Key implements Target.
func (s *sessions) Key() string { return "s" }

// Title implements Target.
func (s *sessions) Title() string { return "Sluice, cells of a session" }

// cellPrograms are those that a cell may hold under the profile for tools.
var cellPrograms = [...]string{"factor", "linalg", "cell"}

// Takes says which programs are sent here.
func (s *sessions) Takes(p Program) bool { return slices.Contains(cellPrograms[:], p.Name) }

// Call implements Target.
func (s *sessions) Call(ctx context.Context, client int, p Program) (Answer, load.Outcome, error) {
	id, outcome, err := s.session(ctx, client)
	if err != nil || outcome == load.Shed {
		return Answer{}, outcome, err
	}
	var said struct {
		OK     bool   `json:"ok"`
		Output string `json:"output"`
	}
	outcome, err = s.post(ctx, client, "/v1/tools/call", map[string]any{
		"name": "stateful_python_code_exec", "session_id": id, "arguments": map[string]string{"code": p.Code},
	}, &said)
	if err == nil && outcome == load.Answered && !said.OK {
		err = fmt.Errorf("%s in a session: %.300s", p.Name, said.Output)
	}
	return Answer{Stdout: said.Output}, outcome, err
}

// session is the client's own, opened when it first calls.
func (s *sessions) session(ctx context.Context, client int) (string, load.Outcome, error) {
	s.mu.Lock()
	id, ok := s.ids[client]
	s.mu.Unlock()
	if ok {
		return id, load.Answered, nil
	}
	var opened struct {
		ID string `json:"session_id"`
	}
	outcome, err := s.post(ctx, client, "/v1/sessions", struct{}{}, &opened)
	if err == nil && outcome == load.Answered {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ids[client] = opened.ID
	}
	return opened.ID, outcome, err
}

// Close implements Target: the sessions end with it.
func (s *sessions) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var faults []error
	for client, id := range s.ids {
		faults = append(faults, s.end(client, id))
	}
	s.hangUp()
	return errors.Join(faults...)
}

func (s *sessions) end(client int, id string) error {
	req, err := http.NewRequest(http.MethodDelete, s.url+"/v1/sessions/"+id, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := s.client(client).Do(req)
	if err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return resp.Body.Close()
}
