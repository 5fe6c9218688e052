package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// patience bounds what is waited for; a passing test never waits this long.
const patience = 20 * time.Second

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

func answer(t *testing.T, c net.Conn) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("read the answer: %v", err)
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("read the answer's body: %v", err)
	}
	return res, string(raw)
}

func head(path, token string, more ...string) string {
	lines := []string{"POST " + path + " HTTP/1.1", "Host: test"}
	if token != "" {
		lines = append(lines, "Authorization: Bearer "+token)
	}
	return strings.Join(append(lines, more...), "\r\n") + "\r\n\r\n"
}

func TestNo100WithoutAToken(t *testing.T) {
	address, read := newLab(t).serve()
	for _, sent := range []string{"", wrongToken} {
		request := head("/solve", sent, "Content-Length: 52428800", "Expect: 100-continue")
		before := read.value()
		c := dial(t, address)
		_, _ = io.WriteString(c, request)
		res, body := answer(t, c)
		if res.StatusCode != http.StatusUnauthorized || !strings.Contains(body, "request_id") {
			t.Errorf("token %q: first answer %s %s", sent, res.Status, body)
		}
		if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("the connection stays open: %d, %v", n, err)
		}
		if got := read.value() - before; got != int64(len(request)) {
			t.Errorf("read %d bytes of a request of %d", got, len(request))
		}
	}
}

func Test100WithAToken(t *testing.T) {
	address, _ := newLab(t).serve()
	c := dial(t, address)
	const body = `{"code":"hi"}`
	_, _ = io.WriteString(c, head("/solve", token, fmt.Sprintf("Content-Length: %d", len(body)), "Expect: 100-continue"))
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	_, _ = in.ReadString('\n')
	_, _ = io.WriteString(c, body)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", res, err)
	}
}

// A gigabyte is on offer; what the server takes from the socket is what came
// along with the head, and no more.
func TestBodyWithoutATokenIsNotRead(t *testing.T) {
	for name, row := range map[string]struct {
		token, framing string
		status         int
	}{
		"chunked, no token":        {"", "Transfer-Encoding: chunked", 401},
		"chunked, wrong token":     {wrongToken, "Transfer-Encoding: chunked", 401},
		"counted, no token":        {"", "Content-Length: 1073741824", 401},
		"counted, no scope":        {solveOnly, "Content-Length: 1073741824", 403},
		"counted, too large":       {token, "Content-Length: 1073741824", 413},
		"counted, no such route":   {token, "Content-Length: 1073741824", 404},
		"small but not to be read": {"", "Content-Length: 100000", 401},
	} {
		t.Run(name, func(t *testing.T) {
			address, read := newLab(t).serve()
			path := map[int]string{401: "/solve", 403: "/v1/run", 413: "/solve", 404: "/nosuch"}[row.status]
			c := dial(t, address)
			_, _ = io.WriteString(c, head(path, row.token, row.framing))
			sent := make(chan int64, 1)
			go func() { sent <- pour(c, 1<<30, strings.HasPrefix(row.framing, "Transfer")) }()
			res, _ := answer(t, c)
			if res.StatusCode != row.status || !res.Close {
				t.Errorf("got %s, close %v", res.Status, res.Close)
			}
			if n := <-sent; n >= 1<<30 {
				t.Errorf("all %d bytes were taken", n)
			}
			if n := read.value(); n > 8<<10 {
				t.Errorf("the server read %d bytes", n)
			}
		})
	}
}

// pour sends up to size bytes until the other side closes.
func pour(c net.Conn, size int64, chunked bool) (sent int64) {
	piece := []byte(strings.Repeat("a", 64<<10))
	if chunked {
		piece = []byte(fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece))
	}
	for sent < size {
		n, err := c.Write(piece)
		sent += int64(n)
		if err != nil {
			return sent
		}
	}
	return sent
}

func TestChunkedBodyOverTheLimitIsCut(t *testing.T) {
	address, read := newLab(t).serve()
	c := dial(t, address)
	_, _ = io.WriteString(c, head("/solve", token, "Transfer-Encoding: chunked"))
	go pour(c, 1<<30, true)
	res, _ := answer(t, c)
	if res.StatusCode != http.StatusRequestEntityTooLarge || !res.Close {
		t.Errorf("got %s, close %v", res.Status, res.Close)
	}
	if n := read.value(); n > 1<<20 {
		t.Errorf("the server read %d bytes", n)
	}
}

func TestBodyThatEndsEarly(t *testing.T) {
	address, _ := newLab(t).serve()
	c := dial(t, address)
	_, _ = io.WriteString(c, head("/solve", token, "Content-Length: 100")+`{"code":`)
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if res, body := answer(t, c); res.StatusCode != http.StatusBadRequest || !strings.Contains(body, "whole") {
		t.Errorf("got %s %s", res.Status, body)
	}
}

// hanging makes python programs run until their caller goes away; started and
// freed say that one runs and that its child is free again.
func (l *lab) hanging() (started, freed chan struct{}) {
	started, freed = make(chan struct{}, 9), make(chan struct{}, 9)
	l.python.submit = func(context.Context, executor.Source) (gateway.Submission, error) {
		return &submission{
			freed: func() { freed <- struct{}{} },
			run: func(ctx context.Context, _ executor.Grant, _ func(executor.Stream, []byte)) (executor.Result, error) {
				started <- struct{}{}
				<-ctx.Done()
				return executor.Result{Status: executor.StatusCancelled}, nil
			},
		}, nil
	}
	return started, freed
}

func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
	}
}

func TestACallerWhoLeavesFreesSlotAndChild(t *testing.T) {
	l := newLab(t, func(c *gateway.Config) { c.Limits.Concurrency = 1 })
	started, freed := l.hanging()
	address, _ := l.serve()
	const body = `{"code":"while True: pass"}`
	for range 3 {
		c := dial(t, address)
		_, _ = io.WriteString(c, head("/solve", token, fmt.Sprintf("Content-Length: %d", len(body)))+body)
		await(t, started, "the run's start")
		_ = c.Close()
		await(t, freed, "the run's end")
	}
	l.close()
	for _, raw := range strings.Split(strings.TrimSpace(l.journal.String()), "\n") {
		if !strings.Contains(raw, `"status":"cancelled"`) {
			t.Errorf("journal: %s", raw)
		}
	}
	await(t, l.logged(`"status":499`, 3), "the log's three lines with 499")
}

// logged is closed once the log holds part so many times.
func (l *lab) logged(part string, times int) <-chan struct{} {
	found := make(chan struct{})
	go func() {
		defer close(found)
		for end := time.Now().Add(patience); time.Now().Before(end) && strings.Count(l.log.String(), part) < times; {
			time.Sleep(time.Millisecond)
		}
		if strings.Count(l.log.String(), part) < times {
			l.t.Errorf("the log lacks %s", part)
		}
	}()
	return found
}

func TestOneConnectionTakesManyRequests(t *testing.T) {
	address, _ := newLab(t).serve()
	c := dial(t, address)
	in := bufio.NewReader(c)
	for i := range 5 {
		body := fmt.Sprintf(`{"code":"%d"}`, i)
		_, _ = io.WriteString(c, head("/solve", token, fmt.Sprintf("Content-Length: %d", len(body)))+body)
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		var got struct{ Stdout string }
		if err := json.NewDecoder(res.Body).Decode(&got); err != nil || got.Stdout != fmt.Sprintf("%d\n", i) || res.Close {
			t.Errorf("request %d: %+v, %v", i, got, err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
	}
}

func TestBusyIs503AndHealthIsQuick(t *testing.T) {
	l := newLab(t, func(c *gateway.Config) {
		c.Limits.Concurrency, c.Limits.Queue, c.Limits.QueueWait = 1, 1, time.Millisecond
	})
	started, freed := l.hanging()
	address, _ := l.serve()
	const body = `{"code":"x"}`
	c := dial(t, address)
	_, _ = io.WriteString(c, head("/solve", token, fmt.Sprintf("Content-Length: %d", len(body)))+body)
	await(t, started, "the run's start")
	if w := l.do(call{path: "/solve", token: token, body: body}); w.Code != 503 || w.Header().Get("Retry-After") != "1" || !strings.Contains(detail(w), "busy") {
		t.Errorf("second request: %d %s", w.Code, w.Body)
	}
	if w := l.do(call{method: "GET", path: "/healthz"}); w.Code != 200 {
		t.Errorf("health: %d", w.Code)
	}
	_ = c.Close()
	await(t, freed, "the run's end")
}
