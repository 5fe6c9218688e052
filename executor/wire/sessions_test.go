package wire

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// keeping is a stub that keeps sessions, and says of itself what a test wants.
type keeping struct {
	*stub
	err    error // of every verb
	opened executor.SessionOptions

	mu    sync.Mutex
	calls []string
}

func (k *keeping) note(call string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls = append(k.calls, call)
	if call == "reset panic" {
		panic("text of a session")
	}
	return k.err
}

func (k *keeping) OpenSession(_ context.Context, o executor.SessionOptions) (executor.SessionInfo, error) {
	k.opened = o
	return executor.SessionInfo{ID: o.ID, Language: o.Language}, k.note("open " + o.ID)
}

func (k *keeping) CloseSession(_ context.Context, id string) (bool, error) {
	return true, k.note("close " + id)
}

func (k *keeping) ListSessions(context.Context) ([]executor.SessionInfo, error) {
	return []executor.SessionInfo{{
		ID: "k_1", Language: stubLanguage, Age: time.Minute, Idle: time.Second, Cells: 3, MemoryBytes: 4096, Busy: true,
	}}, k.note("list")
}

func (k *keeping) ForkSession(_ context.Context, id, newID string) (executor.SessionInfo, error) {
	return executor.SessionInfo{ID: newID}, k.note("fork " + id + " " + newID)
}

func (k *keeping) ResetSession(_ context.Context, id string) error { return k.note("reset " + id) }

func (k *keeping) InterruptSession(_ context.Context, id string) error {
	return k.note("interrupt " + id)
}

func TestSessionVerbsCarryEverything(t *testing.T) {
	k := &keeping{stub: &stub{}}
	p := serve(t, k)
	ctx := t.Context()
	if !p.Client.KeepsSessions() {
		t.Error("the feature is not announced")
	}
	o := executor.SessionOptions{
		ID: "k_1", Language: stubLanguage, Idle: 1500 * time.Millisecond, Limits: executor.Limits{MemoryBytes: 7}, Labels: map[string]string{"a": "b"},
	}
	info, err := p.Client.OpenSession(ctx, o)
	if err != nil || info.ID != "k_1" || info.Language != stubLanguage {
		t.Errorf("open: %+v, %v", info, err)
	}
	sameJSON(t, k.opened, o)
	if info, err = p.Client.ForkSession(ctx, "k_1", "k_2"); err != nil || info.ID != "k_2" {
		t.Errorf("fork: %+v, %v", info, err)
	}
	if existed, err := p.Client.CloseSession(ctx, "k_1"); err != nil || !existed {
		t.Errorf("close: %v, %v", existed, err)
	}
	list, err := p.Client.ListSessions(ctx)
	want, _ := (&keeping{stub: &stub{}}).ListSessions(ctx)
	if err != nil {
		t.Error(err)
	}
	sameJSON(t, list, want)
	if err := errors.Join(p.Client.ResetSession(ctx, "k_1"), p.Client.InterruptSession(ctx, "k_1")); err != nil {
		t.Error(err)
	}
	sameJSON(t, k.calls, []string{"open k_1", "fork k_1 k_2", "close k_1", "list", "reset k_1", "interrupt k_1"})
}

// everyVerb calls each session verb once.
func everyVerb(ctx context.Context, c *Client) map[string]error {
	_, open := c.OpenSession(ctx, executor.SessionOptions{ID: "k_1", Language: stubLanguage})
	_, closed := c.CloseSession(ctx, "k_1")
	_, list := c.ListSessions(ctx)
	_, fork := c.ForkSession(ctx, "k_1", "k_2")
	return map[string]error{
		"open": open, "close": closed, "list": list, "fork": fork,
		"reset": c.ResetSession(ctx, "k_1"), "interrupt": c.InterruptSession(ctx, "k_1"),
	}
}

func TestSessionErrorsKeepTheirNames(t *testing.T) {
	secret := errors.New("secret of the plugin")
	for told, want := range map[error]error{
		executor.ErrSessionUnknown:  executor.ErrSessionUnknown,
		executor.ErrSessionLost:     executor.ErrSessionUnknown,
		executor.ErrTooManySessions: executor.ErrTooManySessions,
		executor.ErrSessionBusy:     executor.ErrSessionBusy,
		secret:                      ErrInternal,
	} {
		p := serve(t, &keeping{stub: &stub{}, err: told})
		for verb, err := range everyVerb(t.Context(), p.Client) {
			if !errors.Is(err, want) || errors.Is(err, ErrRefused) {
				t.Errorf("%s with %v: %v", verb, told, err)
			}
		}
		if breaches := p.Client.Strikes().Breaches; breaches > 0 {
			t.Errorf("%v: %d breaches", told, breaches)
		}
	}
}

func TestSessionVerbsOfOneThatKeepsNone(t *testing.T) {
	p := serve(t, &stub{})
	if p.Client.KeepsSessions() {
		t.Error("it says that it keeps sessions")
	}
	for verb, err := range everyVerb(t.Context(), p.Client) {
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	src := source("print x")
	src.SessionID = "k_1"
	s, err := p.Client.Submit(t.Context(), src)
	if err != nil || s.Ended() == nil || s.Ended().Status != executor.StatusSessionLost || s.Ended().SessionState != executor.SessionLost {
		t.Errorf("a cell: %+v, %v", s, err)
	}
}

func TestSessionVerbsBeforeTheSettings(t *testing.T) {
	p, err := ServeInProcess(&keeping{stub: &stub{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if _, err := p.Client.ListSessions(t.Context()); !errors.Is(err, ErrRefused) {
		t.Errorf("list: %v", err)
	}
}

func TestMalformedSessionRequests(t *testing.T) {
	p := serve(t, &keeping{stub: &stub{}})
	for _, id := range []string{"", "a b", "a/b", "ä", string(make([]byte, 129))} {
		if _, err := p.Client.OpenSession(t.Context(), executor.SessionOptions{ID: id, Language: stubLanguage}); !errors.Is(err, ErrRefused) {
			t.Errorf("open %q: %v", id, err)
		}
		if _, err := p.Client.ForkSession(t.Context(), "k_1", id); !errors.Is(err, ErrRefused) {
			t.Errorf("fork to %q: %v", id, err)
		}
	}
	if _, err := p.Client.OpenSession(t.Context(), executor.SessionOptions{ID: "k_1", Language: "cobol"}); !errors.Is(err, ErrRefused) {
		t.Errorf("open in another language: %v", err)
	}
}

func TestPanicOfASessionVerb(t *testing.T) {
	p := serve(t, &keeping{stub: &stub{}})
	if err := p.Client.ResetSession(t.Context(), "panic"); !errors.Is(err, ErrInternal) {
		t.Errorf("reset: %v", err)
	}
	if log := p.log.String(); len(log) == 0 || strings.Contains(log, "text of a session") {
		t.Errorf("log: %s", log)
	}
}

func TestDrainingOpensNoSession(t *testing.T) {
	p := serve(t, &keeping{stub: &stub{}})
	if _, err := p.Client.Drain(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	_, open := p.Client.OpenSession(t.Context(), executor.SessionOptions{ID: "k_1", Language: stubLanguage})
	_, fork := p.Client.ForkSession(t.Context(), "k_1", "k_2")
	if !errors.Is(open, executor.ErrTooManySessions) || !errors.Is(fork, executor.ErrTooManySessions) {
		t.Errorf("open %v, fork %v", open, fork)
	}
}

func cellSource(id, code string) executor.Source {
	src := source(code)
	src.SessionID = id
	return src
}

func TestCellsOfOneSessionTakeTurns(t *testing.T) {
	p := serve(t, &keeping{stub: &stub{}})
	first, err := p.Client.Submit(t.Context(), cellSource("k_1", "print a"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := p.Client.Submit(t.Context(), cellSource("k_2", "print b"))
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
	second := make(chan *Submission, 1)
	go func() {
		s, err := p.Client.Submit(context.WithoutCancel(t.Context()), cellSource("k_1", "print c"))
		if err != nil {
			t.Error(err)
		}
		second <- s
	}()
	eventually(t, "three submissions", func() bool { return stats(t, p.Client).Submissions == 3 })
	if err := p.Client.InterruptSession(t.Context(), "k_1"); err != nil {
		t.Errorf("interrupt waits for the turn: %v", err)
	}
	select {
	case <-second:
		t.Fatal("the second cell did not wait for the first")
	default:
	}
	if res, err := first.Run(t.Context(), executor.Grant{}, new(printed).take); err != nil || res.SessionState != executor.SessionKept {
		t.Errorf("%+v, %v", res, err)
	}
	if s := <-second; s == nil || s.Ended() != nil {
		t.Errorf("the second cell: %+v", s)
	} else {
		s.Close()
	}
	idle(t, p.Client)
}

func TestWaitForATurnEnds(t *testing.T) {
	p := serve(t, &keeping{stub: &stub{}})
	first, err := p.Client.Submit(t.Context(), cellSource("k_1", "print a"))
	if err != nil {
		t.Fatal(err)
	}
	src := cellSource("k_1", "print b")
	src.ParseLimits.Wall = 20 * time.Millisecond
	second, err := p.Client.Submit(t.Context(), src)
	if err != nil || second.Ended() == nil || second.Ended().Status != executor.StatusOverloaded || second.Ended().SessionState != executor.SessionKept {
		t.Errorf("a cell whose turn did not come: %+v, %v", second, err)
	}
	waiting := rawSubmit(t, p, &executorpb.HostMessage{Kind: &executorpb.HostMessage_Source{Source: sourceToWire(cellSource("k_1", "print c"))}})
	if err := waiting.Send(rawCancel()); err != nil {
		t.Fatal(err)
	}
	msgs, err := drain(waiting)
	if err != nil || len(msgs) != 1 || msgs[0].GetResult().GetStatus() != executorpb.Result_CANCELLED {
		t.Errorf("a cancelled wait: %v, %v", msgs, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := p.Client.ResetSession(ctx, "k_1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("reset while a cell is there: %v", err)
	}
	if err := p.Client.ResetSession(t.Context(), "k_1"); !errors.Is(err, executor.ErrSessionBusy) {
		t.Errorf("reset while a cell stays: %v", err)
	}
	first.Close()
	idle(t, p.Client)
	if err := p.Client.ResetSession(t.Context(), "k_1"); err != nil {
		t.Errorf("reset at rest: %v", err)
	}
}

// A cell has more time than a submission of its own to end when it is asked to.
func TestCellHasTimeToBeInterrupted(t *testing.T) {
	p := serve(t, &keeping{stub: &stub{}})
	for id, want := range map[string]executor.Status{"": executor.StatusWallLimit, "k_1": executor.StatusOK} {
		s, err := p.Client.Submit(t.Context(), cellSource(id, "deaf 600"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Run(t.Context(), executor.Grant{Limits: executor.Limits{Wall: 50 * time.Millisecond}}, new(printed).take)
		if err != nil || (res.Usage.Wall > 550*time.Millisecond) != (id != "") {
			t.Errorf("session %q: %+v, %v; want %v", id, res, err, want)
		}
		s.Close()
	}
}

// hostileKeeper answers the session verbs with what a test gives it.
type hostileKeeper struct {
	villain
	info *executorpb.SessionInfo
	list []*executorpb.SessionInfo
}

func (h *hostileKeeper) OpenSession(context.Context, *executorpb.OpenSessionRequest) (*executorpb.OpenSessionResponse, error) {
	return &executorpb.OpenSessionResponse{Session: h.info}, nil
}

func (h *hostileKeeper) ForkSession(context.Context, *executorpb.ForkSessionRequest) (*executorpb.ForkSessionResponse, error) {
	return &executorpb.ForkSessionResponse{Session: h.info}, nil
}

func (h *hostileKeeper) ListSessions(context.Context, *executorpb.ListSessionsRequest) (*executorpb.ListSessionsResponse, error) {
	return &executorpb.ListSessionsResponse{Sessions: h.list}, nil
}

func (h *hostileKeeper) ResetSession(context.Context, *executorpb.ResetSessionRequest) (*executorpb.ResetSessionResponse, error) {
	return nil, status.Error(codes.Unavailable, "gone")
}

func TestHostileSessionAnswers(t *testing.T) {
	long := string(make([]byte, maxWord+1))
	for name, h := range map[string]*hostileKeeper{
		"no session":    {},
		"another id":    {info: &executorpb.SessionInfo{SessionId: "k_9"}},
		"no id":         {list: []*executorpb.SessionInfo{{}}},
		"long language": {info: &executorpb.SessionInfo{SessionId: "k_1", Language: long}, list: []*executorpb.SessionInfo{{SessionId: "k_1", Language: long}}},
		"many sessions": {list: many(maxMany + 1)},
	} {
		g := grpc.NewServer()
		executorpb.RegisterExecutorServer(g, h)
		p, err := serveInProcess(g)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		_, open := p.Client.OpenSession(t.Context(), executor.SessionOptions{ID: "k_1"})
		_, fork := p.Client.ForkSession(t.Context(), "k_0", "k_1")
		_, list := p.Client.ListSessions(t.Context())
		if !errors.Is(open, ErrProtocol) || !errors.Is(fork, ErrProtocol) {
			t.Errorf("%s: open %v, fork %v", name, open, fork)
		}
		if (list != nil) != (len(h.list) > 0) || list != nil && !errors.Is(list, ErrProtocol) {
			t.Errorf("%s: list %v", name, list)
		}
		if err := p.Client.ResetSession(t.Context(), "k_1"); !errors.Is(err, ErrLost) {
			t.Errorf("%s: reset %v", name, err)
		}
	}
}

func many(n int) (list []*executorpb.SessionInfo) {
	for range n {
		list = append(list, &executorpb.SessionInfo{SessionId: "k_1"})
	}
	return list
}

// FuzzSessionFromWire: what the host takes of a session is within bounds.
func FuzzSessionFromWire(f *testing.F) {
	seed(f, sessionToWire(executor.SessionInfo{ID: "k_1", Language: "python", Age: time.Hour, Cells: 3}))
	f.Fuzz(func(t *testing.T, data []byte) {
		var w executorpb.SessionInfo
		if proto.Unmarshal(data, &w) != nil {
			return
		}
		var c check
		info := sessionFromWire(&c, &w)
		if c.err == nil && (!isSessionID(info.ID) || len(info.Language) > maxWord || info.Age < 0 || info.Idle < 0) {
			t.Fatalf("%+v", info)
		}
	})
}
