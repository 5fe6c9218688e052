package targets

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/bench/internal/load"
)

// service is the design that starts a fresh interpreter per request.
type service struct {
	*started
	http httpSolver
}

func newService(ctx context.Context, c Config) (Target, error) {
	const token = "bench"
	s, err := start(ctx, c, "b", "HTTP service, a fresh interpreter per request", []string{"SOLVER_TOKEN=" + token}, "service.py", fmt.Sprint(max(1, c.Slots)))
	if err != nil {
		return nil, err
	}
	address, err := s.address()
	if err != nil {
		return nil, err
	}
	return &service{s, httpSolver{url: "http://" + address, token: token}}, nil
}

// Slow implements Target.
func (s *service) Slow() bool { return true }

// Call implements Target.
func (s *service) Call(ctx context.Context, client int, p Program) (Answer, load.Outcome, error) {
	return s.http.solve(ctx, client, p)
}

// Close implements Target.
func (s *service) Close() error { s.http.hangUp(); return s.started.Close() }

// cells is a warm worker with one namespace, spoken to over its pipes, one
// program at a time.
type cells struct {
	*started
	mu sync.Mutex
}

func newCells(ctx context.Context, c Config) (Target, error) {
	s, err := start(ctx, c, "c", "warm worker for cells, one namespace", nil, "worker.py")
	if err != nil {
		return nil, err
	}
	return &cells{started: s}, nil
}

// Call implements Target.
func (c *cells) Call(_ context.Context, _ int, p Program) (Answer, load.Outcome, error) {
	ask, err := json.Marshal(map[string]string{"code": p.withoutBrowser()})
	if err != nil {
		return Answer{}, load.Answered, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.stdin.Write(append(ask, '\n')); err != nil {
		return Answer{}, load.Answered, fmt.Errorf("write to the worker: %w", err)
	}
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		return Answer{}, load.Answered, fmt.Errorf("read from the worker: %w", err)
	}
	var said struct {
		OK     bool   `json:"ok"`
		Output string `json:"output"`
	}
	switch err := json.Unmarshal(line, &said); {
	case err != nil:
		return Answer{}, load.Answered, fmt.Errorf("read from the worker: %w", err)
	case !said.OK && p.Refused:
		return Answer{Refused: true}, load.Answered, nil
	case !said.OK:
		return Answer{}, load.Answered, fmt.Errorf("%s in the worker: %.300s", p.Name, said.Output)
	case p.Figure: // the value of its last line is the figure's text
		return Answer{Figure: said.Output != ""}, load.Answered, nil
	}
	return Answer{Stdout: said.Output}, load.Answered, nil
}

// warm is a process of warm.py, one connection per client.
type warm struct {
	*started
	address string
	mu      sync.Mutex
	open    map[int]net.Conn
}

func newWarm(ctx context.Context, c Config, key, title, mode string) (Target, error) {
	s, err := start(ctx, c, key, title, nil, "warm.py", mode, c.Runtime)
	if err != nil {
		return nil, err
	}
	address, err := s.address()
	if err != nil {
		return nil, err
	}
	return &warm{started: s, address: address, open: map[int]net.Conn{}}, nil
}

func (w *warm) connection(ctx context.Context, client int) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if conn, ok := w.open[client]; ok {
		return conn, nil
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", w.address)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", w.title, err)
	}
	w.open[client] = conn
	return conn, nil
}

// Call implements Target.
func (w *warm) Call(ctx context.Context, client int, p Program) (Answer, load.Outcome, error) {
	conn, err := w.connection(ctx, client)
	if err != nil {
		return Answer{}, load.Answered, err
	}
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	text, err := exchange(conn, []byte(p.Code))
	if err != nil {
		return Answer{}, load.Answered, fmt.Errorf("%s: %w", w.title, err)
	}
	var said struct {
		Stdout string  `json:"stdout"`
		Error  *string `json:"error"`
		Figure *string `json:"figure"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return Answer{}, load.Answered, fmt.Errorf("%s: read the answer: %w", w.title, err)
	}
	if said.Error != nil {
		return Answer{}, load.Answered, fmt.Errorf("%s: %s: %.300s", w.title, p.Name, *said.Error)
	}
	return Answer{Stdout: said.Stdout, Figure: said.Figure != nil}, load.Answered, nil
}

// exchange sends a frame (four bytes of length, big endian, and the payload)
// and reads one.
func exchange(conn io.ReadWriter, payload []byte) ([]byte, error) {
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...) //nolint:gosec // a program of this benchmark
	if _, err := conn.Write(frame); err != nil {
		return nil, fmt.Errorf("write a frame: %w", err)
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil, fmt.Errorf("read a frame: %w", err)
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > mostAnswer {
		return nil, fmt.Errorf("read a frame: %d bytes, at most %d", size, mostAnswer)
	}
	answer := make([]byte, size)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, fmt.Errorf("read a frame: %w", err)
	}
	return answer, nil
}

// Close implements Target.
func (w *warm) Close() error {
	w.mu.Lock()
	for _, conn := range w.open {
		conn.Close()
	}
	w.mu.Unlock()
	return w.started.Close()
}
