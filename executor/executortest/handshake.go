package executortest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
)

// late is what a busy machine may add to the times of a process.
const late = 3 * time.Second

// alone are checks that need no process but those that they start.
func alone() []check {
	return []check{
		{"H01", "run by hand it says why and ends", checkByHand, true},
	}
}

// handshakeChecks look at the process that has become healthy.
func handshakeChecks() []check {
	return []check{
		{"H03", "one socket, in the folder that was named", checkSocket, false},
		{"H04", "a client without the host's certificate is refused", checkStranger, false},
		{"H05", "grpc.health tells SERVING for \"plugin\"", checkServing, false},
		{"H10", "its workers hold none of its own pipes", checkWorkersPipes, false},
		{"H11", "what is printed cannot reach the handshake's pipe", checkPrinting, false},
	}
}

// processChecks start processes of their own.
func processChecks() []check {
	return []check{
		{"H06", "a Shutdown ends it and removes its socket", checkShutdown, true},
		{"H07", "the end of the guard pipe ends it", checkGuard, true},
		{"H08", "the death of its parent ends it", checkParentDies, true},
		{"H09", "it works in a bare place", checkBarePlace, true},
		{"H12", "of several contract versions it takes its own, and none in common it refuses", checkVersions, true},
		{"O01", "SIGINT and SIGTERM cut nothing off", checkSignals, true},
		{"O04", "its log is JSON, heeds the level and holds no program", checkLog, true},
		{"O06", "restarts leave nothing", checkRestarts, true},
	}
}

// start gives a process of the check's own.
func (s *suite) start(r reporter, how launching) *process {
	r.Helper()
	p, err := s.verifier.spawn(s.program, how)
	if err != nil {
		r.Fatalf("%v", err)
	}
	return p
}

// met is start, and the way to its description.
func (s *suite) met(ctx context.Context, r reporter, how launching) *process {
	r.Helper()
	p := s.start(r, how)
	if err := s.verifier.meet(ctx, p); err != nil {
		p.end()
		r.Fatalf("%v", err)
	}
	return p
}

// healthy is met, and the way to health.
func (s *suite) healthy(ctx context.Context, r reporter, how launching, level string, secrets map[string][]byte) *process {
	r.Helper()
	p := s.met(ctx, r, how)
	if err := p.settle(ctx, s.program, level, secrets); err != nil {
		p.end()
		r.Fatalf("%v", err)
	}
	return p
}

// on gives a suite that looks at p.
func (s *suite) on(p *process) *suite {
	other := &suite{program: s.program, verifier: s.verifier, proc: p, host: p.client, raw: p.raw(), about: p.about, early: p.early}
	other.speak(0)
	return other
}

// goneWithin waits for the process's end.
func (p *process) goneWithin(limit time.Duration) bool {
	select {
	case <-p.gone:
		return true
	case <-time.After(limit):
		return false
	}
}

func checkByHand(r reporter, s *suite) {
	p := s.start(r, launching{without: wire.Handshake().MagicCookieKey})
	defer p.end()
	if !p.goneWithin(time.Second + late) {
		r.Fatalf("without the cookie in the environment it goes on")
	}
	within(tolerance, func() bool { return p.err.String() != "" })
	select {
	case <-p.heard: // what it wrote may be read after its end is seen
	case <-time.After(tolerance):
	}
	if p.state.ExitCode() == 0 {
		r.Errorf("without the cookie in the environment it ends with status 0")
	}
	if p.out.String() != "" {
		r.Errorf("it writes on standard output: %.200q", p.out.String())
	}
	if p.err.String() == "" {
		r.Errorf("it says nothing on standard error")
	}
}

func checkSocket(r reporter, s *suite) {
	at := filepath.Clean(s.proc.address)
	if filepath.Dir(at) != s.proc.sockets() {
		r.Errorf("it listens at %q, not in the folder that PLUGIN_UNIX_SOCKET_DIR names", at)
	}
	list, err := os.ReadDir(s.proc.sockets())
	if err != nil || len(list) != 1 {
		r.Errorf("in that folder are %d entries, want its socket alone (%v)", len(list), err)
	}
	if text := s.proc.out.String(); strings.Count(text, "\n") > 1 {
		r.Errorf("it wrote more on standard output than the handshake line: %.200q", text)
	}
}

func checkStranger(r reporter, s *suite) {
	conn, err := s.verifier.dial(s.proc, true)
	if err != nil {
		r.Fatalf("%v", err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second+late)
	defer cancel()
	if _, err := wire.NewClient(conn).Stats(ctx); err == nil {
		r.Errorf("a client without a certificate was served")
	}
}

func checkServing(r reporter, s *suite) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second+late)
	defer cancel()
	got, err := healthpb.NewHealthClient(s.proc.conn).Check(ctx, &healthpb.HealthCheckRequest{Service: "plugin"})
	if err != nil || got.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		r.Errorf("grpc.health.v1.Health/Check gave %s, %v", got.GetStatus(), err)
	}
}

// checkWorkersPipes looks while a program runs, if there is one that runs long
// enough to be looked at.
func checkWorkersPipes(r reporter, s *suite) {
	s.mustBeProcess(r)
	ctx, cancel := checkContext()
	defer cancel()
	if list := s.samples("forever"); len(list) > 0 {
		sub := s.parsed(ctx, r, list[0].Code)
		defer sub.Close()
		runCtx, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = sub.Run(runCtx, everything(executor.Limits{Wall: 5 * time.Second}), new(outcome).take)
		}()
		defer func() { stop(); <-ended }()
		time.Sleep(100 * time.Millisecond)
	}
	below := descendants(s.proc.pid)
	r.Notef("%d workers", len(below))
	for _, pid := range below {
		for _, name := range []string{"handshake", "standard error", "guard"} {
			if fds := holdsOpen(pid, s.proc.inodes[name]); len(fds) > 0 {
				r.Errorf("a worker holds the plugin's %s pipe (descriptor %s)", name, strings.Join(fds, ", "))
				return
			}
		}
	}
}

func checkPrinting(r reporter, s *suite) {
	s.mustBeProcess(r)
	for _, pid := range family(s.proc.pid) {
		if descriptor(pid, "1") == s.proc.inodes["handshake"] {
			r.Errorf("descriptor 1 is the handshake's pipe still: what prints there blocks when it is full")
			return
		}
	}
}

func checkShutdown(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	p := s.met(ctx, r, launching{})
	defer p.end()
	word, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	err := p.conn.Invoke(word, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
	if !p.goneWithin(time.Second + late) {
		r.Fatalf("it lives after plugin.GRPCController/Shutdown (%v)", err)
	}
	if list, err := os.ReadDir(p.sockets()); err != nil || len(list) > 0 {
		r.Errorf("its socket stays")
	}
}

// gone demands that processes end in time.
func gone(r reporter, when string, pids ...int) {
	r.Helper()
	left := 0
	if !within(2*time.Second+late, func() bool {
		left = 0
		for _, pid := range pids {
			if isAlive(pid) {
				left++
			}
		}
		return left == 0
	}) {
		r.Errorf("%s, %d of %d processes live on", when, left, len(pids))
	}
}

func mustLook(r reporter) {
	r.Helper()
	if !canLook() {
		r.Skipf("there is no /proc to look at")
	}
}

func checkGuard(r reporter, s *suite) {
	mustLook(r)
	ctx, cancel := checkContext()
	defer cancel()
	p := s.healthy(ctx, r, launching{}, "info", nil)
	defer p.end()
	all := family(p.pid)
	_ = p.guard.Close()
	p.guard = nil
	gone(r, "after the guard pipe was closed", all...)
}

const shell = "/bin/sh"

func mustHaveShell(r reporter) {
	r.Helper()
	mustLook(r)
	if _, err := os.Stat(shell); err != nil {
		r.Skipf("there is no %s", shell)
	}
}

// checkParentDies puts a shell between: it is the parent that is killed.
func checkParentDies(r reporter, s *suite) {
	mustHaveShell(r)
	ctx, cancel := checkContext()
	defer cancel()
	p := s.healthy(ctx, r, launching{wrapper: []string{shell, "-c", `"$@" 4>&- & wait`, shell}, keepPipe: true}, "info", nil)
	defer p.end()
	all := descendants(p.pid)
	if len(all) == 0 {
		r.Fatalf("the plugin is not below the shell that started it")
	}
	_ = syscall.Kill(p.pid, syscall.SIGKILL)
	gone(r, "after their parent was killed", all...)
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func checkBarePlace(r reporter, s *suite) {
	mustHaveShell(r)
	ctx, cancel := checkContext()
	defer cancel()
	p := s.healthy(ctx, r, launching{
		wrapper: []string{shell, "-c", `umask 077 && ulimit -n 256 && exec "$@"`, shell}, dir: "/proc", env: []string{"HOME=/proc"},
	}, "info", nil)
	defer p.end()
	other := s.on(p)
	checkOK(r, other)
}

func checkVersions(r reporter, s *suite) {
	p := s.start(r, launching{env: []string{"PLUGIN_PROTOCOL_VERSIONS=1,98"}})
	err := p.handshake(handshakeTime + late)
	p.end()
	if err != nil {
		r.Errorf("offered 1 and 98: %v", err)
	}
	p = s.start(r, launching{env: []string{"PLUGIN_PROTOCOL_VERSIONS=98,99"}})
	defer p.end()
	if !p.goneWithin(time.Second + late) {
		r.Fatalf("offered 98 and 99, it goes on: %.80q", p.out.String())
	}
	within(tolerance, func() bool { return p.err.String() != "" })
	select {
	case <-p.heard: // what it wrote may be read after its end is seen
	case <-time.After(tolerance):
	}
	if p.state.ExitCode() == 0 || p.err.String() == "" {
		r.Errorf("offered 98 and 99, it ended with status %d and said %.200q; it is to say why and fail", p.state.ExitCode(), p.err.String())
	}
}
