package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/sluice-gateway/sluice/internal/certs"
	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/front/rest"
	"github.com/sluice-gateway/sluice/internal/listener"
)

// edge is where connections come in: the public listener, behind TLS or not, and
// plain HTTP beside TLS.
type edge struct {
	cfg       *config.Loaded
	log       *slog.Logger
	manager   *listener.Manager
	bound     *listener.Bound
	inherited bool // the public socket outlives this process
	certs     *certs.Keeper
	plain     net.Listener // nil: none
}

// openEdge binds what is to be bound, takes what was handed over, and loads
// certificates. Nothing is accepted yet.
func openEdge(ctx context.Context, cfg *config.Loaded, log *slog.Logger) (*edge, error) {
	sockets, err := listener.Inherit()
	if err != nil {
		return nil, err
	}
	e := &edge{cfg: cfg, log: log, manager: listener.NewManager(log), inherited: sockets.Public() != nil}
	public := sockets.Public()
	if public == nil {
		if public, err = listener.Listen(ctx, cfg.Listen, "listen"); err != nil {
			return nil, err
		}
	}
	e.bound = listener.NewBound(public, cfg.Limits.Connections, log)
	e.plain = sockets.Plain()
	switch {
	case e.plain == nil && cfg.TLS.HTTPListen != "":
		e.plain, err = listener.Listen(ctx, cfg.TLS.HTTPListen, "tls.http_listen")
	case e.plain != nil && cfg.TLS.Mode == config.TLSOff:
		err = fmt.Errorf("a socket named %q was handed over, and tls.mode is off: the public socket is plain HTTP then", listener.Plain)
	}
	if err == nil {
		err = e.openCerts(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *edge) openCerts(ctx context.Context) (err error) {
	t := e.cfg.TLS
	cfg := certs.Config{Log: e.log}
	switch t.Mode {
	case config.TLSOff:
		return nil
	case config.TLSFiles:
		cfg.Files = &certs.Files{Certificate: t.Certificate, Key: t.Key}
	default:
		host, port := addressOf(e.bound)
		cfg.ACME = &certs.ACME{
			Domains: t.Domains, Directory: t.CA, Roots: t.CARoots, Email: t.Email, Profile: t.Profile, Storage: t.Storage,
			Challenges: t.ACMEChallenges(), Check: t.Check, ListenHost: host, TLSPort: port,
		}
		if e.plain != nil {
			_, cfg.ACME.HTTPPort = addressOf(e.plain)
		}
	}
	if e.certs, err = certs.Open(ctx, cfg); err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	return nil
}

func addressOf(l net.Listener) (host string, port int) {
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok || at.IP.IsUnspecified() {
		host = ""
	} else {
		host = at.IP.String()
	}
	if ok {
		port = at.Port
	}
	return host, port
}

// address is where the public listener listens.
func (e *edge) address() net.Addr { return e.bound.Addr() }

// handler is what stands around everything that is answered here.
func (e *edge) handler(next http.Handler) http.Handler {
	if e.certs != nil {
		next = certs.HSTS(e.cfg.TLS.HSTS, next)
	}
	return e.bound.Handler(next)
}

// serve answers until the server is shut down. Certificates are kept fresh, and
// plain HTTP is answered, until ctx ends.
func (e *edge) serve(ctx context.Context, server *http.Server) error {
	inner := server.ConnContext
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return e.bound.Context(inner(ctx, c), c) }
	var l net.Listener = e.bound
	if e.certs != nil {
		go e.certs.Keep(ctx)
		l = tls.NewListener(l, e.certs.TLS())
	}
	if e.plain != nil {
		go e.servePlain(ctx)
	}
	return server.Serve(rest.Listener(l, newRequestID))
}

func (e *edge) servePlain(ctx context.Context) {
	bound := listener.NewBound(e.plain, e.cfg.Limits.Connections, e.log)
	server := rest.ServerFor(bound.Handler(e.certs.Plain(e.cfg.TLS.PublicPort, refusePlain)), rest.ServerConfig{
		HeaderTime: e.cfg.Limits.HeaderTime, HeaderBytes: int(e.cfg.Limits.HeaderBytes), IdleTime: e.cfg.Limits.HeaderTime, Log: e.log,
	})
	inner := server.ConnContext
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return bound.Context(inner(ctx, c), c) }
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(rest.Listener(bound, newRequestID)); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		e.log.Error("plain HTTP is not answered any more", "error", err)
	}
}

// refusePlain answers what could carry a token in the clear.
func refusePlain(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, http.StatusForbidden, "this is plain HTTP: send it to https; take a token that was sent here for known to others")
}

// reloader reads the certificate's files again.
func (e *edge) reloader() reloader {
	return reloader{name: "certificates", prepare: func(ctx context.Context, _ *config.Loaded) (func(), string, error) {
		if e.certs == nil {
			return func() {}, "", nil
		}
		return e.certs.Prepare(ctx)
	}}
}

// tell says at start how the public listener is reached.
func (e *edge) tell() {
	e.log.Info("listening", "address", e.address().String(), "handed_over", e.inherited, "tls", e.cfg.TLS.Mode,
		"version", version, "build", build, "config", orDefaults(e.cfg.File))
	if e.plain != nil {
		e.log.Info("listening for plain HTTP", "address", e.plain.Addr().String(), "challenges", e.cfg.TLS.ACMEChallenges())
	}
	if at, ok := e.address().(*net.TCPAddr); ok && e.certs == nil && !at.IP.IsLoopback() {
		e.log.Warn("NO TLS ON AN ADDRESS THAT OTHERS CAN REACH: tokens and programs pass in the clear; set tls.mode, or end TLS in front (docs/tls.md)", "address", at.String())
	}
}

// letGo takes nothing in any more and waits until who has a connection is
// answered. What comes later stays in a socket that outlives this process.
func (e *edge) letGo(ctx context.Context, server *http.Server) {
	_ = e.bound.Close() // an error would be that it is closed
	server.SetKeepAlivesEnabled(false)
	grace := silentTime
	if e.inherited {
		grace = silentTimeBehindSocket
	}
	e.bound.Drain(ctx, grace)
}

// How long a connection may be silent before the end does not wait for it any
// more. Behind a socket no connection is to be lost, so it is longer.
const (
	silentTime             = 200 * time.Millisecond
	silentTimeBehindSocket = 5 * time.Second
)

func (e *edge) close() error {
	err := e.bound.Close()
	if e.plain != nil {
		err = errors.Join(err, e.plain.Close())
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
