package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Files names a certificate with its chain and its private key, as PEM.
type Files struct {
	Certificate string
	Key         string        // nobody but its owner and group may use it
	Poll        time.Duration // how often they are looked at; 0: 2 s
}

const (
	defaultPoll  = 2 * time.Second
	maxFileBytes = 1 << 20
	// soon is how long before its end a certificate is told of, once a day.
	soon = 14 * 24 * time.Hour
)

// pair is a certificate as it was read.
type pair struct {
	cert     *tls.Certificate
	pem, key []byte
}

// files serves one certificate, whatever name is asked for: the client judges
// whether it fits.
type files struct {
	cfg     Files
	log     *slog.Logger
	now     func() time.Time
	current atomic.Pointer[pair]

	mu   sync.Mutex // guards told
	told time.Time  // when the near end was told
}

func openFiles(cfg Config) (*files, error) {
	f := &files{cfg: *cfg.Files, log: cfg.Log, now: cfg.Now}
	if f.cfg.Poll <= 0 {
		f.cfg.Poll = defaultPoll
	}
	p, err := f.read()
	if err != nil {
		return nil, err
	}
	f.put(p)
	return f, nil
}

func (f *files) read() (*pair, error) {
	certificate, err := readBounded(f.cfg.Certificate, 0)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	key, err := readBounded(f.cfg.Key, 0o007)
	if err != nil {
		return nil, fmt.Errorf("read the certificate's key: %w", err)
	}
	cert, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate %s and its key: %w", f.cfg.Certificate, err)
	}
	if now := f.now(); now.After(cert.Leaf.NotAfter) {
		return nil, fmt.Errorf("the certificate %s has expired at %s", f.cfg.Certificate, cert.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return &pair{cert: &cert, pem: certificate, key: key}, nil
}

// readBounded reads a regular file whose mode has none of the bits of closed.
func readBounded(name string, closed os.FileMode) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is refused, not awaited
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Mode().Perm()&closed != 0:
		return nil, fmt.Errorf("everybody may use %s (mode %04o): run chmod o= on it", name, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("%s is larger than 1 MiB", name)
	}
	return text, err
}

func (f *files) put(p *pair) {
	f.current.Store(p)
	s := statusOf(p.cert.Leaf)
	f.log.Info("certificate in force", "names", s.Names, "issuer", s.Issuer, "not_after", s.NotAfter, "sha256", s.SHA256)
	f.mu.Lock()
	f.told = time.Time{}
	f.mu.Unlock()
	f.tellEnd()
}

// tellEnd warns once a day of a certificate that is near its end.
func (f *files) tellEnd() {
	now, end := f.now(), f.current.Load().cert.Leaf.NotAfter
	f.mu.Lock()
	defer f.mu.Unlock()
	if end.Sub(now) > soon || now.Sub(f.told) < 24*time.Hour {
		return
	}
	f.told = now
	f.log.Warn("THE CERTIFICATE ENDS SOON: put a new one in its place, it is read when it changes", "not_after", end.UTC())
}

func (f *files) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return f.current.Load().cert, nil
}

func (*files) protocols() []string { return []string{"http/1.1"} }

// keep looks at the files, and puts in force what has changed and come to rest:
// two looks in a row must see the same, so that a pair that is half written is
// not told as broken.
func (f *files) keep(ctx context.Context) {
	tick := time.NewTicker(f.cfg.Poll)
	defer tick.Stop()
	before, refused := f.look(), ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f.tellEnd()
		seen := f.look()
		if seen != before || seen == refused {
			before = seen
			continue
		}
		p, err := f.read()
		switch {
		case err != nil:
			refused = seen
			f.log.Error("the changed certificate is not put in force; the one before it stays", "error", err)
		case !f.same(p):
			f.put(p)
		}
	}
}

// look is what a file system tells of both files without reading them.
func (f *files) look() string {
	var seen bytes.Buffer
	for _, name := range []string{f.cfg.Certificate, f.cfg.Key} {
		info, err := os.Stat(name)
		if err != nil {
			fmt.Fprintln(&seen, err)
			continue
		}
		fmt.Fprintln(&seen, info.Size(), info.ModTime().UnixNano(), info.Mode(), inode(info))
	}
	return seen.String()
}

func inode(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}

func (f *files) same(p *pair) bool {
	now := f.current.Load()
	return bytes.Equal(p.pem, now.pem) && bytes.Equal(p.key, now.key)
}

func (f *files) prepare(context.Context) (commit func(), what string, err error) {
	p, err := f.read()
	if err != nil {
		return nil, "", err
	}
	if f.same(p) {
		return func() {}, "", nil
	}
	return func() { f.put(p) }, statusOf(p.cert.Leaf).String(), nil
}

func (*files) challenge(http.ResponseWriter, *http.Request) bool { return false }

func (f *files) status() []Status { return []Status{statusOf(f.current.Load().cert.Leaf)} }
