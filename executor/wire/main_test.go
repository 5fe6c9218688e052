package wire

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// envRole makes the test binary another program than the tests.
const envRole = "WIRE_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(envWorker) != "" {
		serveWorker(&counting{})
	}
	switch os.Getenv(envRole) {
	case "plugin":
		Serve(&stub{capacity: executor.Capacity{MaxConcurrent: 8}})
		os.Exit(0)
	case "host":
		os.Exit(hostMain())
	}
	goleak.VerifyTestMain(m)
}

// patience bounds a wait for something that must come.
const patience = 10 * time.Second

// pair is both halves around an executor, and what the plugin's half logged.
type pair struct {
	*InProcess
	log *lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func serve(t *testing.T, e executor.Executor) *pair {
	t.Helper()
	log := &lockedBuffer{}
	p, err := ServeInProcess(e, hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: log, JSONFormat: true}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if _, err := p.Client.Describe(t.Context(), "test", "samples"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Client.Configure(t.Context(), executor.Config{JSON: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	return &pair{InProcess: p, log: log}
}

func source(code string) executor.Source {
	return executor.Source{ID: "s-1", Language: stubLanguage, Code: []byte(code)}
}

// submit sends code and fails the test if that gives an error.
func submit(t *testing.T, c *Client, code string) *Submission {
	t.Helper()
	s, err := c.Submit(t.Context(), source(code))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// printed collects what a run hands out.
type printed struct {
	stdout, stderr bytes.Buffer
	order          []executor.Stream
}

func (p *printed) take(s executor.Stream, chunk []byte) {
	p.order = append(p.order, s)
	if s == executor.Stdout {
		p.stdout.Write(chunk)
		return
	}
	p.stderr.Write(chunk)
}

// runCode submits code, approves it with l and gives what became of it.
func runCode(t *testing.T, c *Client, code string, l executor.Limits) (executor.Result, *printed) {
	t.Helper()
	var out printed
	res, err := submit(t, c, code).Run(t.Context(), executor.Grant{Limits: l}, out.take)
	if err != nil {
		t.Fatal(err)
	}
	return res, &out
}

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come about within %s", what, patience)
		}
		time.Sleep(time.Millisecond)
	}
}

// stats reads the plugin's counters. A busy machine may be late with them.
func stats(t *testing.T, c *Client) (s Stats) {
	t.Helper()
	var err error
	for range 5 {
		if s, err = c.Stats(t.Context()); !errors.Is(err, ErrOverrun) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// idle waits until nothing is in flight and the counters add up.
func idle(t *testing.T, c *Client) {
	t.Helper()
	eventually(t, "an idle plugin", func() bool {
		s := stats(t, c)
		var sum uint64
		for _, n := range s.Results {
			sum += n
		}
		return s.Inflight == 0 && s.WaitingVerdict == 0 && sum == s.Submissions
	})
}

func wireSource(code string) *executorpb.HostMessage {
	return &executorpb.HostMessage{Kind: &executorpb.HostMessage_Source{Source: sourceToWire(source(code))}}
}

func background(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}
