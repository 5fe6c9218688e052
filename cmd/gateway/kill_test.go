package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestKilledPlugin kills python-exec in the middle of 50 requests: each of them
// is answered with 200, or with 503 and Retry-After, the next one works, and
// nothing of the dead plugin is left over.
func TestKilledPlugin(t *testing.T) {
	g := startGateway(t)
	before := descendants(t, g.process.Pid)
	victim := named(before, "python-exec")
	if len(victim) != 1 {
		t.Fatalf("%d processes are called python-exec, want 1: %v", len(victim), before)
	}
	const clients = 50
	answers := make([]answer, clients)
	var all, half sync.WaitGroup
	half.Add(clients / 5)
	for i := range clients {
		all.Go(func() {
			answers[i] = g.solve(t, fmt.Sprintf("import sympy as sp\nx = sp.symbols('x')\nprint(sp.factor(x**%d - 1))", 20+i))
			if i < clients/5 {
				half.Done()
			}
		})
	}
	half.Wait()
	kill(t, victim[0].pid)
	all.Wait()
	counts := map[int]int{}
	for i, a := range answers {
		counts[a.status]++
		switch {
		case a.status == http.StatusOK && a.body["status"] == "completed":
		case a.status == http.StatusServiceUnavailable && a.retryAfter != "":
		default:
			t.Errorf("client %d got %d %v (Retry-After %q)", i, a.status, a.body, a.retryAfter)
		}
	}
	t.Logf("answers by status: %v", counts)
	if a := g.solveUntilUp(t); a.body["stdout"] != "12\n" {
		t.Errorf("the next request got %d %v", a.status, a.body)
	}
	for _, p := range subtree(before, victim[0].pid) {
		waitGone(t, p, leftoverLimit)
	}
}

// TestKilledGateway kills the gateway with SIGKILL while a program runs: no
// plugin, zygote or child is alive one second later.
func TestKilledGateway(t *testing.T) {
	g := startGateway(t)
	go g.solve(t, "while True: pass")
	g.waitBusy(t)
	running := descendants(t, g.process.Pid)
	if len(named(running, "python-exec")) != 1 || len(named(running, "calc")) != 1 || len(running) < 4 {
		t.Fatalf("that is not a plugin, a zygote and children: %v", running)
	}
	kill(t, g.process.Pid)
	begin := time.Now()
	for _, p := range running {
		waitGone(t, p, leftoverLimit)
	}
	t.Logf("%d processes were gone %v after the gateway", len(running), time.Since(begin).Round(time.Millisecond))
}

// leftoverLimit is what the product promises.
const leftoverLimit = time.Second

// running is a gateway process of a test.
type running struct {
	process *os.Process
	url     string
	log     *logText
}

// logText is a log that is read while it is written.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *logText) Write(chunk []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(chunk)
}

// String is what has been written so far.
func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// startGateway starts the real binary on a free port and waits until it is
// ready. It is killed when the test ends, if it still lives.
func startGateway(t *testing.T, flags ...string) *running {
	t.Helper()
	return startConfigured(t, filepath.Join(repository(t), "config.yaml"), flags...)
}

// startConfigured is startGateway with another configuration.
func startConfigured(t *testing.T, config string, flags ...string) *running {
	t.Helper()
	return startCommand(t, []string{"gateway"}, config, flags...)
}

// startCommand is startConfigured by another command.
func startCommand(t *testing.T, command []string, config string, flags ...string) *running {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := &running{url: "http://" + address, log: &logText{}}
	args := slices.Concat(command[1:], []string{"serve", "--config", config, "--listen", address}, flags)
	cmd := exec.Command(command[0], args...)
	cmd.Env = append(os.Environ(), "SOLVER_TOKEN="+testToken)
	cmd.Stderr = r.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.process = cmd.Process
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(over)
	}()
	ended := func() bool {
		select {
		case <-over:
			return true
		default:
			return false
		}
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone already
		<-over
		if t.Failed() {
			t.Logf("the gateway's log:\n%s", r.log)
		}
	})
	if err := untilReady(r.url, ended); err != nil {
		t.Fatal(err)
	}
	return r
}

type answer struct {
	status     int
	retryAfter string
	body       map[string]any
}

// solve asks for one program; status 0 is a request without an answer.
func (r *running) solve(t *testing.T, code string) (a answer) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"code": code, "timeout": 60})
	if err != nil {
		t.Error(err)
		return a
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/solve", bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return a
	}
	request.Header.Set("Authorization", "Bearer "+testToken)
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		return a // the gateway is killed by the test, or the status 0 fails it
	}
	defer got.Body.Close()
	a.status, a.retryAfter = got.StatusCode, got.Header.Get("Retry-After")
	if err := json.NewDecoder(got.Body).Decode(&a.body); err != nil {
		a.status = 0
	}
	return a
}

// solveUntilUp repeats a request as Retry-After asks for.
func (r *running) solveUntilUp(t *testing.T) (a answer) {
	t.Helper()
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if a = r.solve(t, "import sympy as sp\nprint(sp.factor(12))"); a.status != http.StatusServiceUnavailable {
			return a
		}
	}
	return a
}

// proc is one process of the system, known by its start too, since numbers are
// used again.
type proc struct {
	pid, parent int
	name        string
	state       string
	start       string
}

func (p proc) String() string { return fmt.Sprintf("%s[%d]", p.name, p.pid) }

// processes lists all processes of the system.
func processes(t *testing.T) []proc {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var list []proc
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := readProc(pid); ok {
				list = append(list, p)
			}
		}
	}
	return list
}

// readProc reads proc(5)'s stat; not ok when there is no such process.
func readProc(pid int) (p proc, ok bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	text := string(raw)
	open, shut := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	fields := strings.Fields(text[shut+1:])
	parent, err := strconv.Atoi(fields[1])
	return proc{pid: pid, parent: parent, name: text[open+1 : shut], state: fields[0], start: fields[19]}, err == nil
}

func descendants(t *testing.T, pid int) []proc {
	t.Helper()
	return subtree(processes(t), pid)[1:]
}

// subtree is the process pid, which comes first, and all below it.
func subtree(all []proc, pid int) (list []proc) {
	inside := map[int]bool{pid: true}
	list = append(list, proc{pid: pid})
	for _, p := range all {
		if p.pid == pid {
			list[0] = p
		}
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if inside[p.parent] && !inside[p.pid] {
				inside[p.pid], grown = true, true
				list = append(list, p)
			}
		}
	}
	return list
}

func named(all []proc, name string) (list []proc) {
	for _, p := range all {
		if p.name == name {
			list = append(list, p)
		}
	}
	return list
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

// waitGone waits until a process is gone; one that is dead and not yet reaped
// counts as gone.
func waitGone(t *testing.T, p proc, limit time.Duration) {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(5 * time.Millisecond) {
		now, ok := readProc(p.pid)
		if !ok || now.start != p.start || now.state == "Z" || now.state == "X" {
			return
		}
		if time.Now().After(end) {
			t.Errorf("%v is still alive (%s) after %v", p, now.state, limit)
			return
		}
	}
}

// waitBusy waits until a program uses the processor below the gateway.
func (r *running) waitBusy(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(startLimit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, p := range descendants(t, r.process.Pid) {
			if p.state == "R" && p.name != "python-exec" && p.name != "calc" {
				return
			}
		}
	}
	t.Fatal("no program ever ran")
}
