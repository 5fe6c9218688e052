package certs_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/certs"
	"github.com/sluice-gateway/sluice/internal/certs/certstest"
)

// waitLimit bounds waits that end within seconds on a machine that is not busy.
const waitLimit = 2 * time.Minute

// edge is a public listener and a plain one, on ports that stay the same while
// what answers there is opened and closed.
type edge struct {
	tls, plain net.Listener
}

func newEdge(t *testing.T) *edge {
	t.Helper()
	return &edge{tls: listenLoopback(t), plain: listenLoopback(t)}
}

func listenLoopback(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// serve answers on both listeners until the function that it returns is called.
func (e *edge) serve(t *testing.T, keeper *certs.Keeper) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	refuse := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	open := &http.Server{Handler: certs.HSTS(time.Hour, hello), ErrorLog: quiet}
	plain := &http.Server{Handler: keeper.Plain(e.tls.Addr().(*net.TCPAddr).Port, refuse), ErrorLog: quiet}
	overTLS, inTheClear := tls.NewListener(second(t, e.tls), keeper.TLS()), second(t, e.plain)
	var all sync.WaitGroup
	all.Go(func() { _ = open.Serve(overTLS) })
	all.Go(func() { _ = plain.Serve(inTheClear) })
	all.Go(func() { keeper.Keep(ctx) })
	return func() {
		cancel()
		_ = open.Close()
		_ = plain.Close()
		all.Wait()
	}
}

// second is another listener on the same socket, which stays when this one is
// closed.
func second(t *testing.T, l net.Listener) net.Listener {
	t.Helper()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	again, err := net.FileListener(file)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// get asks over TLS as a client that trusts pool and wants that name.
func (e *edge) get(pool *x509.CertPool, name string) (leaf *x509.Certificate, body string, err error) {
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: name}, DisableKeepAlives: true,
	}}
	answer, err := client.Get("https://" + e.tls.Addr().String() + "/")
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if answer.Header.Get("Strict-Transport-Security") != "max-age=3600" {
		return nil, "", fmt.Errorf("HSTS is %q", answer.Header.Get("Strict-Transport-Security"))
	}
	return answer.TLS.PeerCertificates[0], string(text), err
}

// until asks until the certificate is one that want likes.
func (e *edge) until(t *testing.T, pool *x509.CertPool, name string, log *record, want func(*x509.Certificate) bool) *x509.Certificate {
	t.Helper()
	for end := time.Now().Add(waitLimit); ; time.Sleep(50 * time.Millisecond) {
		leaf, body, err := e.get(pool, name)
		if err == nil && body == "hello" && want(leaf) {
			return leaf
		}
		if time.Now().After(end) {
			t.Fatalf("%s: no such certificate came: %v\n%s", name, err, log)
		}
	}
}

// record is a log that can be read while it is written.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// String is what was written so far.
func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func (r *record) await(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(waitLimit); !strings.Contains(r.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the log never says %q:\n%s", text, r)
		}
	}
}

func (r *record) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func open(t *testing.T, ca *certstest.CA, storage, name string, change func(*certs.ACME)) (*certs.Keeper, *record) {
	t.Helper()
	cfg := certs.ACME{
		Domains: []string{name}, Directory: ca.Directory, Roots: ca.Roots, Email: "operator@example.test", Storage: storage,
		Challenges: []string{certs.TLSALPN01, certs.HTTP01}, TLSPort: ca.TLSPort, HTTPPort: ca.HTTPPort, ListenHost: "127.0.0.1",
	}
	if change != nil {
		change(&cfg)
	}
	log := &record{}
	keeper, err := certs.Open(t.Context(), certs.Config{ACME: &cfg, Log: log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	return keeper, log
}

// One run against a real CA: issue by each challenge, serve, renew, restart, and
// a CA that is down at the start.
func TestACME(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for certificates to age; make test runs it")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	const live = time.Hour
	e := newEdge(t)
	ca := certstest.Start(t, root, live, e.tls, e.plain)
	pool := ca.Pool(t)
	whatever := func(*x509.Certificate) bool { return true }
	dir := t.TempDir()
	// certmagic remembers for its whole process which names failed to renew.
	name := strings.ToLower(rand.Text()) + ".example.test"

	for name, challenge := range map[string]string{name: certs.TLSALPN01, "http." + name: certs.HTTP01} {
		keeper, log := open(t, ca, filepath.Join(dir, challenge), name, func(a *certs.ACME) { a.Challenges = []string{challenge} })
		stop := e.serve(t, keeper)
		leaf := e.until(t, pool, name, log, whatever)
		if !strings.Contains(leaf.Issuer.CommonName, "Pebble") || leaf.VerifyHostname(name) != nil {
			t.Errorf("%s was issued by %s for %v", name, leaf.Issuer, leaf.DNSNames)
		}
		log.await(t, "certificate issued")
		if _, _, err := e.get(pool, "other.example.test"); err == nil {
			t.Error("a name that nobody configured is served")
		}
		stop()
		leaksNothing(t, log)
	}

	storage := filepath.Join(dir, certs.TLSALPN01)
	keeper, log := open(t, ca, storage, name, nil)
	stop := e.serve(t, keeper)
	stored := e.until(t, pool, name, log, whatever)
	stop()
	if strings.Contains(log.String(), "certificate issued") || !strings.Contains(log.String(), "the stored certificate is served") {
		t.Errorf("a restart does not serve the stored certificate:\n%s", log)
	}

	keeper, log = open(t, ca, storage, name, func(a *certs.ACME) { a.RenewAt, a.Check = 0.99999, time.Second })
	stop = e.serve(t, keeper)
	renewed := e.until(t, pool, name, log, func(c *x509.Certificate) bool { return c.SerialNumber.Cmp(stored.SerialNumber) != 0 })
	log.await(t, "renewal=true")
	// And once more, while it serves: the first was at the start.
	e.until(t, pool, name, log, func(c *x509.Certificate) bool {
		return c.SerialNumber.Cmp(stored.SerialNumber) != 0 && c.SerialNumber.Cmp(renewed.SerialNumber) != 0
	})
	stop()
	leaksNothing(t, log)

	ca.Stop()
	keeper, log = open(t, ca, storage, name, func(a *certs.ACME) { a.RenewAt, a.Check = 0.99999, time.Second })
	stop = e.serve(t, keeper)
	// Looked at again each second: certmagic runs one renewal of a name at a
	// time, and that of the keeper before may not have ended yet.
	log.await(t, "the certificate is not renewed: the old one is served")
	kept := keeper.Status()
	if served := e.until(t, pool, name, log, whatever); len(kept) != 1 || !served.NotAfter.Equal(kept[0].NotAfter) {
		t.Errorf("with the CA down %v became %v", kept, keeper.Status())
	}
	stop()

	keeper, log = open(t, ca, filepath.Join(dir, "none"), "new."+name, nil)
	stop = e.serve(t, keeper)
	log.await(t, "NO CERTIFICATE")
	if _, _, err := e.get(pool, "new."+name); err == nil {
		t.Error("a name without a certificate is served")
	}
	stop()
	leaksNothing(t, log)
	privateFiles(t, dir)
}

// leaksNothing wants no key, no account and no answer to a challenge in a log.
func leaksNothing(t *testing.T, log *record) {
	t.Helper()
	for _, never := range []string{"PRIVATE KEY", "operator@example.test", "key_auth", "keyAuthorization", "user_agent", "CERTIFICATE REQUEST"} {
		if strings.Contains(log.String(), never) {
			t.Errorf("the log holds %q:\n%s", never, log)
		}
	}
}

// privateFiles wants every file of the storage closed to others.
func privateFiles(t *testing.T, dir string) {
	t.Helper()
	keys := 0
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may use %s (mode %v)", name, info.Mode())
		}
		if strings.HasSuffix(name, ".key") {
			keys++
		}
		return nil
	})
	if err != nil || keys == 0 {
		t.Errorf("%d keys, %v", keys, err)
	}
}
