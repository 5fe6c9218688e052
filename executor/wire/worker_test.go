package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// counting is an executor that keeps what a worker must not: a count.
type counting struct{ n atomic.Int64 }

// Describe implements executor.Executor.
func (*counting) Describe() executor.Description {
	return executor.Description{
		Name: "counting", Version: "1.0.0", Capacity: executor.Capacity{MaxConcurrent: 2},
		Languages: []executor.Language{{ID: "words", Version: "1", TreeSchema: "words/1", Schema: []byte(`{"type":"object"}`)}},
	}
}

// Configure implements executor.Configurer.
func (c *counting) Configure(_ context.Context, cfg executor.Config) ([]string, error) {
	if string(cfg.JSON) != "{}" {
		return nil, errors.New("not these settings")
	}
	c.n.Store(100)
	return nil, nil
}

// Parse implements executor.Executor.
func (c *counting) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	word := string(src.Code)
	if word == "wrong" {
		return nil, &executor.CompileError{Problem: executor.Problem{Type: "SyntaxError", Message: "wrong", Line: 1}}
	}
	return &executor.Prog{Doc: executor.Tree{Schema: "words/1", JSON: []byte(`{}`)}, Do: func(ctx context.Context, _ executor.Grant, out executor.Output) (executor.Result, error) {
		switch word {
		case "count":
			fmt.Fprint(out.Stdout(), c.n.Add(1))
			fmt.Fprint(out.Stderr(), "counted")
			return executor.Result{Value: "v", HasValue: true}, out.Artifact("text/plain", "a", []byte("b"))
		case "env":
			fmt.Fprint(out.Stdout(), strings.Join(os.Environ(), " "))
		case "deaf":
			for {
				c.n.Add(1)
			}
		case "eat":
			var all [][]byte
			for ctx.Err() == nil {
				all = append(all, []byte(strings.Repeat("x", 1<<20)))
			}
			fmt.Fprint(out.Stdout(), len(all))
		case "die":
			os.Exit(3)
		case "flood":
			for ctx.Err() == nil {
				fmt.Fprint(out.Stdout(), strings.Repeat("x", 1<<10))
			}
			return executor.Result{}, ctx.Err()
		}
		return executor.Result{}, nil
	}}, nil
}

// working serves counting in workers.
func working(t *testing.T) *Client {
	t.Helper()
	w := newWorkers(&counting{})
	p, err := ServeInProcess(&configuredWorkers{workers: w, own: &counting{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		w.end()
	})
	if _, err := p.Client.Describe(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Client.Configure(t.Context(), executor.Config{JSON: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	return p.Client
}

func work(t *testing.T, c *Client, word string, l executor.Limits) (executor.Result, string) {
	t.Helper()
	sub, err := c.Submit(t.Context(), executor.Source{ID: "w", Language: "words", Code: []byte(word), ParseLimits: executor.Limits{Wall: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if sub.Ended() != nil {
		return *sub.Ended(), ""
	}
	var out strings.Builder
	res, err := sub.Run(t.Context(), executor.Grant{Limits: l}, func(_ executor.Stream, chunk []byte) { out.Write(chunk) })
	if err != nil {
		t.Fatal(err)
	}
	return res, out.String()
}

func TestWorkersForgetAndCarryAll(t *testing.T) {
	c := working(t)
	for range 3 {
		res, out := work(t, c, "count", executor.Limits{Wall: time.Minute})
		if out != "101counted" || res.Status != executor.StatusOK || res.Value != "v" || len(res.Artifacts) != 1 || res.StdoutBytes != 3 ||
			res.Usage.CPU <= 0 || res.Usage.MaxRSSBytes < 1<<20 {
			t.Errorf("printed %q, %+v", out, res)
		}
	}
	if res, _ := work(t, c, "wrong", executor.Limits{}); res.Status != executor.StatusCompileError || res.Problem.Line != 1 {
		t.Errorf("%+v", res)
	}
	if _, out := work(t, c, "env", executor.Limits{}); strings.Contains(out, "PATH=") || strings.Contains(out, "GATEWAY_EXECUTOR_PLUGIN") {
		t.Errorf("a worker sees %q", out)
	}
}

func TestWorkersAreEndedAtTheirLimits(t *testing.T) {
	c := working(t)
	for word, want := range map[string]struct {
		limits executor.Limits
		status executor.Status
	}{
		"deaf":  {executor.Limits{Wall: 200 * time.Millisecond}, executor.StatusWallLimit},
		"eat":   {executor.Limits{Wall: time.Minute, MemoryBytes: 64 << 20}, executor.StatusMemoryLimit},
		"flood": {executor.Limits{Wall: time.Minute, StdoutBytes: 1000, OutputCeilingBytes: 1 << 20}, executor.StatusOutputLimit},
		"die":   {executor.Limits{Wall: time.Minute}, executor.StatusInternal},
	} {
		if res, out := work(t, c, word, want.limits); res.Status != want.status || len(out) > 1000 {
			t.Errorf("%s: %s, %d bytes; want %s", word, res.Status, len(out), want.status)
		}
	}
	if _, out := work(t, c, "count", executor.Limits{}); out != "101counted" {
		t.Errorf("the next printed %q", out)
	}
}

// TestUsageOfAWorker, alive and ended.
func TestUsageOfAWorker(t *testing.T) {
	w, err := startWorker(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	alive := w.usage(0)
	ended := w.lastUsage(0)
	for _, u := range []executor.Usage{alive, ended} {
		if u.CPU <= 0 || u.CPU > time.Minute || u.MaxRSSBytes < 1<<20 || u.MaxRSSBytes > 1<<30 {
			t.Errorf("alive it had cost %+v, at its end %+v", alive, ended)
		}
	}
	if more := w.lastUsage(time.Hour); more.CPU != 0 {
		t.Errorf("it cost %s less than nothing", more.CPU)
	}
}

func TestARefusedProgramGivesItsWorkerBack(t *testing.T) {
	c := working(t)
	for range 10 {
		sub, err := c.Submit(t.Context(), executor.Source{ID: "w", Language: "words", Code: []byte("count"), ParseLimits: executor.Limits{Wall: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		sub.Deny("d", nil)
	}
	if _, out := work(t, c, "count", executor.Limits{}); out != "101counted" {
		t.Errorf("printed %q", out)
	}
	if s := c.Strikes(); s != (Strikes{}) {
		t.Errorf("%+v", s)
	}
}

func TestCommonVersion(t *testing.T) {
	for offered, fine := range map[string]bool{"": true, "1": true, "1,98": true, "98,1": true, "98,99": false, "11": false} {
		if err := commonVersion(offered, 1); (err == nil) != fine {
			t.Errorf("%q: %v", offered, err)
		}
	}
}

func TestResident(t *testing.T) {
	if n := Resident(os.Getpid()); n < 1<<20 || n > 64<<30 {
		t.Errorf("this process has %d bytes", n)
	}
	if n := Resident(-1); n != 0 {
		t.Errorf("a process that is none has %d bytes", n)
	}
}
