package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// nest is a parrot that remembers, session by session.
type nest struct {
	*parrot
	mu    sync.Mutex
	holds map[string]string
}

const nestMax = 3

// OpenSession implements executor.SessionKeeper.
func (n *nest) OpenSession(_ context.Context, o executor.SessionOptions) (executor.SessionInfo, error) {
	return n.add(o.ID, "")
}

func (n *nest) add(id, held string) (executor.SessionInfo, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.holds) >= nestMax {
		return executor.SessionInfo{}, executor.ErrTooManySessions
	}
	n.holds[id] = held
	return executor.SessionInfo{ID: id, Language: "parrot", MemoryBytes: 1 << 20}, nil
}

// CloseSession implements executor.SessionKeeper.
func (n *nest) CloseSession(_ context.Context, id string) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, existed := n.holds[id]
	delete(n.holds, id)
	return existed, nil
}

// ListSessions implements executor.SessionKeeper.
func (n *nest) ListSessions(context.Context) (list []executor.SessionInfo, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.holds {
		list = append(list, executor.SessionInfo{ID: id, Language: "parrot", MemoryBytes: 1 << 20})
	}
	return list, nil
}

// ForkSession implements executor.SessionKeeper.
func (n *nest) ForkSession(_ context.Context, id, newID string) (executor.SessionInfo, error) {
	held, err := n.held(id)
	if err != nil {
		return executor.SessionInfo{}, executor.ErrSessionUnknown
	}
	return n.add(newID, held)
}

// ResetSession implements executor.SessionKeeper.
func (n *nest) ResetSession(_ context.Context, id string) error {
	if _, err := n.held(id); err != nil {
		return executor.ErrSessionUnknown
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.holds[id] = ""
	return nil
}

// InterruptSession implements executor.SessionKeeper.
func (n *nest) InterruptSession(_ context.Context, id string) error {
	if id == "k_sick" {
		return errors.New("no way")
	}
	if _, err := n.held(id); err != nil {
		return executor.ErrSessionUnknown
	}
	return nil
}

func (n *nest) held(id string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	held, ok := n.holds[id]
	if !ok {
		return "", executor.ErrSessionLost
	}
	return held, nil
}

// Parse implements executor.Executor. In a session ":+word" remembers a word and
// ":all" says what is remembered.
func (n *nest) Parse(ctx context.Context, src executor.Source) (executor.Program, error) {
	prog, err := n.parrot.Parse(ctx, src)
	if err != nil || src.SessionID == "" {
		return prog, err
	}
	if _, err := n.held(src.SessionID); err != nil {
		return nil, err
	}
	_, run, _ := strings.Cut(string(src.Code), ":")
	return &executor.Prog{Doc: prog.Tree(), Do: func(ctx context.Context, g executor.Grant, out executor.Output) (executor.Result, error) {
		held, err := n.held(src.SessionID)
		if err != nil {
			return executor.Result{}, err
		}
		if word, ok := strings.CutPrefix(run, "+"); ok {
			n.mu.Lock()
			n.holds[src.SessionID] = held + word
			n.mu.Unlock()
			return executor.Result{}, nil
		}
		if run == "all" {
			fmt.Fprint(out.Stdout(), held)
			return executor.Result{}, nil
		}
		return prog.Run(ctx, g, out)
	}}, nil
}

func keeperOf(t *testing.T, b *bench) gateway.Keeper {
	t.Helper()
	target, err := b.Find("parrot")
	if err != nil {
		t.Fatal(err)
	}
	keeper, ok := target.(gateway.Keeper)
	if !ok || !keeper.KeepsSessions() {
		t.Fatal("the target keeps no sessions")
	}
	return keeper
}

func openKept(t *testing.T, k gateway.Keeper, id string) gateway.Kept {
	t.Helper()
	kept, err := k.OpenSession(t.Context(), executor.SessionOptions{ID: id, Language: "parrot"})
	if err != nil || kept.ID() != id {
		t.Fatalf("open %s: %v", id, err)
	}
	return kept
}

func sayIn(ctx context.Context, kept gateway.Kept, code string) (string, executor.Result, error) {
	sub, err := kept.Submit(ctx, executor.Source{ID: "r", Language: "parrot", Tool: "parrot_say", Code: []byte(code)})
	if err != nil {
		return "", executor.Result{}, err
	}
	defer sub.Close()
	if ended := sub.Ended(); ended != nil {
		return "", *ended, nil
	}
	var out strings.Builder
	res, err := sub.Run(ctx, executor.Grant{Limits: executor.Limits{Wall: 10 * time.Second}}, func(_ executor.Stream, chunk []byte) { out.Write(chunk) })
	return out.String(), res, err
}

func mustSayIn(t *testing.T, kept gateway.Kept, code, want string) {
	t.Helper()
	out, res, err := sayIn(t.Context(), kept, code)
	if err != nil || res.Status != executor.StatusOK || res.SessionState != executor.SessionKept || out != want {
		t.Fatalf("%q said %q, %+v, %v; want %q", code, out, res, err, want)
	}
}

// Cells go to the process that holds their session, however many there are.
func TestSessionsStickToTheirProcess(t *testing.T) {
	t.Parallel()
	plugin := bird(t, "sessions")
	plugin.Instances = 2
	b := start(t, patient(), plugin)
	keeper := keeperOf(t, b)
	var kept []gateway.Kept
	for i := range 4 {
		k := openKept(t, keeper, fmt.Sprintf("k_%d", i))
		mustSayIn(t, k, fmt.Sprintf("x:+word%d", i), "")
		kept = append(kept, k)
	}
	for _, g := range b.pools[0].serving {
		if g.sessions != 2 {
			t.Errorf("of four sessions, %d lie in one of two processes", g.sessions)
		}
	}
	for range 3 {
		for i, k := range kept {
			mustSayIn(t, k, "x:all", fmt.Sprintf("word%d", i))
		}
	}
	list, err := keeper.Sessions(t.Context())
	if err != nil || len(list) != 4 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

func TestSessionVerbsReachTheProcess(t *testing.T) {
	t.Parallel()
	b := start(t, patient(), bird(t, "sessions"))
	ctx := t.Context()
	one := openKept(t, keeperOf(t, b), "k_one")
	mustSayIn(t, one, "x:+a", "")
	two, err := one.Fork(ctx, "k_two")
	if err != nil {
		t.Fatal(err)
	}
	mustSayIn(t, two, "x:+b", "")
	mustSayIn(t, two, "x:all", "ab")
	mustSayIn(t, one, "x:all", "a")
	if err := errors.Join(one.Reset(ctx), one.Interrupt(ctx)); err != nil {
		t.Error(err)
	}
	mustSayIn(t, one, "x:all", "")
	openKept(t, keeperOf(t, b), "k_sick")
	if _, err := one.Fork(ctx, "k_four"); !errors.Is(err, gateway.ErrSessionsFull) {
		t.Errorf("one more than there is room for: %v", err)
	}
	sick := openKeptAgain(b, "k_sick")
	if err := sick.Interrupt(ctx); !errors.Is(err, gateway.ErrPluginFault) {
		t.Errorf("a verb that fails: %v", err)
	}
	if err := one.Close(ctx); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"reset": one.Reset(ctx), "interrupt": one.Interrupt(ctx)} {
		if !errors.Is(err, executor.ErrSessionLost) {
			t.Errorf("%s after closing: %v", what, err)
		}
	}
	if _, res, err := sayIn(ctx, one, "x:all"); err != nil || res.Status != executor.StatusSessionLost {
		t.Errorf("a cell after closing: %+v, %v", res, err)
	}
	mustSayIn(t, two, "x:all", "ab")
	if b.state() != Healthy || b.Status()[0].Restarts != 0 {
		t.Errorf("the process did not live through it: %+v", b.Status())
	}
}

// openKeptAgain is another handle on a session of the only process.
func openKeptAgain(b *bench, id string) gateway.Kept {
	p := b.pools[0]
	p.mu.Lock()
	g := p.serving[0]
	p.mu.Unlock()
	return p.newKept(g, id)
}

func TestSessionIsLostWithItsProcess(t *testing.T) {
	t.Parallel()
	b := start(t, patient(), bird(t, "sessions"))
	kept := openKept(t, keeperOf(t, b), "k_one")
	mustSayIn(t, kept, "x:+a", "")
	if _, _, err := sayIn(t.Context(), kept, "x:crash"); !errors.Is(err, gateway.ErrPluginDied) {
		t.Errorf("the cell that took the process down: %v", err)
	}
	select {
	case <-kept.Gone():
	case <-time.After(10 * time.Second):
		t.Fatal("the session is not told gone")
	}
	for what, err := range map[string]error{
		"reset": kept.Reset(t.Context()), "close": kept.Close(t.Context()), "cell": cellError(t, kept), "fork": forkError(t, kept),
	} {
		if !errors.Is(err, executor.ErrSessionLost) {
			t.Errorf("%s: %v", what, err)
		}
	}
	until(t, "the next process", func() bool { return b.state() == Healthy && b.Status()[0].Restarts == 1 })
	mustSayIn(t, openKept(t, keeperOf(t, b), "k_one"), "x:all", "")
}

func cellError(t *testing.T, kept gateway.Kept) error {
	t.Helper()
	_, _, err := sayIn(t.Context(), kept, "x:all")
	return err
}

func forkError(t *testing.T, kept gateway.Kept) error {
	t.Helper()
	_, err := kept.Fork(t.Context(), "k_two")
	return err
}

// A text that is refused for what it did leaves the session as it was.
func TestPoisonCostsNoSession(t *testing.T) {
	t.Parallel()
	b := start(t, patient(), bird(t, "sessions"))
	for i := range 2 {
		kept := openKept(t, keeperOf(t, b), "k_victim")
		if _, _, err := sayIn(t.Context(), kept, "x:crash"); !errors.Is(err, gateway.ErrPluginDied) {
			t.Fatalf("crash %d: %v", i, err)
		}
		until(t, "the next process", func() bool { return b.state() == Healthy && b.Status()[0].Restarts == i+1 })
	}
	kept := openKept(t, keeperOf(t, b), "k_one")
	mustSayIn(t, kept, "x:+a", "")
	if _, _, err := sayIn(t.Context(), kept, "x:crash"); !errors.Is(err, gateway.ErrPluginDied) || errors.Is(err, executor.ErrSessionLost) {
		t.Errorf("the refused text: %v", err)
	}
	mustSayIn(t, kept, "x:all", "a")
}

func TestSessionIsLostWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	b := start(t, patient(), bird(t, "sessions"))
	kept := openKept(t, keeperOf(t, b), "k_one")
	if err := unix.Kill(b.pid(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-kept.Gone()
	if err := cellError(t, kept); !errors.Is(err, executor.ErrSessionLost) {
		t.Errorf("a cell: %v", err)
	}
}

func TestPluginThatKeepsNoSessions(t *testing.T) {
	t.Parallel()
	b := start(t, patient(), bird(t, "parrot"))
	target, err := b.Find("parrot")
	if err != nil {
		t.Fatal(err)
	}
	keeper := target.(gateway.Keeper)
	if keeper.KeepsSessions() {
		t.Error("it says that it keeps sessions")
	}
	if _, err := keeper.OpenSession(t.Context(), executor.SessionOptions{ID: "k_1", Language: "parrot"}); !errors.Is(err, gateway.ErrUnsupported) {
		t.Errorf("open: %v", err)
	}
	mustSay(t, b, "x:still here", "still here")
}
