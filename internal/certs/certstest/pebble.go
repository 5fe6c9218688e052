// Package certstest starts a real ACME CA on loopback for tests: Pebble, with a
// name server beside it that has 127.0.0.1 for every name. Begin with [Start].
//
// The package must never be imported by anything but tests.
package certstest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
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

// startLimit bounds the wait for a process that answers within a second.
const startLimit = 2 * time.Minute

// CA is a Pebble that runs.
type CA struct {
	Directory string // its URL
	Roots     string // PEM file of the root of its own certificate
	TLSPort   int    // where it looks for tls-alpn-01
	HTTPPort  int    // where it looks for http-01

	port   int // its own
	client *http.Client
	stop   func()
}

// Start builds Pebble by way of tools/pebble.mod and starts it; certificates
// that it issues live for that long. Its challenges go to the ports of the two
// listeners. It is stopped at the end of the test, or by Stop.
func Start(t testing.TB, root string, live time.Duration, tlsAt, plainAt net.Listener) *CA {
	t.Helper()
	dir := t.TempDir()
	build(t, root, dir)
	ca := &CA{Roots: filepath.Join(dir, "roots.pem"), TLSPort: port(tlsAt), HTTPPort: port(plainAt)}
	pool := authority(t, dir)
	ca.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}}
	// A port that was free may be taken before the CA has it: then another one is.
	for try := 1; ; try++ {
		err := ca.try(t, dir, live)
		if err == nil {
			t.Cleanup(ca.Stop)
			return ca
		}
		if try == 5 {
			t.Fatalf("start Pebble: %v", err)
		}
	}
}

// Stop ends the CA. It may be called more than once.
func (ca *CA) Stop() { ca.stop() }

// Pool has the root of what the CA issues.
func (ca *CA) Pool(t testing.TB) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca.Root(t)) {
		t.Fatal("the CA's root is no certificate")
	}
	return pool
}

// Root is the root of what the CA issues, as PEM.
func (ca *CA) Root(t testing.TB) []byte {
	t.Helper()
	text, err := ca.get("https://" + ca.management() + "/roots/0")
	if err != nil {
		t.Fatalf("ask the CA for its root: %v", err)
	}
	return text
}

// management is the address of Pebble's second listener, which is one above.
func (ca *CA) management() string {
	return fmt.Sprintf("127.0.0.1:%d", ca.port+1)
}

func (ca *CA) try(t testing.TB, dir string, live time.Duration) error {
	dns, manage, own := freePorts(t)
	ca.port, ca.Directory = own, fmt.Sprintf("https://127.0.0.1:%d/dir", own)
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": fmt.Sprintf("127.0.0.1:%d", own), "managementListenAddress": fmt.Sprintf("127.0.0.1:%d", own+1),
		"certificate": filepath.Join(dir, "own.pem"), "privateKey": filepath.Join(dir, "own.key"),
		"httpPort": ca.HTTPPort, "tlsPort": ca.TLSPort, "keyAlgorithm": "ecdsa", "retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles": map[string]any{"default": map[string]any{"description": "for tests", "validityPeriod": int(live.Seconds()) + 1}},
	}})
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "pebble.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return err
	}
	names := launch(dir, "pebble-challtestsrv", "-dnsserver", fmt.Sprintf("127.0.0.1:%d", dns), "-defaultIPv6", "", "-management", fmt.Sprintf("127.0.0.1:%d", manage),
		"-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "")
	pebble := launch(dir, "pebble", "-config", file, "-dnsserver", fmt.Sprintf("127.0.0.1:%d", dns))
	var once sync.Once
	ca.stop = func() { once.Do(func() { pebble.end(); names.end() }) }
	for end := time.Now().Add(startLimit); ; time.Sleep(20 * time.Millisecond) {
		_, err := ca.get(ca.Directory)
		if err == nil {
			_, err = ca.get("https://" + ca.management() + "/roots/0")
		}
		if err == nil && !names.over() && resolves(dns) {
			return nil
		}
		if pebble.over() || names.over() || time.Now().After(end) {
			ca.stop()
			err = errors.Join(errors.New("it does not answer"), err)
			return fmt.Errorf("%w\n%s%s", err, pebble.out.Bytes(), names.out.Bytes())
		}
	}
}

// resolves says whether the name server answers.
func resolves(dns int) bool {
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", fmt.Sprintf("127.0.0.1:%d", dns))
	}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	found, err := r.LookupHost(ctx, "any.example.test.")
	return err == nil && len(found) == 1
}

func (ca *CA) get(url string) ([]byte, error) {
	answer, err := ca.client.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// process is a program that was started.
type process struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan struct{}
	err  error
}

func launch(dir, name string, args ...string) *process {
	p := &process{cmd: exec.Command(filepath.Join(dir, name), args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	// No waits made longer on purpose, no nonce refused by chance.
	p.cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0", "PEBBLE_AUTHZREUSE=0")
	p.err = p.cmd.Start()
	go func() {
		defer close(p.done)
		if p.err == nil {
			p.err = p.cmd.Wait()
		}
	}()
	return p
}

func (p *process) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) end() {
	if p.cmd.Process != nil {
		_ = p.cmd.Process.Kill() // it may have ended
	}
	<-p.done
}

func build(t testing.TB, root, dir string) {
	t.Helper()
	for _, name := range []string{"pebble", "pebble-challtestsrv"} {
		cmd := exec.Command("go", "build", "-modfile", filepath.Join("tools", "pebble.mod"), "-o", filepath.Join(dir, name), "github.com/letsencrypt/pebble/v2/cmd/"+name)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s, the CA of these tests (it comes from the Go module proxy): %v\n%s", name, err, out)
		}
	}
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// freePorts finds a port for names, one for their management, and two in a row
// for the CA.
func freePorts(t testing.TB) (dns, manage, own int) {
	t.Helper()
	for range 100 {
		a, b, c := listen(t, 0), listen(t, 0), listen(t, 0)
		dns, manage, own = port(a), port(b), port(c)
		d, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", own+1))
		for _, l := range []net.Listener{a, b, c} {
			_ = l.Close()
		}
		if err == nil {
			_ = d.Close()
			return dns, manage, own
		}
	}
	t.Fatal("no free ports")
	return 0, 0, 0
}

func listen(t testing.TB, at int) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", at))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// authority makes the certificate of the CA's own listener and the root behind
// it.
func authority(t testing.TB, dir string) *x509.CertPool {
	t.Helper()
	root, rootKey := Certificate(t, "roots of the tests", nil, nil, time.Hour)
	own, ownKey := Certificate(t, "127.0.0.1", root, rootKey, time.Hour)
	WritePEM(t, filepath.Join(dir, "roots.pem"), "", root, nil)
	WritePEM(t, filepath.Join(dir, "own.pem"), filepath.Join(dir, "own.key"), own, ownKey)
	pool := x509.NewCertPool()
	pool.AddCert(root)
	return pool
}

// Certificate makes a certificate for a name or an address, signed by parent, or
// by itself.
func Certificate(t testing.TB, name string, parent *x509.Certificate, parentKey *ecdsa.PrivateKey, live time.Duration) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(live),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	if parent == nil {
		template.IsCA, template.KeyUsage, template.DNSNames = true, template.KeyUsage|x509.KeyUsageCertSign, nil
		parent, parentKey = template, key
		if !strings.Contains(name, " ") {
			template.DNSNames = []string{name}
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// WritePEM writes a certificate, and its key where one is given, each at once.
func WritePEM(t testing.TB, certFile, keyFile string, cert *x509.Certificate, key *ecdsa.PrivateKey) {
	t.Helper()
	write(t, certFile, "CERTIFICATE", cert.Raw)
	if key == nil {
		return
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, keyFile, "EC PRIVATE KEY", der)
}

func write(t testing.TB, name, kind string, der []byte) {
	t.Helper()
	temporary := name + ".new"
	if err := os.WriteFile(temporary, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temporary, name); err != nil {
		t.Fatal(err)
	}
}
