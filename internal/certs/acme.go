package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
)

// The challenges by which a CA is shown that a name is ours.
const (
	TLSALPN01 = "tls-alpn-01" // answered by the public listener
	HTTP01    = "http-01"     // answered on plain HTTP, see [Keeper.Plain]
)

// acmeProtocol is what a CA offers in the handshake of tls-alpn-01 (RFC 8737).
const acmeProtocol = "acme-tls/1"

// ACME says who issues certificates, and for whom.
type ACME struct {
	Domains    []string // names or addresses; the first is served to a client that names none
	Directory  string   // the CA's directory, an https URL
	Roots      string   // PEM file of the roots that the CA's own certificate is checked against; empty: the system's
	Email      string   // where the CA reaches the operator; may be empty
	Profile    string   // one that the CA offers; empty: its default
	Storage    string   // folder of account and certificates; survives restarts
	Challenges []string // TLSALPN01, HTTP01
	TLSPort    int      // where the public listener listens; the CA comes to 443
	HTTPPort   int      // where Plain is served; the CA comes to 80
	ListenHost string   // of both

	Check time.Duration // how often certificates are looked at; 0: 10 min
	// RenewAt is the part of its life that a certificate has left when it is
	// renewed, unless the CA asks for another time; 0: a third.
	RenewAt float64
}

type acme struct {
	cfg    ACME
	log    *slog.Logger
	redact *strings.Replacer
	magic  *certmagic.Config
	cache  *certmagic.Cache
	issuer *certmagic.ACMEIssuer
	stop   sync.Once
}

func openACME(ctx context.Context, cfg Config) (*acme, error) {
	a := &acme{cfg: *cfg.ACME, log: cfg.Log, redact: redactor(*cfg.ACME)}
	roots, err := a.roots()
	if err != nil {
		return nil, err
	}
	store, err := openStorage(a.cfg.Storage)
	if err != nil {
		return nil, err
	}
	logger := newZap(cfg.Log, a.redact)
	a.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert:   func(certmagic.Certificate) (*certmagic.Config, error) { return a.magic, nil },
		RenewCheckInterval: a.cfg.Check, Logger: logger,
	})
	a.magic = certmagic.New(a.cache, certmagic.Config{
		RenewalWindowRatio: a.cfg.RenewAt, DefaultServerName: a.cfg.Domains[0], Storage: store, Logger: logger,
		OnEvent: a.tell, ShouldEmitFunc: func(event string) bool { return strings.HasPrefix(event, "cert_") },
	})
	a.issuer = certmagic.NewACMEIssuer(a.magic, certmagic.ACMEIssuer{
		CA: a.cfg.Directory, TrustedRoots: roots, Email: a.cfg.Email, Agreed: true, Profile: a.cfg.Profile,
		DisableHTTPChallenge: !slices.Contains(a.cfg.Challenges, HTTP01), DisableTLSALPNChallenge: !slices.Contains(a.cfg.Challenges, TLSALPN01),
		ListenHost: a.cfg.ListenHost, AltHTTPPort: a.cfg.HTTPPort, AltTLSALPNPort: a.cfg.TLSPort, Logger: logger,
	})
	a.magic.Issuers = []certmagic.Issuer{a.issuer}
	if err := a.load(ctx); err != nil {
		a.cache.Stop()
		return nil, err
	}
	return a, nil
}

func (a *acme) roots() (*x509.CertPool, error) {
	if a.cfg.Roots == "" {
		return nil, nil
	}
	text, err := readBounded(a.cfg.Roots, 0)
	if err != nil {
		return nil, fmt.Errorf("read the CA's roots: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read the CA's roots: %s holds no certificate as PEM", a.cfg.Roots)
	}
	return pool, nil
}

// load takes what is stored before the CA is asked anything: a certificate that
// is still good serves, whatever becomes of its renewal (a start that waits for
// the CA is how others fell over: gitea issue 38519).
func (a *acme) load(ctx context.Context) error {
	for _, name := range a.cfg.Domains {
		cert, err := a.magic.CacheManagedCertificate(ctx, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			a.log.Info("no certificate is stored; the CA is asked for one", "name", name, "ca", a.cfg.Directory)
		case err != nil:
			return fmt.Errorf("load the stored certificate of %s: %w", name, err)
		default:
			a.log.Info("the stored certificate is served", "name", name, "not_after", cert.Leaf.NotAfter.UTC(), "expired", cert.Expired())
		}
	}
	return nil
}

// tell says in our words what became of a certificate. An error would stop
// certmagic.
func (a *acme) tell(_ context.Context, event string, data map[string]any) error {
	name, _ := data["identifier"].(string)
	renewal, _ := data["renewal"].(bool)
	switch event {
	case "cert_obtained":
		a.log.Info("certificate issued", "name", name, "renewal", renewal, "ca", a.cfg.Directory)
	case "cert_failed":
		why := a.redact.Replace(fmt.Sprint(data["error"]))
		if strings.HasSuffix(why, context.Canceled.Error()) {
			return nil // the gateway stops
		}
		kept := a.served(name)
		if kept == nil {
			a.log.Error("NO CERTIFICATE: the CA issued none, and TLS cannot be spoken until it does; it is asked again", "name", name, "ca", a.cfg.Directory, "error", why)
			return nil
		}
		a.log.Error("the certificate is not renewed: the old one is served, and the CA is asked again", "name", name, "ca", a.cfg.Directory,
			"not_after", kept.NotAfter.UTC(), "error", why)
	}
	return nil
}

func (a *acme) served(name string) *x509.Certificate {
	for _, cert := range a.cache.AllMatchingCertificates(name) {
		if cert.Leaf != nil {
			return cert.Leaf
		}
	}
	return nil
}

// keep has certmagic obtain what is missing and renew what is due: now, because
// it takes what load has loaded for managed and would look after Check.
func (a *acme) keep(ctx context.Context) {
	err := errors.Join(a.magic.ManageAsync(ctx, a.cfg.Domains), a.cache.RenewManagedCertificates(ctx))
	if err != nil {
		a.log.Error("certificates are not managed", "error", err)
	}
	<-ctx.Done()
	a.stop.Do(a.cache.Stop)
}

func (a *acme) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return a.magic.GetCertificate(hello)
}

func (a *acme) protocols() []string {
	list := []string{"http/1.1"}
	if slices.Contains(a.cfg.Challenges, TLSALPN01) {
		list = append(list, acmeProtocol)
	}
	return list
}

// prepare has nothing to read: what is stored is certmagic's alone, and it
// looks by itself.
func (*acme) prepare(context.Context) (commit func(), what string, err error) {
	return func() {}, "", nil
}

func (a *acme) challenge(w http.ResponseWriter, r *http.Request) bool {
	return a.issuer.HandleHTTPChallenge(w, r)
}

func (a *acme) status() []Status {
	var list []Status
	for _, name := range a.cfg.Domains {
		if leaf := a.served(name); leaf != nil {
			list = append(list, statusOf(leaf))
		}
	}
	return list
}
