package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sluice-gateway/sluice/internal/config"
	"github.com/sluice-gateway/sluice/internal/front/admin"
	"github.com/sluice-gateway/sluice/internal/front/admin/plugins"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/internal/telemetry"
	"github.com/sluice-gateway/sluice/internal/upstream"
)

// adminRoutes are what rooms add to the admin listener.
func (h *house) adminRoutes() map[string]http.Handler {
	return plugins.Routes(h.host, pluginOrders{h}, h.log)
}

// serveAdmin opens the admin listener, if there is to be one, and serves it
// until stop. The shipped address may be that of another gateway on this
// machine: then this one has none, and says so; another address that is taken
// is an error.
func (h *house) serveAdmin(ctx context.Context, auth admin.Authenticator) (stop func(), err error) {
	address := h.cfg.Admin.Listen
	if address == "" {
		h.log.Info("the admin listener is off (admin.listen is empty): no metrics, no reload by request")
		return func() {}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) && address == config.Defaults().Admin.Listen {
		h.log.Warn("THERE IS NO ADMIN LISTENER: its address is in use, by another gateway perhaps; set admin.listen to another one, or empty", "address", address)
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("admin.listen: %w; it is set with --admin-listen HOST:PORT, and empty switches it off", err)
	}
	at, _ := listener.Addr().(*net.TCPAddr)
	loopback := at != nil && at.IP.IsLoopback()
	server := admin.ServerFor(admin.New(admin.Config{
		Auth: auth, Policy: adminPolicy{h}, Metrics: h.metrics.Handler(), Log: h.log, Loopback: loopback, Routes: h.adminRoutes(),
	}), h.log)
	h.log.Info("admin listening", "address", listener.Addr().String(), "token", map[bool]string{true: "not needed on this machine", false: "needed, with the scope admin"}[loopback])
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			h.log.Error("the admin listener ended", "error", err)
		}
	}()
	return func() {
		_ = server.Close() // whoever reads metrics now reads the next gateway's
		<-served
	}, nil
}

// adminPolicy is the policy as the admin listener shows it.
type adminPolicy struct{ h *house }

// policyStatus is the answer of GET /admin/policy.
type policyStatus struct {
	policy.Status
	Folder   string              `json:"folder"`
	Watching bool                `json:"watching"`
	Pins     []upstream.PinState `json:"pins"`
}

// Status implements admin.Policy.
func (p adminPolicy) Status() any {
	return policyStatus{Status: p.h.policies.status(), Folder: p.h.policyName(), Watching: p.h.watches(), Pins: p.h.pins.of(p.h)}
}

// Reload implements admin.Policy.
func (p adminPolicy) Reload(ctx context.Context) error { return p.h.reloadPolicy(ctx) }

// status is what is in force; empty before the first load.
func (s *standing) status() policy.Status {
	store := s.store.Load()
	if store == nil {
		return policy.Status{LastError: "the gateway is starting: no policy was loaded yet"}
	}
	return store.Status()
}

// pinCache is what the policy in force follows, read once for each revision.
type pinCache struct {
	mu       sync.Mutex
	revision string
	read     bool
	pins     []upstream.PinState
}

func (c *pinCache) of(h *house) []upstream.PinState {
	revision := h.policies.revision()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.read || c.revision != revision {
		c.read, c.revision, c.pins = true, revision, []upstream.PinState{}
		if pin, err := upstream.Pins(h.policyFS()); err == nil {
			c.pins = pin.States()
		}
	}
	return c.pins
}

// shortPins names each source by its first twelve digits: NAME@DIGITS.
func shortPins(pins []upstream.PinState) string {
	short := make([]string, 0, len(pins))
	for _, p := range pins {
		mark := p.Commit
		if mark == "" && len(p.SHA256) > 0 {
			mark = p.SHA256[0]
		}
		short = append(short, p.Name+"@"+mark[:min(len(mark), 12)])
	}
	return strings.Join(short, " ")
}

// journals is several places in which a submission is written down.
type journals []gateway.Journal

// Record implements gateway.Journal.
func (j journals) Record(e gateway.Entry) {
	for _, one := range j {
		one.Record(e)
	}
}

// telemetry is what the metrics show of the other rooms.
func (h *house) telemetry() telemetry.State {
	p := h.policies.status()
	s := telemetry.State{
		Policy: telemetry.Policy{
			Revision: p.Revision, Pins: shortPins(h.pins.of(h)), LoadedAt: p.LoadedAt, Good: p.Revision != "" && p.LastError == "",
			Loads: p.Loads, FailedLoads: p.FailedLoads, Slow: p.Slow, Faults: p.Faults, Profiles: len(p.Profiles),
		},
		Queue:     telemetry.Queue{Running: h.gateway.Running(), Slots: h.gateway.Slots(), Waiting: h.gateway.Waiting(), Limit: h.cfg.Limits.Queue},
		Sessions:  telemetry.Sessions{Open: h.gateway.OpenSessions(), Limit: h.cfg.Session.Max},
		AuditLost: h.journal.Lost(), ShadowsMissed: h.gateway.ShadowsMissed(),
	}
	for _, p := range h.host.Status() {
		s.Plugins = append(s.Plugins, telemetry.Plugin{
			Name: cmp.Or(p.Plugin, p.Name), Version: p.Version, Instance: p.Instance, State: strings.ToLower(string(p.State)), Restarts: p.Restarts, Inflight: p.Inflight,
		})
	}
	return s
}

// observe counts an HTTP exchange.
func (h *house) observe(method, route string, status int, took time.Duration) {
	h.metrics.Request(method, route, status, took)
}
