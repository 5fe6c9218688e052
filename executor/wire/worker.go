package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// envWorker tells a process that it is a worker; its value is the descriptor on
// which it serves.
const envWorker = "GATEWAY_EXECUTOR_WORKER"

const workerFD = 3

// serveWorker is the whole of a worker: it serves e on the connection that it
// inherited, and ends with it.
func serveWorker(e executor.Executor) {
	conn, err := net.FileConn(os.NewFile(workerFD, "worker"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	s := newServer(e, hclog.NewNullLogger())
	g := s.grpcServer(nil)
	executorpb.RegisterExecutorServer(g, s)
	l := &oneConn{conn: &toldConn{Conn: conn, closed: make(chan struct{})}}
	go func() { _ = g.Serve(l) }()
	<-l.conn.closed
	os.Exit(0)
}

// oneConn is a listener with one connection to give.
type oneConn struct {
	conn *toldConn
	once sync.Once
}

// Accept implements net.Listener.
func (l *oneConn) Accept() (conn net.Conn, err error) {
	l.once.Do(func() { conn = l.conn })
	if conn == nil {
		<-l.conn.closed
		err = io.EOF
	}
	return conn, err
}

// Close implements net.Listener.
func (l *oneConn) Close() error { return nil }

// Addr implements net.Listener.
func (l *oneConn) Addr() net.Addr { return l.conn.LocalAddr() }

// toldConn tells when it is closed.
type toldConn struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

// Close implements net.Conn.
func (c *toldConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// worker is one process that serves one submission and ends.
type worker struct {
	cmd    *exec.Cmd
	conn   *grpc.ClientConn
	client *Client
	base   uint64        // resident memory when it had come up, in bytes
	peak   atomic.Uint64 // of what was seen of it, in bytes
	words  *lastWords
	gone   chan struct{}
	fat    chan struct{} // closed when it was ended for its memory
	once   sync.Once
}

// lastWords keeps the first bytes that a worker wrote: a Go program's cause of
// death comes before its stacks.
type lastWords struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (w *lastWords) Write(p []byte) (int, error) {
	const most = 4 << 10
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p[:min(len(p), most-len(w.text))]...)
	return len(p), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}

const workerStart = 10 * time.Second

// startWorker starts this program again, as a worker, and configures it.
func startWorker(ctx context.Context, cfg *executor.Config) (_ *worker, err error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("make a worker's connection: %w", err)
	}
	w := &worker{words: &lastWords{}, gone: make(chan struct{}), fat: make(chan struct{})}
	w.cmd = exec.Command("/proc/self/exe")
	w.cmd.Env = []string{fmt.Sprintf("%s=%d", envWorker, workerFD), "LANG=C.UTF-8", "TZ=UTC", "GOTRACEBACK=none"}
	w.cmd.ExtraFiles, w.cmd.Stderr, w.cmd.WaitDelay = []*os.File{theirs}, w.words, time.Second
	w.cmd.SysProcAttr = dieWithParent()
	err = w.cmd.Start()
	_ = theirs.Close()
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	go func() {
		_ = w.cmd.Wait() // the state tells
		close(w.gone)
	}()
	defer func() {
		if err != nil {
			w.end()
		}
	}()
	if err := w.meet(ctx, ours); err != nil {
		return nil, err
	}
	if cfg != nil {
		if _, err := w.client.Configure(ctx, *cfg); err != nil {
			return nil, fmt.Errorf("configure a worker: %w", err)
		}
	}
	w.base = Resident(w.cmd.Process.Pid)
	return w, nil
}

// meet connects to the worker and waits until it answers.
func (w *worker) meet(ctx context.Context, ours net.Conn) (err error) {
	given := false
	w.conn, err = grpc.NewClient("passthrough:///worker", append(HostDialOptions(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if given {
				return nil, errors.New("the worker is gone")
			}
			given = true
			return ours, nil
		}))...)
	if err != nil {
		_ = ours.Close()
		return fmt.Errorf("reach a worker: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, workerStart)
	defer cancel()
	w.client = NewClient(w.conn)
	if _, err := w.client.Describe(ctx, "worker"); err != nil {
		return fmt.Errorf("reach a worker: %w", err)
	}
	return nil
}

// end kills the worker and waits for its end.
func (w *worker) end() {
	w.once.Do(func() {
		_ = w.cmd.Process.Kill()
		if w.conn != nil {
			_ = w.conn.Close()
		}
	})
	<-w.gone
}

// usage is what the living worker has cost since it had taken before.
func (w *worker) usage(before time.Duration) executor.Usage {
	pid := w.cmd.Process.Pid
	return executor.Usage{CPU: max(0, processorOf(pid)-before), MaxRSSBytes: max(peakOf(pid), w.peak.Load())}
}

// lastUsage ends the worker, and is what it had cost by then.
func (w *worker) lastUsage(before time.Duration) executor.Usage {
	w.end()
	state := w.cmd.ProcessState
	return executor.Usage{CPU: max(0, state.UserTime()+state.SystemTime()-before), MaxRSSBytes: max(peakAt(state), w.peak.Load())}
}

// memoryPoll is how often a running worker's memory is looked at.
const memoryPoll = 5 * time.Millisecond

// guard ends the worker when it takes more than limit beyond what it had, until
// stop is called.
func (w *worker) guard(limits executor.Limits) (stop func()) {
	if limits.CPU > 0 || limits.MemoryBytes > 0 {
		boundProcess(w.cmd.Process.Pid, limits)
	}
	if limits.MemoryBytes == 0 {
		return func() {}
	}
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(memoryPoll)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-w.gone:
				return
			case <-ticker.C:
				now := Resident(w.cmd.Process.Pid)
				w.peak.Store(max(w.peak.Load(), now))
				if now > w.base+limits.MemoryBytes {
					close(w.fat)
					_ = w.cmd.Process.Kill()
					return
				}
			}
		}
	})
	return func() {
		close(over)
		watching.Wait()
	}
}
