package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/front/rest"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// What net/http refuses by itself is answered as everything else is.
func TestUnreadableRequestsAreAnsweredInJSON(t *testing.T) {
	for name, row := range map[string]struct {
		request string
		status  int
	}{
		"no HTTP":             {"hello\r\n\r\n", 400},
		"bad header":          {head("/solve", token, "bad header: x", "Content-Length: 0"), 400},
		"no host":             {"GET / HTTP/1.1\r\n\r\n", 400},
		"two lengths":         {head("/solve", token, "Content-Length: 5", "Content-Length: 6") + "hello", 400},
		"negative length":     {head("/solve", token, "Content-Length: -5"), 400},
		"unknown coding":      {head("/solve", token, "Transfer-Encoding: gzip"), 501},
		"unknown version":     {"GET / HTTP/3.7\r\nHost: x\r\n\r\n", 505},
		"unknown expectation": {head("/solve", token, "Expect: tea", "Content-Length: 5"), 417},
		"large head":          {head("/solve", token, "X: "+strings.Repeat("a", 64<<10)), 431},
	} {
		t.Run(name, func(t *testing.T) {
			address, _ := newLab(t).serve()
			c := dial(t, address)
			_, _ = io.WriteString(c, row.request)
			res, body := answer(t, c)
			var p map[string]any
			if err := json.Unmarshal([]byte(body), &p); err != nil {
				t.Fatalf("%s %q: %v", res.Status, body, err)
			}
			if res.StatusCode != row.status || p["request_id"] != res.Header.Get("X-Request-Id") || p["request_id"] == "" || p["detail"] == "" {
				t.Errorf("got %s %v", res.Status, p)
			}
			if res.Header.Get("Content-Type") != "application/json" || !res.Close {
				t.Errorf("header %v", res.Header)
			}
		})
	}
}

// A program's output that looks like an answer of net/http passes untouched,
// wherever it falls.
func TestOutputThatLooksLikeAnAnswerPasses(t *testing.T) {
	piece := "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
	for _, text := range []string{piece, strings.Repeat(piece, 2000), strings.Repeat("x", 4096) + piece} {
		l := newLab(t)
		l.calc.submit = func(context.Context, executor.Source) (gateway.Submission, error) {
			return prints(text, executor.Result{Status: executor.StatusOK}), nil
		}
		address, _ := l.serve()
		c := dial(t, address)
		const body = `{"name":"calc","arguments":{"code":"1"}}`
		_, _ = io.WriteString(c, head("/v1/tools/call", token, "Accept: text/plain", fmt.Sprintf("Content-Length: %d", len(body)))+body)
		if res, got := answer(t, c); res.StatusCode != http.StatusOK || got != text {
			t.Errorf("got %s and %d bytes, want %d", res.Status, len(got), len(text))
		}
	}
}

func TestUnreadableAfterAGoodRequest(t *testing.T) {
	address, _ := newLab(t).serve()
	c := dial(t, address)
	in := bufio.NewReader(c)
	_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", res, err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_, _ = io.WriteString(c, "hello\r\n\r\n")
	res, err = http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusBadRequest || res.Header.Get("X-Request-Id") == "" {
		t.Errorf("got %v, %v", res, err)
	}
}

func TestASlowBodyIsCut(t *testing.T) {
	l := newLab(t)
	l.front.Limits.BodyTime = 50 * time.Millisecond
	l.handler = rest.New(l.front)
	address, _ := l.serve()
	c := dial(t, address)
	_, _ = io.WriteString(c, head("/solve", token, "Content-Length: 100")+`{"code`)
	res, body := answer(t, c)
	if res.StatusCode != http.StatusBadRequest || !res.Close || !strings.Contains(body, "in time") {
		t.Errorf("got %s %s", res.Status, body)
	}
}

// The time for the body must not end the run that comes after it.
func TestARunMayTakeLongerThanTheBodysTime(t *testing.T) {
	const bodyTime = 30 * time.Millisecond
	l := newLab(t)
	l.front.Limits.BodyTime = bodyTime
	l.handler = rest.New(l.front)
	l.python.submit = func(context.Context, executor.Source) (gateway.Submission, error) {
		return &submission{run: func(ctx context.Context, _ executor.Grant, _ func(executor.Stream, []byte)) (executor.Result, error) {
			select {
			case <-ctx.Done():
				return executor.Result{Status: executor.StatusCancelled}, nil
			case <-time.After(10 * bodyTime): // what is tested is that nothing happens meanwhile
				return executor.Result{Status: executor.StatusOK}, nil
			}
		}}, nil
	}
	address, _ := l.serve()
	c := dial(t, address)
	const body = `{"code":"x"}`
	_, _ = io.WriteString(c, head("/solve", token, fmt.Sprintf("Content-Length: %d", len(body)))+body)
	if res, got := answer(t, c); res.StatusCode != http.StatusOK || !strings.Contains(got, `"completed"`) {
		t.Errorf("got %s %s", res.Status, got)
	}
}

func TestServersTimesFitTheLimits(t *testing.T) {
	c := rest.ServerConfig{BodyTime: time.Second, WallCeiling: 120 * time.Second, QueueWait: 10 * time.Second, ParseWall: 5 * time.Second, Log: slog.Default()}
	srv := rest.ServerFor(http.NotFoundHandler(), c)
	if least := c.BodyTime + c.WallCeiling + c.QueueWait + c.ParseWall; srv.WriteTimeout <= least {
		t.Errorf("answers are cut after %v, a request may take %v", srv.WriteTimeout, least)
	}
	if srv.ReadHeaderTimeout <= 0 || srv.IdleTimeout <= 0 || srv.ReadTimeout != 0 || srv.MaxHeaderBytes > 64<<10 {
		t.Errorf("got %+v", srv)
	}
}

// A cancelled run whose caller is still there gets an answer that says so.
func TestCancelledByUsIs503(t *testing.T) {
	l := newLab(t)
	l.ends("", executor.Result{Status: executor.StatusCancelled})
	w := l.do(call{path: "/solve", token: token, body: `{"code":"x"}`})
	if w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if line := l.logLine("request"); line["status"] != float64(503) {
		t.Errorf("logged as %v", line)
	}
}
