package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/auth"
)

// secretFlow is a gateway with tokens of every kind, and all that it has let out.
type secretFlow struct {
	*running
	t       *testing.T
	admin   string
	journal string
	secrets map[string]string // by what they are
	seen    bytes.Buffer      // every head and body of an answer
}

// TestNoTokenGetsOut sends every kind of token in every place to every route, in
// good and in broken requests, has programs look for it, and then searches the
// log, the journal, the metrics, the answers, and what every child was given.
func TestNoTokenGetsOut(t *testing.T) {
	f := startSecretFlow(t)
	for _, route := range f.routes() {
		for kind, secret := range f.secrets {
			for i, header := range places(secret) {
				f.send(route[0], f.url+route[1]+"?token="+secret+"&access_token="+secret, header, route[2])
				if i == 0 && kind != "wrong" {
					f.send(route[0], f.admin+route[1], header, route[2])
				}
			}
		}
	}
	for _, secret := range f.secrets {
		f.send(http.MethodGet, f.url+"/"+secret, places(secret)[0], "")
		f.send(http.MethodPost, f.url+"/solve", http.Header{"X-Api-Key": {secret, "another-" + secret}}, "{}")
		for _, broken := range []string{
			"GET /solve?token=%[1]s HTTP/9.9\r\n\r\n", "%[1]s\r\n\r\n", "GET / HTTP/1.1\r\nAuthorization Bearer %[1]s\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %[1]s\r\nTransfer-Encoding: %[1]s\r\n\r\n",
			"GET http://%[1]s/ HTTP/1.1\r\nHost: %[1]s\r\nAuthorization: Bearer %[1]s\x01\r\n\r\n",
			"POST /solve HTTP/1.1\r\nHost: a\r\nX-Api-Key: %[1]s\r\nContent-Length: 1%[1]s\r\n\r\n",
		} {
			f.raw(fmt.Sprintf(broken, secret))
		}
	}
	f.programsLook()
	f.childrenHaveNothing()
	if err := f.process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(f.log.String(), "reloaded") })
	f.send(http.MethodGet, f.admin+"/metrics", places(f.secrets["operator"])[0], "")
	if !strings.Contains(f.seen.String(), "_total") {
		t.Error("no metrics were seen")
	}
	f.stop()
	f.search()
}

func startSecretFlow(t *testing.T) *secretFlow {
	dir := t.TempDir()
	f := &secretFlow{t: t, journal: filepath.Join(dir, "journal"), secrets: map[string]string{
		"operator": testToken, "wrong": auth.Mint(), "named": auth.Mint(), "expired": auth.Mint(), "slow": auth.Mint(),
	}}
	tokens := filepath.Join(dir, "tokens.yaml")
	past := time.Now().Add(-time.Hour)
	for _, token := range []auth.Token{
		{Name: "named", Scopes: []string{"solve", "run", "tools"}},
		{Name: "expired", Scopes: []string{"solve"}, Expires: past},
		{Name: "slow", Scopes: []string{"tools"}, Rate: 1.0 / 3600, Burst: 1},
	} {
		token.SHA256 = auth.DigestOf(f.secrets[token.Name])
		if err := auth.Add(tokens, token); err != nil {
			t.Fatal(err)
		}
	}
	admin := freeAddress(t)
	f.admin = "http://" + admin
	f.running = startGateway(t, "--auth-tokens", tokens, "--audit-file", f.journal, "--log-level", "debug", "--admin-listen", admin,
		"--policy-dir", filepath.Join(repository(t), "testdata", "policies-admit-all"), "--auth-failed-per-minute", "100000")
	return f
}

// routes are every public route that the gateway lists, and some that are none:
// method, path, body.
func (f *secretFlow) routes() (list [][3]string) {
	answer, err := http.Get(f.url + "/")
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	var index struct{ Endpoints []string }
	if err := json.NewDecoder(answer.Body).Decode(&index); err != nil || len(index.Endpoints) < 10 {
		f.t.Fatalf("the list of routes is %v, %v", index, err)
	}
	bodies := map[string]string{
		"/solve": `{"code":"print(1)"}`, "/v1/run": `{"code":"1/0"}`, "/v1/check": `{"code":"def"}`,
		"/v1/tools/call": `{"name":"calculator","arguments":{"code":"1+1"}}`, "/v1/sessions": `{}`,
	}
	for _, endpoint := range append(index.Endpoints, "GET /openapi.json", "DELETE /solve", "GET /admin/policy", "POST /admin/policy/reload", "GET /metrics") {
		method, path, _ := strings.Cut(endpoint, " ")
		list = append(list, [3]string{method, strings.ReplaceAll(path, "{id}", "s_x"), bodies[path]})
	}
	return list
}

// places are the headers in which a token may be sent, and some that are none.
func places(secret string) []http.Header {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+secret))
	return []http.Header{
		{"Authorization": {"Bearer " + secret}}, {"Authorization": {basic}}, {"X-Api-Key": {secret}},
		{"Authorization": {"Token " + secret}, "Cookie": {"token=" + secret}, "X-Request-Id": {"a " + secret}},
	}
}

func (f *secretFlow) send(method, url string, header http.Header, body string) {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	request.Header = header
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	defer answer.Body.Close()
	fmt.Fprintln(&f.seen, answer.Status, answer.Header)
	if method == http.MethodGet && strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		return // what the gateway has to say of itself, until one leaves
	}
	if _, err := io.Copy(&f.seen, answer.Body); err != nil {
		f.t.Fatal(err)
	}
}

// raw sends bytes and takes what comes until the connection ends.
func (f *secretFlow) raw(text string) {
	f.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(text)); err != nil {
		f.t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		f.t.Fatal(err)
	}
	if _, err := io.Copy(&f.seen, bufio.NewReader(conn)); err != nil {
		f.t.Logf("%q: %v", text[:10], err)
	}
}

// programsLook has programs look around themselves that no policy refuses.
func (f *secretFlow) programsLook() {
	f.t.Helper()
	const program = `
import os, glob
print("LOOKED", dict(os.environ))
for name in ["/proc/self/environ", "/proc/self/cmdline"] + glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
    try:
        print(name, open(name, "rb").read())
    except OSError:
        pass
`
	body, err := json.Marshal(map[string]any{"code": program, "arguments": map[string]string{"code": program}, "name": "python"})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, path := range []string{"/solve", "/v1/run", "/v1/tools/call"} {
		f.send(http.MethodPost, f.url+path, places(f.secrets["operator"])[0], string(body))
	}
	if got := strings.Count(f.seen.String(), "LOOKED {"); got != 3 {
		f.t.Errorf("%d programs looked around, want 3", got)
	}
}

// childrenHaveNothing reads what every process below the gateway was given.
func (f *secretFlow) childrenHaveNothing() {
	f.t.Helper()
	children := descendants(f.t, f.process.Pid)
	looked := 0
	for _, p := range append(children, proc{pid: f.process.Pid, name: "gateway"}) {
		for _, file := range []string{"cmdline", "environ"} {
			if file == "environ" && p.pid == f.process.Pid {
				continue // the operator put it there
			}
			raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.pid, file))
			if err != nil {
				continue // it has ended meanwhile
			}
			looked++
			f.none(fmt.Sprintf("%s of %v", file, p), string(raw))
		}
	}
	if looked < 6 {
		f.t.Errorf("%d files of %v were read", looked, children)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(startLimit); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came")
		}
	}
}

// stop ends the gateway as an operator does, so that all is written.
func (f *secretFlow) stop() {
	f.t.Helper()
	if err := f.process.Signal(syscall.SIGTERM); err != nil {
		f.t.Fatal(err)
	}
	waitFor(f.t, func() bool { return strings.Contains(f.log.String(), `"msg":"stopped"`) })
}

func (f *secretFlow) search() {
	f.t.Helper()
	journal, err := os.ReadFile(f.journal)
	if err != nil {
		f.t.Fatal(err)
	}
	if bytes.Count(journal, []byte("\n")) < 10 {
		f.t.Errorf("the journal has %d lines", bytes.Count(journal, []byte("\n")))
	}
	f.none("the journal", string(journal))
	f.none("the log", f.log.String())
	f.none("the answers", f.seen.String())
}

// none wants no secret in a text, plain or as Basic writes it.
func (f *secretFlow) none(where, text string) {
	f.t.Helper()
	for _, kind := range slices.Sorted(maps.Keys(f.secrets)) {
		secret := f.secrets[kind]
		basic := base64.StdEncoding.EncodeToString([]byte("u:" + secret))
		for _, form := range []string{secret, basic, basic[4 : len(basic)-4]} {
			if at := strings.Index(text, form); at >= 0 {
				f.t.Errorf("%s holds the %s token: …%s…", where, kind, text[max(0, at-200):min(len(text), at+80)])
				break
			}
		}
	}
}
