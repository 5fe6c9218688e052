package targets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/load"
	"github.com/sluice-gateway/sluice/bench/internal/proc"
)

// mostAnswer bounds what is read of one answer.
const mostAnswer = 8 << 20

// httpSolver speaks POST /solve with one warm connection per client.
type httpSolver struct {
	url, token string
	mu         sync.Mutex
	clients    map[int]*http.Client
}

func (h *httpSolver) client(n int) *http.Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients == nil {
		h.clients = map[int]*http.Client{}
	}
	c, ok := h.clients[n]
	if !ok {
		c = &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true}}
		h.clients[n] = c
	}
	return c
}

func (h *httpSolver) hangUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.clients {
		c.CloseIdleConnections()
	}
}

// post sends one JSON object and reads the answer into into.
func (h *httpSolver) post(ctx context.Context, client int, path string, body, into any) (load.Outcome, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return load.Answered, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+path, bytes.NewReader(text))
	if err != nil {
		return load.Answered, err
	}
	req.Header.Set("Authorization", "Bearer "+h.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := h.client(client).Do(req)
	if err != nil {
		return load.Answered, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	switch {
	case err != nil:
		return load.Answered, fmt.Errorf("read the answer: %w", err)
	case resp.StatusCode == http.StatusServiceUnavailable, resp.StatusCode == http.StatusTooManyRequests:
		return load.Shed, nil
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated:
		return load.Answered, fmt.Errorf("HTTP %d: %.300s", resp.StatusCode, answer)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return load.Answered, fmt.Errorf("read the answer: %w", err)
	}
	return load.Answered, nil
}

// solved is the answer of /solve.
type solved struct {
	Passed  bool            `json:"passed"`
	Status  string          `json:"status"`
	Stdout  string          `json:"stdout"`
	Summary string          `json:"stderr_summary"`
	Figure  json.RawMessage `json:"plotly_json"`
}

func (h *httpSolver) solve(ctx context.Context, client int, p Program) (Answer, load.Outcome, error) {
	var s solved
	outcome, err := h.post(ctx, client, "/solve", map[string]string{"code": p.Code}, &s)
	switch {
	case err != nil || outcome == load.Shed:
		return Answer{}, outcome, err
	case s.Status == "rejected":
		return Answer{Refused: true}, outcome, nil
	case !s.Passed:
		return Answer{}, outcome, fmt.Errorf("%s ended as %s: %.300s", p.Name, s.Status, s.Summary)
	}
	return Answer{Stdout: s.Stdout, Figure: len(s.Figure) > len("null")}, outcome, nil
}

// sluice is the gateway that runs beside the benchmark.
type sluice struct {
	httpSolver
	root int
}

func newSluice(c Config) (Target, error) {
	if c.GatewayURL == "" || c.GatewayPID == 0 {
		return nil, errors.New("find the gateway: GATEWAY_URL, GATEWAY_TOKEN and GATEWAY_PID are unset; start me with `make bench`")
	}
	if err := Loopback(c.GatewayURL); err != nil {
		return nil, err
	}
	return &sluice{httpSolver{url: c.GatewayURL, token: c.Token}, c.GatewayPID}, nil
}

// Key implements Target.
func (s *sluice) Key() string { return "a" }

// Title implements Target.
func (s *sluice) Title() string { return "Sluice" }

// Slow implements Target.
func (s *sluice) Slow() bool { return false }

// Call implements Target.
func (s *sluice) Call(ctx context.Context, client int, p Program) (Answer, load.Outcome, error) {
	if p.Expression == "" {
		return s.solve(ctx, client, p)
	}
	var said struct {
		OK     bool   `json:"ok"`
		Output string `json:"output"`
	}
	outcome, err := s.post(ctx, client, "/v1/tools/call", map[string]any{"name": "calculator", "arguments": map[string]string{"expression": p.Expression}}, &said)
	if err == nil && outcome == load.Answered && !said.OK {
		err = fmt.Errorf("the calculator: %.300s", said.Output)
	}
	return Answer{Stdout: said.Output}, outcome, err
}

// CPU implements Target.
func (s *sluice) CPU() (time.Duration, error) { return treeCPU(s.root) }

// Memory implements Target.
func (s *sluice) Memory() (proc.Memory, error) { return treeMemory(s.root) }

// Close implements Target.
func (s *sluice) Close() error { s.hangUp(); return nil }

func treeCPU(root int) (time.Duration, error) {
	tree, err := proc.Look(root)
	return tree.CPU(), err
}

func treeMemory(root int) (proc.Memory, error) {
	tree, err := proc.Look(root)
	if err != nil {
		return proc.Memory{}, err
	}
	return tree.Memory(), nil
}
