package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/certs/certstest"
)

// socket is a listening socket that is handed to one gateway after the other, as
// systemd does.
type socket struct {
	name string // FileDescriptorName=
	*net.TCPListener
}

func newSocket(t *testing.T, name string) socket {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return socket{name, l.(*net.TCPListener)}
}

// activated is a gateway that was handed sockets.
type activated struct {
	cmd  *exec.Cmd
	log  *logText
	over chan error
}

// quick is a gateway that is up at once: a calculator and a policy that admits
// everything.
func quick(t *testing.T, more string) (flags []string) {
	t.Helper()
	root := repository(t)
	file := filepath.Join(t.TempDir(), "quick.yaml")
	text := "admin: {listen: ''}\naudit: {file: off}\nplugins: {calc: {trust: built}}\n" + more
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--config", file, "--set", "plugins.calc.command=" + filepath.Join(root, "bin", "plugins", "calc"), "--policy-dir", filepath.Join(root, "testdata", "policies-admit-all")}
}

// activate starts the gateway by the protocol of sd_listen_fds(3): the sockets
// from descriptor 3 on, and the process's own id in LISTEN_PID.
func activate(t *testing.T, env []string, flags []string, sockets ...socket) *activated {
	t.Helper()
	a := &activated{log: &logText{}, over: make(chan error, 1)}
	a.cmd = exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ exec gateway serve "$@"`, "sh"}, flags...)...)
	var names []string
	for _, s := range sockets {
		file, err := s.File()
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		a.cmd.ExtraFiles = append(a.cmd.ExtraFiles, file)
		names = append(names, s.name)
	}
	a.cmd.Env = append(os.Environ(), "SOLVER_TOKEN="+testToken, fmt.Sprintf("LISTEN_FDS=%d", len(sockets)), "LISTEN_FDNAMES="+strings.Join(names, ":"))
	a.cmd.Env = append(a.cmd.Env, env...)
	a.cmd.Stderr = a.log
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		a.over <- a.cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = a.cmd.Process.Kill() // it may be gone already
		<-ended
		if text := a.log.String(); t.Failed() {
			t.Logf("the end of a gateway's log:\n%s", text[max(0, len(text)-8<<10):])
		}
	})
	return a
}

// end stops it as systemd does, and wants a clean end.
func (a *activated) end(t *testing.T) {
	t.Helper()
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-a.over:
		if err != nil {
			t.Fatalf("it ended with %v", err)
		}
	case <-time.After(startLimit):
		t.Fatal("it does not end")
	}
}

func (a *activated) await(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(startLimit); !strings.Contains(a.log.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the log never says %q", text)
		}
	}
}

// send sends one program and gives the answer's body.
func send(ctx context.Context, client *http.Client, url, body string) (map[string]any, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+testToken)
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	got := map[string]any{}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s", answer.Status, text)
	}
	return got, json.Unmarshal(text, &got)
}

const (
	calcCall   = `{"name":"calculator","arguments":{"code":"6*7"}}`
	calcAnswer = "42"
)

// TestRestartsBehindASocketLoseNothing restarts the gateway twenty times while
// clients, each with a connection of its own for each request, ask without a
// rest: every one of them is answered.
func TestRestartsBehindASocketLoseNothing(t *testing.T) {
	public := newSocket(t, "sluice.socket")
	flags := quick(t, "")
	url := "http://" + public.Addr().String() + "/v1/tools/call"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var answered atomic.Int64
	var mu sync.Mutex
	var lost []string
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			client := &http.Client{Timeout: startLimit, Transport: &http.Transport{DisableKeepAlives: true}}
			for ctx.Err() == nil {
				got, err := send(context.WithoutCancel(ctx), client, url, calcCall)
				if err == nil && got["output"] == calcAnswer {
					answered.Add(1)
					continue
				}
				mu.Lock()
				lost = append(lost, fmt.Sprint(err, got))
				mu.Unlock()
			}
		})
	}
	const restarts = 20
	for i := range restarts + 1 {
		before := answered.Load()
		a := activate(t, nil, flags, public)
		for end := time.Now().Add(startLimit); answered.Load() < before+20; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("gateway %d does not answer", i)
			}
		}
		if i < restarts {
			a.end(t)
			continue
		}
		cancel()
		clients.Wait()
		a.end(t)
	}
	if len(lost) > 0 {
		t.Errorf("%d of %d requests were lost: %v", len(lost), int(answered.Load())+len(lost), lost)
	}
	t.Logf("%d requests were answered over %d restarts", answered.Load(), restarts)
}

// TestSystemdSocketActivate has systemd's own tool hand the socket over.
func TestSystemdSocketActivate(t *testing.T) {
	tool, err := exec.LookPath("systemd-socket-activate")
	if err != nil {
		t.Skip("systemd-socket-activate is not installed; TestRestartsBehindASocketLoseNothing speaks the same protocol by hand")
	}
	free := newSocket(t, "")
	address := free.Addr().String()
	_ = free.Close()
	binary, err := exec.LookPath("gateway")
	if err != nil {
		t.Fatal(err)
	}
	log := &logText{}
	cmd := exec.Command(tool, append([]string{"--listen=" + address, "--fdname=public", "--setenv=SOLVER_TOKEN", "--setenv=PATH", binary, "serve"}, quick(t, "")...)...)
	cmd.Env = append(os.Environ(), "SOLVER_TOKEN="+testToken)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
		if t.Failed() {
			t.Logf("%s", log)
		}
	}()
	for end := time.Now().Add(startLimit); ; time.Sleep(20 * time.Millisecond) {
		got, err := send(t.Context(), &http.Client{Timeout: startLimit}, "http://"+address+"/v1/tools/call", calcCall)
		if err == nil && got["output"] == calcAnswer {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("no answer: %v %v", got, err)
		}
	}
	if !strings.Contains(log.String(), `"handed_over":true`) {
		t.Error("the gateway was handed no socket")
	}
}

// TestServiceManagerIsTold listens where systemd does: the start is over when
// requests are answered, a reload begins and ends, the end is told.
func TestServiceManagerIsTold(t *testing.T) {
	at := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "n"), Net: "unixgram"}
	manager, err := net.ListenUnixgram("unixgram", at)
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Close()
	told := func(want string) string {
		t.Helper()
		_ = manager.SetReadDeadline(time.Now().Add(startLimit))
		buffer := make([]byte, 4096)
		n, err := manager.Read(buffer)
		if err != nil || !strings.HasPrefix(string(buffer[:n]), want+"\n") {
			t.Fatalf("told %q, %v; want %s", buffer[:n], err, want)
		}
		return string(buffer[:n])
	}
	public := newSocket(t, "public")
	a := activate(t, []string{"NOTIFY_SOCKET=" + at.Name}, quick(t, ""), public)
	told("READY=1")
	if err := a.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if text := told("RELOADING=1"); !strings.Contains(text, "\nMONOTONIC_USEC=") {
		t.Errorf("told %q", text)
	}
	told("READY=1")
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	told("STOPPING=1")
	if err := <-a.over; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestSocketsThatCannotBeUsed are refused with a sentence, at the start.
func TestSocketsThatCannotBeUsed(t *testing.T) {
	for name, row := range map[string]struct {
		sockets []socket
		want    string
	}{
		"two public ones":   {[]socket{newSocket(t, "a"), newSocket(t, "b")}, "two are for one purpose"},
		"plain without TLS": {[]socket{newSocket(t, "a"), newSocket(t, "plain")}, "tls.mode is off"},
	} {
		t.Run(name, func(t *testing.T) {
			a := activate(t, nil, quick(t, ""), row.sockets...)
			if err := <-a.over; err == nil || !strings.Contains(a.log.String(), row.want) {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// overTLS is a client that trusts pool and wants that name, whatever the
// address.
func overTLS(pool *x509.CertPool, name string) *http.Client {
	return &http.Client{Timeout: startLimit, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: name, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}}
}

// serial is the certificate that is served, if the client takes it.
func serial(client *http.Client, url string) (string, error) {
	answer, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Strict-Transport-Security") == "" {
		return "", fmt.Errorf("%s %v", answer.Status, answer.Header)
	}
	return answer.TLS.PeerCertificates[0].SerialNumber.String(), nil
}

// TestACMEGateway is the whole: a certificate issued by a real CA, a program
// solved over HTTPS, and the certificate renewed while the gateway serves.
func TestACMEGateway(t *testing.T) {
	root := repository(t)
	public, plain := newSocket(t, "public"), newSocket(t, "plain")
	ca := certstest.Start(t, root, 20*time.Second, public, plain)
	const name = "gateway.example.test"
	a := activate(t, nil, []string{
		"--config", filepath.Join(root, "config.yaml"), "--admin-listen", "", "--audit-file", "off",
		"--tls-mode", "acme", "--tls-domains", name, "--tls-ca", ca.Directory, "--tls-ca-roots", ca.Roots, "--tls-accept-terms",
		"--tls-storage", filepath.Join(t.TempDir(), "certificates"), "--tls-challenges", "http-01,tls-alpn-01", "--tls-check", "1s",
		"--tls-http-listen", "127.0.0.1:80", "--tls-public-port", fmt.Sprint(ca.TLSPort),
	}, public, plain)
	client, url := overTLS(ca.Pool(t), name), "https://"+public.Addr().String()
	until := func(what string, done func() error) {
		t.Helper()
		for end := time.Now().Add(startLimit); ; time.Sleep(50 * time.Millisecond) {
			err := done()
			if err == nil {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	var first string
	until("issue", func() (err error) { first, err = serial(client, url+"/healthz"); return err })
	until("solve", func() error {
		got, err := send(t.Context(), client, url+"/solve", `{"code":"print(6*7)"}`)
		if err == nil && got["stdout"] != "42\n" {
			err = fmt.Errorf("%v", got)
		}
		return err
	})
	until("renew", func() error {
		now, err := serial(client, url+"/healthz")
		if err == nil && now == first {
			err = fmt.Errorf("the first one is still served")
		}
		return err
	})
	a.await(t, `"renewal":true`)
	redirects(t, plain.Addr().String(), name, ca.TLSPort)
	a.end(t)
	if strings.Contains(a.log.String(), testToken) || strings.Contains(a.log.String(), "PRIVATE KEY") {
		t.Error("the log holds a secret")
	}
}

// redirects wants plain HTTP to send who reads to https, and to refuse who
// writes.
func redirects(t *testing.T, at, name string, port int) {
	t.Helper()
	client := &http.Client{Timeout: startLimit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for method, want := range map[string]int{http.MethodGet: http.StatusPermanentRedirect, http.MethodPost: http.StatusForbidden} {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+at+"/solve", bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = name
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		location := answer.Header.Get("Location")
		if answer.StatusCode != want || (method == http.MethodGet && location != fmt.Sprintf("https://%s:%d/solve", name, port)) ||
			(method == http.MethodPost && !strings.Contains(string(text), "request_id")) {
			t.Errorf("%s: %s %s %s", method, answer.Status, location, text)
		}
	}
}

// TestCertificateFilesAtHangup changes the certificate and asks by SIGHUP: it is
// in force with the rest, or nothing is.
func TestCertificateFilesAtHangup(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "c.pem"), filepath.Join(dir, "c.key")
	const name = "gateway.example.test"
	pool := x509.NewCertPool()
	renew := func() string {
		leaf, private := certstest.Certificate(t, name, nil, nil, 365*24*time.Hour)
		pool.AddCert(leaf)
		certstest.WritePEM(t, cert, key, leaf, private)
		return leaf.SerialNumber.String()
	}
	first := renew()
	public := newSocket(t, "public")
	a := activate(t, nil, quick(t, fmt.Sprintf("tls: {mode: files, certificate: %q, key: %q}\n", cert, key)), public)
	client, url := overTLS(pool, name), "https://"+public.Addr().String()+"/healthz"
	if got, err := serial(client, url); err != nil || got != first {
		t.Fatalf("%s is served, %v; want %s", got, err, first)
	}
	second := renew()
	if err := a.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	a.await(t, "certificate in force")
	for end := time.Now().Add(startLimit); ; time.Sleep(20 * time.Millisecond) {
		if got, err := serial(client, url); err == nil && got == second {
			break
		} else if time.Now().After(end) {
			t.Fatalf("%s is served, %v; want %s", got, err, second)
		}
	}
	if err := os.WriteFile(key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	a.await(t, "NOTHING WAS RELOADED: everything stays as it was")
	a.await(t, "certificates: read the certificate")
	if got, err := serial(client, url); err != nil || got != second {
		t.Errorf("%s is served, %v; want %s", got, err, second)
	}
	// Old versions are refused.
	old := overTLS(pool, name)
	transport, _ := old.Transport.(*http.Transport)
	transport.TLSClientConfig.MinVersion, transport.TLSClientConfig.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if _, err := serial(old, url); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	a.end(t)
}

// TestConnectionsBeyondTheirLimit has two thousand connections send a head that
// never ends, where there is room for 128: an honest client, with a connection
// of its own for each request, is answered every time.
func TestConnectionsBeyondTheirLimit(t *testing.T) {
	public := newSocket(t, "public")
	a := activate(t, nil, quick(t, "limits: {connections: 128}\n"), public)
	a.await(t, `"msg":"ready"`)
	r := &running{url: "http://" + public.Addr().String()}
	stop := r.trickle(t, 2000)
	client := &http.Client{Timeout: startLimit, Transport: &http.Transport{DisableKeepAlives: true}}
	for range 100 {
		if got, err := send(t.Context(), client, r.url+"/v1/tools/call", calcCall); err != nil || got["output"] != calcAnswer {
			t.Fatalf("the honest client got %v, %v", got, err)
		}
	}
	if stop(); !strings.Contains(a.log.String(), "connections are at their limit") {
		t.Error("the limit was not reached, or is not told")
	}
	a.end(t)
}
