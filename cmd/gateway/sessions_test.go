package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// startKeeping starts the real binary with a plugin that keeps sessions.
func startKeeping(t *testing.T, flags ...string) *running {
	t.Helper()
	plugin, err := exec.LookPath("keeping")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "keeping.yaml")
	if err := os.WriteFile(config, []byte("plugins:\n  keeping: {command: set-by-flag, trust: built}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return startConfigured(t, config, append([]string{
		"--set", "plugins.keeping.command=" + plugin, "--policy-dir", filepath.Join(repository(t), "testdata", "policies-admit-all"),
	}, flags...)...)
}

// ask sends one request with the token of the tests.
func (r *running) ask(ctx context.Context, method, path string, body any) (a answer, err error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return a, err
	}
	request, err := http.NewRequestWithContext(ctx, method, r.url+path, bytes.NewReader(raw))
	if err != nil {
		return a, err
	}
	request.Header.Set("Authorization", "Bearer "+testToken)
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		return a, err
	}
	defer got.Body.Close()
	a.status = got.StatusCode
	if got.StatusCode != http.StatusNoContent {
		err = json.NewDecoder(got.Body).Decode(&a.body)
	}
	return a, err
}

func (r *running) mustAsk(t *testing.T, method, path string, body any) answer {
	t.Helper()
	a, err := r.ask(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func cellBody(session, code string) map[string]any {
	body := map[string]any{"name": "python", "arguments": map[string]string{"code": code}}
	if session != "" {
		body["session_id"] = session
	}
	return body
}

// cell demands a tool call's output and state.
func (r *running) cell(t *testing.T, session, code, output, state string) answer {
	t.Helper()
	a := r.mustAsk(t, http.MethodPost, "/v1/tools/call", cellBody(session, code))
	if a.status != http.StatusOK || !strings.HasPrefix(fmt.Sprint(a.body["output"]), output) || a.body["state"] != state {
		t.Fatalf("%q gave %d %v; want %q, %q", code, a.status, a.body, output, state)
	}
	return a
}

func (r *running) open(t *testing.T) string {
	t.Helper()
	a := r.mustAsk(t, http.MethodPost, "/v1/sessions", map[string]any{})
	id, ok := a.body["session_id"].(string)
	if a.status != http.StatusCreated || !ok {
		t.Fatalf("open: %d %v", a.status, a.body)
	}
	return id
}

func TestSessionsThroughTheWholeGateway(t *testing.T) {
	g := startKeeping(t, "--set", "sessions.idle=1m")
	first := g.cell(t, "", "add a", "None", "new")
	g.cell(t, "", "all _", "a", "kept")
	id := g.open(t)
	g.cell(t, id, "add b", "None", "kept")
	fork := g.mustAsk(t, http.MethodPost, "/v1/sessions/"+id+"/fork", map[string]any{})
	g.cell(t, fork.body["session_id"].(string), "all _", "b", "kept")

	// A cell takes the process down: the answer says so, and all sessions are gone.
	g.cell(t, id, "die _", "SessionLost: ", "lost")
	g.cell(t, id, "all _", "None", "new")
	g.cell(t, "", "all _", "None", "lost")

	// The process is killed between two cells.
	g.cell(t, id, "add c", "None", "kept")
	for _, p := range named(descendants(t, g.process.Pid), "keeping") {
		kill(t, p.pid)
	}
	g.cell(t, id, "all _", "None", "lost")
	list := g.mustAsk(t, http.MethodGet, "/v1/sessions", nil)
	if sessions, ok := list.body["sessions"].([]any); !ok || len(sessions) != 3 {
		t.Errorf("sessions: %v", list.body)
	}
	if a := g.mustAsk(t, http.MethodDelete, "/v1/sessions/"+id, nil); a.status != http.StatusNoContent {
		t.Errorf("delete: %d", a.status)
	}
	if a := g.mustAsk(t, http.MethodPost, "/v1/tools/call", cellBody(id, "all _")); a.status != http.StatusNotFound {
		t.Errorf("a cell after it: %d %v", a.status, a.body)
	}
	if strings.Contains(g.log.String(), first.body["session_id"].(string)) {
		t.Error("a session's id stands in the log")
	}
}

func TestCellsEndWithTheirCallers(t *testing.T) {
	g := startKeeping(t)
	id := g.open(t)
	g.cell(t, id, "add a", "None", "kept")

	// The caller hangs up.
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+"/v1/run", strings.NewReader(`{"code":"hang _","session_id":"`+id+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for in := bufio.NewScanner(res.Body); in.Scan() && !strings.Contains(in.Text(), "hanging"); {
	}
	begin := time.Now()
	leave()
	g.cell(t, id, "all _", "a", "kept")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the session was free after %v", took)
	}

	// The caller interrupts.
	done := make(chan answer, 1)
	go func() {
		a, err := g.ask(context.WithoutCancel(t.Context()), http.MethodPost, "/v1/tools/call", cellBody(id, "hang _"))
		if err != nil {
			t.Error(err)
		}
		done <- a
	}()
	for interrupted := false; !interrupted; {
		a := g.mustAsk(t, http.MethodPost, "/v1/sessions/"+id+"/interrupt", map[string]any{})
		interrupted = a.body["interrupted"] == true
	}
	if a := <-done; a.body["ok"] != false || a.body["state"] == "lost" {
		t.Errorf("an interrupted cell: %d %v", a.status, a.body)
	}
	g.cell(t, id, "all _", "a", "kept")
}

// TestManySessionsWithDeaths: whatever happens to the process, no answer comes
// from another session, and every loss is told.
func TestManySessionsWithDeaths(t *testing.T) {
	const sessions, rounds, deaths, deathRound = 12, 25, 3, 8
	g := startKeeping(t, "--set", "sessions.max=64", "--set", "sessions.max_per_token=64")
	var all sync.WaitGroup
	for n := range sessions {
		id := g.open(t)
		all.Go(func() {
			dice := rand.New(rand.NewPCG(7, uint64(n)))
			own, want := fmt.Sprintf("<%d>", n), ""
			for round := range rounds {
				code := "add " + own
				switch {
				case round == deathRound && n < deaths:
					code = "die " + own // another text each time: one that kills twice is refused
				case dice.IntN(4) == 0:
					code = "all _"
				}
				a, err := g.ask(context.WithoutCancel(t.Context()), http.MethodPost, "/v1/tools/call", cellBody(id, code))
				if err != nil {
					t.Error(err)
					return
				}
				if a.status == http.StatusServiceUnavailable {
					time.Sleep(20 * time.Millisecond)
					continue
				}
				want = g.judge(t, a, code, own, want)
			}
		})
	}
	all.Wait()
}

// judge holds one answer against what the session holds, and gives what it holds
// after it.
func (r *running) judge(t *testing.T, a answer, code, own, want string) string {
	t.Helper()
	output := fmt.Sprint(a.body["output"])
	if a.status != http.StatusOK {
		t.Errorf("%q: %d %v", code, a.status, a.body)
		return want
	}
	if a.body["state"] == "lost" || a.body["state"] == "new" {
		want = ""
	}
	switch {
	case a.body["ok"] != true:
		return want
	case code == "add "+own:
		return want + own
	case want == "" && output != "None", want != "" && output != want:
		t.Errorf("the session of %s gave %q, want %q (%v)", own, output, want, a.body["state"])
	}
	return want
}
