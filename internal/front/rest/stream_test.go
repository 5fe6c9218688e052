package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// event is one server-sent event.
type event struct{ name, data string }

func readEvents(r io.Reader, each func(event) bool) {
	in := bufio.NewScanner(r)
	var e event
	for in.Scan() {
		switch line := in.Text(); {
		case line == "" && e.name != "":
			if !each(e) {
				return
			}
			e = event{}
		case strings.HasPrefix(line, "event: "):
			e.name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			e.data = line[len("data: "):]
		case strings.HasPrefix(line, ":"):
			if !each(event{name: "comment", data: line}) {
				return
			}
		}
	}
}

func stream(t *testing.T, address, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/run", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func TestEventsOfARun(t *testing.T) {
	l, _ := newKeepingLab(t)
	l.serveNotebookOutput("é", "x")
	address, _ := l.serve()
	res := stream(t, address, `{"code":"x"}`)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" || res.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("%s %v", res.Status, res.Header)
	}
	var names []string
	var text, result string
	readEvents(res.Body, func(e event) bool {
		if n := len(names); n == 0 || names[n-1] != e.name {
			names = append(names, e.name)
		}
		var out struct{ Text string }
		switch e.name {
		case "stdout":
			if err := json.Unmarshal([]byte(e.data), &out); err != nil {
				t.Error(err)
			}
			text += out.Text
		case "result":
			result = e.data
		}
		return true
	})
	if !slices.Equal(names, []string{"decision", "stdout", "stderr", "result"}) || text != "éx" {
		t.Errorf("events %q, text %q", names, text)
	}
	if !strings.Contains(result, `"status":"completed"`) || !strings.Contains(result, `"stdout":"éx"`) {
		t.Errorf("result %s", result)
	}
}

// serveNotebookOutput has a run without a session print parts byte by byte.
func (l *lab) serveNotebookOutput(parts ...string) {
	l.notebook().submit = func(context.Context, executor.Source) (gateway.Submission, error) {
		return &submission{run: func(_ context.Context, _ executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
			for _, b := range []byte(strings.Join(parts, "")) {
				out(executor.Stdout, []byte{b})
			}
			out(executor.Stderr, []byte("\xff"))
			return executor.Result{Status: executor.StatusOK}, nil
		}}, nil
	}
}

func (l *lab) notebook() *target {
	found, err := l.front.Gateway.Find("python")
	if err != nil {
		l.t.Fatal(err)
	}
	return &found.(*notebook).target
}

func TestEventsOfARefusedRunAndOfAFault(t *testing.T) {
	l, _ := newKeepingLab(t)
	address, _ := l.serve()
	var names []string
	note := func(e event) bool { names = append(names, e.name); return true }
	readEvents(stream(t, address, `{"code":"forbidden"}`).Body, note)
	if !slices.Equal(names, []string{"decision", "result"}) {
		t.Errorf("a refused run: %q", names)
	}
	l.notebook().submit = func(context.Context, executor.Source) (gateway.Submission, error) { return nil, gateway.ErrPluginDown }
	if res := stream(t, address, `{"code":"x"}`); res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Content-Type") != "application/json" {
		t.Errorf("a fault before the first event: %s %v", res.Status, res.Header)
	}
	seen := make(chan struct{}, 1)
	l.notebook().submit = func(context.Context, executor.Source) (gateway.Submission, error) {
		return &submission{run: func(context.Context, executor.Grant, func(executor.Stream, []byte)) (executor.Result, error) {
			<-seen
			return executor.Result{}, gateway.ErrPluginDied
		}}, nil
	}
	names = nil
	var last string
	readEvents(stream(t, address, `{"code":"x"}`).Body, func(e event) bool {
		if e.name == "decision" {
			seen <- struct{}{}
		}
		last = e.data
		return note(e)
	})
	if !slices.Equal(names, []string{"decision", "error"}) || !strings.Contains(last, `"status":503`) || !strings.Contains(last, "request_id") {
		t.Errorf("a fault after it: %q, %s", names, last)
	}
}

func TestStreamIsKeptAliveAndEndsWithItsReader(t *testing.T) {
	l, n := newKeepingLab(t)
	l.front.KeepAlive = 5 * time.Millisecond
	l.rebuild()
	s := read[sessionText](t, l.session("POST", "", ""), 201)
	address, _ := l.serve()
	res := stream(t, address, `{"code":"wait","session_id":"`+s.ID+`"}`)
	comments := 0
	readEvents(res.Body, func(e event) bool {
		if e.name == "comment" {
			comments++
		}
		return comments < 3
	})
	if comments < 3 {
		t.Errorf("%d comments", comments)
	}
	_ = res.Body.Close()
	await(t, n.stopped, "the run's end")
	await(t, l.logged(`"status":499`, 1), "the log's line with 499")
	if o := observe(t, l.do(toolCall("python", "all", `,"session_id":"`+s.ID+`"`))); !o.OK {
		t.Errorf("the next cell: %+v", o)
	}
}
