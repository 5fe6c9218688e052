package certs_test

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/certs"
	"github.com/sluice-gateway/sluice/internal/certs/certstest"
)

const host = "gateway.example.test"

// onDisk is a certificate and its key in files, and what trusts it.
type onDisk struct {
	certs.Files
	pool *x509.CertPool
}

func newOnDisk(t *testing.T, dir string) onDisk {
	t.Helper()
	d := onDisk{Files: certs.Files{Certificate: filepath.Join(dir, "c.pem"), Key: filepath.Join(dir, "c.key"), Poll: 10 * time.Millisecond}, pool: x509.NewCertPool()}
	d.renew(t, time.Hour)
	return d
}

// renew writes another certificate, key first, and trusts it too.
func (d *onDisk) renew(t *testing.T, live time.Duration) *x509.Certificate {
	t.Helper()
	cert, key := certstest.Certificate(t, host, nil, nil, live)
	d.pool.AddCert(cert)
	certstest.WritePEM(t, d.Certificate, d.Key, cert, key)
	return cert
}

func openOnDisk(t *testing.T, d onDisk) (*certs.Keeper, *record) {
	t.Helper()
	log := &record{}
	keeper, err := certs.Open(t.Context(), certs.Config{Files: &d.Files, Log: log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	return keeper, log
}

// A changed file is served, a broken one is not, and neither needs a restart.
func TestFilesAreReadAgainWhenTheyChange(t *testing.T) {
	d := newOnDisk(t, t.TempDir())
	keeper, log := openOnDisk(t, d)
	e := newEdge(t)
	defer e.serve(t, keeper)()
	first := e.until(t, d.pool, host, log, func(*x509.Certificate) bool { return true })
	log.await(t, "THE CERTIFICATE ENDS SOON")

	second := d.renew(t, 365*24*time.Hour)
	e.until(t, d.pool, host, log, func(c *x509.Certificate) bool { return c.Equal(second) })
	if first.Equal(second) {
		t.Fatal("the second certificate is the first")
	}

	if err := os.WriteFile(d.Key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	log.await(t, "the changed certificate is not put in force; the one before it stays")
	d.renew(t, -time.Minute)
	log.await(t, "has expired")
	if leaf, _, err := e.get(d.pool, host); err != nil || !leaf.Equal(second) {
		t.Errorf("a broken pair is served, or none: %v", err)
	}
	third := d.renew(t, 365*24*time.Hour)
	e.until(t, d.pool, host, log, func(c *x509.Certificate) bool { return c.Equal(third) })
	leaksNothing(t, log)
}

// Prepare changes nothing; commit does, and says what.
func TestFilesAreReadAgainWhenAsked(t *testing.T) {
	d := newOnDisk(t, t.TempDir())
	keeper, _ := openOnDisk(t, d)
	before := keeper.Status()[0].SHA256
	if _, what, err := keeper.Prepare(t.Context()); what != "" || err != nil {
		t.Errorf("the same files are told as %q, %v", what, err)
	}
	d.renew(t, time.Hour)
	commit, what, err := keeper.Prepare(t.Context())
	if err != nil || !strings.Contains(what, host) || keeper.Status()[0].SHA256 != before {
		t.Fatalf("told as %q, %v", what, err)
	}
	commit()
	if after := keeper.Status()[0].SHA256; after == before || !strings.Contains(what, after[:12]) {
		t.Errorf("%s is in force, told as %q", after, what)
	}
	if err := os.Remove(d.Key); err != nil {
		t.Fatal(err)
	}
	if _, _, err := keeper.Prepare(t.Context()); err == nil {
		t.Error("a key that is gone is not told")
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	for name, row := range map[string]struct {
		spoil func(t *testing.T, d onDisk)
		want  string
	}{
		"open key":    {func(t *testing.T, d onDisk) { chmod(t, d.Key, 0o604) }, "run chmod o= on it"},
		"expired":     {func(t *testing.T, d onDisk) { d.renew(t, -time.Minute) }, "has expired"},
		"not a file":  {func(_ *testing.T, d onDisk) { _ = os.Remove(d.Key); _ = os.Mkdir(d.Key, 0o700) }, "not a regular file"},
		"not a pair":  {func(_ *testing.T, d onDisk) { _ = os.WriteFile(d.Certificate, []byte("x"), 0o600) }, "read the certificate"},
		"very large":  {func(_ *testing.T, d onDisk) { _ = os.WriteFile(d.Key, make([]byte, 2<<20), 0o600) }, "larger than 1 MiB"},
		"not present": {func(_ *testing.T, d onDisk) { _ = os.Remove(d.Certificate) }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newOnDisk(t, t.TempDir())
			row.spoil(t, d)
			_, err := certs.Open(t.Context(), certs.Config{Files: &d.Files, Log: (&record{}).logger()})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("told as %v", err)
			}
		})
	}
}

func chmod(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func TestStorageThatOthersMayRead(t *testing.T) {
	dir := t.TempDir()
	chmod(t, dir, 0o755)
	_, err := certs.Open(context.Background(), certs.Config{ACME: &certs.ACME{Storage: dir, Domains: []string{host}}, Log: (&record{}).logger()})
	if err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("told as %v", err)
	}
}

// Who only reads is sent to https; who could send a token is not.
func TestPlainHTTP(t *testing.T) {
	keeper, _ := openOnDisk(t, newOnDisk(t, t.TempDir()))
	refuse := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	for _, row := range []struct {
		method, host, path string
		port, status       int
		location           string
	}{
		{"GET", host, "/healthz?x=1", 443, 308, "https://" + host + "/healthz?x=1"},
		{"HEAD", host + ":80", "/", 8443, 308, "https://" + host + ":8443/"},
		{"GET", "[::1]:80", "/", 443, 308, "https://[::1]/"},
		{"GET", "[::1]:80", "/", 8443, 308, "https://[::1]:8443/"},
		{"GET", "127.0.0.1", "/", 8443, 308, "https://127.0.0.1:8443/"},
		{"GET", host, "//evil.example", 443, 308, "https://" + host + "//evil.example"},
		{"POST", host, "/solve", 443, 403, ""},
		{"GET", "evil.example/x", "/", 443, 403, ""},
		{"GET", "a@b", "/", 443, 403, ""},
		{"GET", "", "/", 443, 403, ""},
		{"GET", host, "/.well-known/acme-challenge/x", 443, 308, "https://" + host + "/.well-known/acme-challenge/x"},
	} {
		r := httptest.NewRequest(row.method, "http://x"+strings.ReplaceAll(row.path, "//", "/%2f"), http.NoBody)
		r.Host, r.URL.Path, r.URL.RawPath = row.host, strings.Split(row.path, "?")[0], ""
		w := httptest.NewRecorder()
		keeper.Plain(row.port, refuse).ServeHTTP(w, r)
		if w.Code != row.status || w.Header().Get("Location") != row.location {
			t.Errorf("%s %s%s at %d: %d %q", row.method, row.host, row.path, row.port, w.Code, w.Header().Get("Location"))
		}
	}
}

func TestHSTSIsOffWhenItIsZero(t *testing.T) {
	w := httptest.NewRecorder()
	certs.HSTS(0, http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if w.Header().Get("Strict-Transport-Security") != "" {
		t.Error("it is sent")
	}
}
