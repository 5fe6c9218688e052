package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

func TestMain(m *testing.M) {
	if code, is := sandbox.Shim(os.Args); is {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){
		"gateway": main,
		"faulty":  func() { wire.Serve(faulty{language: "faulty"}) },
		"fools":   func() { wire.Serve(faulty{language: "python"}) },
		"keeping": func() { wire.Serve(&keeping{pages: map[string]*page{}}) },
		"way":     func() { os.Exit(enterWay(os.Args[1:])) },
		"http":    func() { os.Exit(httpCommand(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// testToken is the token of every gateway that a test starts.
const testToken = "t0ken-of-the-tests"

// repository is the root of the checkout, with what `make build` makes in it.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, built := range []string{"bin/plugins/python-exec", "bin/plugins/calc", ".venv/bin/python"} {
		if _, err := os.Stat(filepath.Join(root, built)); err != nil {
			t.Fatalf("%s is not built: run make build first", built)
		}
	}
	return root
}

// scripts are all of testdata/script; with -short, as the race detector runs,
// those that serve: the others run one command after the other.
func scripts(t *testing.T) []string {
	t.Helper()
	names := []string{"*"}
	if testing.Short() {
		names = []string{"admin", "busy", "hangup", "plugins", "reload", "serve", "stop", "tokens"}
	}
	var files []string
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join("testdata", "script", name+".txtar"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no script %s: %v", name, err)
		}
		files = append(files, found...)
	}
	return files
}

func TestScripts(t *testing.T) {
	root := repository(t)
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			plugin, err := exec.LookPath("faulty")
			if err != nil {
				return err
			}
			env.Setenv("FAULTY", plugin)
			env.Setenv("ROOT", root)
			env.Setenv("SLUICE_CONFIG", filepath.Join(root, "config.yaml"))
			env.Setenv("TOKEN", testToken)
			env.Setenv("NO_COLOR", "1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"freeport":   freePort,
			"waitready":  waitReady,
			"terminate":  terminate,
			"secret":     secret,
			"mode":       fileMode,
			"status":     exitStatus,
			"eventually": eventually,
		},
	})
}

// freePort sets PORT, LISTEN and URL to a port that nobody listens on.
func freePort(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	address := l.Addr().String()
	ts.Check(l.Close())
	ts.Setenv("LISTEN", address)
	ts.Setenv("URL", "http://"+address)
}

// waitReady waits until URL's /readyz answers 200.
func waitReady(ts *testscript.TestScript, _ bool, _ []string) {
	ended := func() bool {
		return slices.ContainsFunc(ts.BackgroundCmds(), func(cmd *exec.Cmd) bool {
			return cmd.Process.Signal(syscall.Signal(0)) != nil
		})
	}
	if err := untilReady(ts.Getenv("URL"), ended); err != nil {
		ts.Fatalf("%v", err)
	}
}

// startLimit bounds every wait for a gateway in these tests: plugins import
// whole libraries, on machines that do other things too.
const startLimit = 3 * time.Minute

// untilReady waits for a gateway that is starting; ended says that it never will
// be ready.
func untilReady(url string, ended func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", http.NoBody)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		if ended() {
			return fmt.Errorf("%s: the gateway ended before it was ready", url)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready", url)
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// exitStatus runs a command and wants its very exit status: status 2 gateway ….
func exitStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command …")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d\nstdout: %s\nstderr: %s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// terminate sends SIGTERM to the gateways that serve in the background.
func terminate(ts *testscript.TestScript, _ bool, _ []string) {
	for _, cmd := range ts.BackgroundCmds() {
		if strings.Contains(strings.Join(cmd.Args, " "), "gateway serve ") {
			ts.Check(cmd.Process.Signal(syscall.SIGTERM))
		}
	}
}

// eventually repeats a command until its standard output begins with a text:
// eventually '503 ' http ….
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually TEXT command …")
	}
	for end := time.Now().Add(startLimit); ; time.Sleep(20 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		if strings.HasPrefix(ts.ReadFile("stdout"), args[0]) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("stdout never began with %q (%v)", args[0], err)
		}
	}
}

// httpCommand is the scripts' client: http [-t TOKEN] [-H 'name: value'] [-d
// BODY | -f FILE | -n BYTES] [-timeout D] METHOD URL. It prints the status line, the
// header in canonical order, and the body; its exit status is 0 for every
// answer.
func httpCommand(args []string, stdout, stderr *os.File) int {
	call, err := parseCall(args)
	if err != nil {
		fmt.Fprintln(stderr, "http:", err)
		return 2
	}
	if err := call.do(stdout); err != nil {
		fmt.Fprintln(stderr, "http:", err)
		return 1
	}
	return 0
}

type call struct {
	method, url string
	header      http.Header
	body        []byte
	timeout     time.Duration
}

func parseCall(args []string) (*call, error) {
	c := &call{header: http.Header{}, timeout: time.Minute}
	for len(args) > 2 {
		value := args[1]
		switch args[0] {
		case "-t":
			c.header.Set("Authorization", "Bearer "+value)
		case "-H":
			name, text, _ := strings.Cut(value, ":")
			c.header.Add(name, strings.TrimSpace(text))
		case "-d":
			c.body = []byte(value)
		case "-f":
			var err error
			if c.body, err = os.ReadFile(value); err != nil {
				return nil, err
			}
		case "-n":
			n, err := strconv.Atoi(value)
			if err != nil {
				return nil, err
			}
			c.body = []byte(`{"code":"` + strings.Repeat("#", n) + `"}`)
		case "-timeout":
			d, err := time.ParseDuration(value)
			if err != nil {
				return nil, err
			}
			c.timeout = d
		default:
			return nil, fmt.Errorf("unknown flag %q", args[0])
		}
		args = args[2:]
	}
	if len(args) != 2 {
		return nil, fmt.Errorf("usage: http [flags] METHOD URL")
	}
	c.method, c.url = args[0], args[1]
	return c, nil
}

func (c *call) do(w *os.File) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, c.method, c.url, bytes.NewReader(c.body))
	if err != nil {
		return err
	}
	request.Header = c.header
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	fmt.Fprintln(w, answer.Status)
	for _, name := range slices.Sorted(maps.Keys(answer.Header)) {
		for _, value := range answer.Header[name] {
			fmt.Fprintf(w, "%s: %s\n", name, value)
		}
	}
	fmt.Fprintln(w)
	var body bytes.Buffer
	if _, err := body.ReadFrom(answer.Body); err != nil {
		return err
	}
	_, err = body.WriteTo(w)
	return err
}
