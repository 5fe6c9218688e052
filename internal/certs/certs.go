package certs

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Config says where certificates come from: exactly one of Files and ACME.
type Config struct {
	Files *Files
	ACME  *ACME
	Log   *slog.Logger
	Now   func() time.Time // the clock; nil: time.Now
}

// Status is what is served for one name.
type Status struct {
	Names    []string  `json:"names"`
	Issuer   string    `json:"issuer"`
	SHA256   string    `json:"sha256"` // of the certificate, hex
	NotAfter time.Time `json:"not_after"`
}

// source is where certificates come from. Safe for concurrent use.
type source interface {
	certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error)
	protocols() []string
	keep(ctx context.Context)
	prepare(ctx context.Context) (commit func(), what string, err error)
	challenge(w http.ResponseWriter, r *http.Request) (answered bool)
	status() []Status
}

// Keeper has the certificates in force. Safe for concurrent use.
type Keeper struct{ from source }

// Open loads what there is: the files, or what an earlier process stored. Files
// that cannot be used are an error; a CA is not asked before Keep, so that one
// that is down keeps nothing from starting.
func Open(ctx context.Context, cfg Config) (*Keeper, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	switch {
	case cfg.Files != nil:
		s, err := openFiles(cfg)
		return &Keeper{from: s}, err
	default:
		s, err := openACME(ctx, cfg)
		return &Keeper{from: s}, err
	}
}

// TLS is how the public listener speaks: TLS 1.2 or newer, HTTP/1.1.
//
// HTTP/2 is not offered: the front sees to connections that it cannot read
// itself, and every client falls back.
func (k *Keeper) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: k.from.certificate,
		NextProtos:     k.from.protocols(),
	}
}

// Keep keeps the certificates fresh until ctx ends, and returns when what it
// does has ended. The public listener should accept by then: an ACME CA asks it.
func (k *Keeper) Keep(ctx context.Context) { k.from.keep(ctx) }

// Prepare reads again what can change under a running process and checks it;
// commit puts it in force, what tells the change and is empty when there is
// none.
func (k *Keeper) Prepare(ctx context.Context) (commit func(), what string, err error) {
	return k.from.prepare(ctx)
}

// Status tells what is served, one entry a certificate.
func (k *Keeper) Status() []Status { return k.from.status() }

func statusOf(leaf *x509.Certificate) Status {
	names := append([]string{}, leaf.DNSNames...)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	sum := sha256.Sum256(leaf.Raw)
	return Status{Names: names, Issuer: leaf.Issuer.String(), SHA256: hex.EncodeToString(sum[:]), NotAfter: leaf.NotAfter.UTC()}
}

// String is the certificate in a few words.
func (s Status) String() string {
	return fmt.Sprintf("%v until %s (SHA-256 %.12s)", s.Names, s.NotAfter.Format(time.RFC3339), s.SHA256)
}
