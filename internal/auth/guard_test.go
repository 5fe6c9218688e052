package auth_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-gateway/sluice/internal/auth"
)

const shortSecret = "abc"

func guarded(t *testing.T, cfg auth.GuardConfig, log *strings.Builder) *auth.Authenticator {
	t.Helper()
	cfg.Log = slog.New(slog.NewTextHandler(log, nil))
	guard, err := auth.NewGuard(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a, err := auth.NewWith([]auth.Token{{Name: "alice", Token: alice}, {Name: "short", Token: shortSecret}}, auth.Options{Guard: guard})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ask(a *auth.Authenticator, address, token string) error {
	r := httptest.NewRequest(http.MethodPost, "/solve", nil)
	r.RemoteAddr = address
	r.Header.Set("Authorization", "Bearer "+token)
	_, err := a.Authenticate(r)
	return err
}

func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		a := guarded(t, auth.GuardConfig{PerMinute: 3}, &log)
		for i := range 3 {
			if err := ask(a, "192.0.2.1:1000", "wrong-token-of-a-stranger"); !errors.Is(err, auth.ErrUnknown) {
				t.Fatalf("attempt %d: %v", i+1, err)
			}
		}
		var flood *auth.FloodError
		err := ask(a, "192.0.2.1:2000", "wrong-token-of-a-stranger")
		if !errors.As(err, &flood) || flood.RetryAfter() < time.Second || flood.RetryAfter() > 20*time.Second {
			t.Errorf("the fourth: %v", err)
		}
		if err := ask(a, "192.0.2.1:3000", alice); err != nil {
			t.Errorf("a right token of the same address: %v", err)
		}
		if err := ask(a, "192.0.2.1:3000", shortSecret); !errors.As(err, &flood) {
			t.Errorf("a right token that could be guessed: %v", err)
		}
		if err := ask(a, "192.0.2.2:1", shortSecret); err != nil {
			t.Errorf("another address: %v", err)
		}
		if strings.Count(log.String(), "held back") != 1 || !strings.Contains(log.String(), "192.0.2.1") || strings.Contains(log.String(), "wrong-token") {
			t.Errorf("the log is %s", &log)
		}
		time.Sleep(flood.RetryAfter())
		if err := ask(a, "192.0.2.1:3000", shortSecret); err != nil {
			t.Errorf("after the wait: %v", err)
		}
		if err := ask(a, "192.0.2.1:3000", "wrong"); !errors.Is(err, auth.ErrUnknown) {
			t.Errorf("after the wait: %v", err)
		}
		if err := ask(a, "192.0.2.1:3000", "wrong"); !errors.As(err, &flood) {
			t.Errorf("one more than the wait gives: %v", err)
		}
	})
}

func TestGuardPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := guarded(t, auth.GuardConfig{PerMinute: 1, Pause: time.Second}, &strings.Builder{})
		begin := time.Now()
		if err := ask(a, "192.0.2.1:1", "wrong-token-of-a-stranger"); !errors.Is(err, auth.ErrUnknown) || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if err := ask(a, "192.0.2.1:1", "wrong-token-of-a-stranger"); err == nil || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/solve", nil)
		r.RemoteAddr = "192.0.2.1:1"
		r.Header.Set("X-Api-Key", "wrong-token-of-a-stranger")
		begin = time.Now()
		if _, err := a.Authenticate(r); err == nil || time.Since(begin) != 0 {
			t.Errorf("a caller who left: %v after %v", err, time.Since(begin))
		}
	})
}

func TestGuardHoldsABoundedNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := guarded(t, auth.GuardConfig{PerMinute: 1, Pause: time.Minute}, &strings.Builder{})
		_ = ask(a, "192.0.2.1:1", "wrong-token-of-a-stranger")
		answered := make(chan struct{}, 1000)
		for range 600 {
			go func() {
				_ = ask(a, "192.0.2.1:1", "wrong-token-of-a-stranger")
				answered <- struct{}{}
			}()
		}
		synctest.Wait()
		if got := len(answered); got != 600-512 {
			t.Errorf("%d were answered at once, want %d", got, 600-512)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := len(answered); got != 600 {
			t.Errorf("%d were answered", got)
		}
	})
}

func TestGuardForgetsTheOldest(t *testing.T) {
	a := guarded(t, auth.GuardConfig{PerMinute: 1}, &strings.Builder{})
	for i := range 20000 {
		address := fmt.Sprintf("10.%d.%d.1:1", i/256, i%256)
		if err := ask(a, address, "wrong-token-of-a-stranger"); !errors.Is(err, auth.ErrUnknown) {
			t.Fatalf("%s: %v", address, err)
		}
	}
	if err := ask(a, "10.0.0.1:1", "wrong-token-of-a-stranger"); !errors.Is(err, auth.ErrUnknown) {
		t.Errorf("the oldest is still known: %v", err)
	}
	var flood *auth.FloodError
	if err := ask(a, "10.78.31.1:1", "wrong-token-of-a-stranger"); !errors.As(err, &flood) {
		t.Errorf("the newest is forgotten: %v", err)
	}
}

// Which address a wrong token is counted for, seen by who is held back after one.
func TestCallerAddress(t *testing.T) {
	proxies, err := auth.Proxies([]string{"10.0.0.0/8", "192.0.2.7", "2001:db8::/32"})
	if err != nil {
		t.Fatal(err)
	}
	type from struct{ remote, forwarded, xff string }
	rows := []struct {
		name string
		from from
		same from // the same caller, by its plain address
	}{
		{"no proxy", from{"203.0.113.5:80", "", ""}, from{"203.0.113.5:81", "", ""}},
		{"a stranger's word", from{"203.0.113.5:80", "for=1.1.1.1", "1.1.1.1"}, from{"203.0.113.5:1", "", ""}},
		{"behind one proxy", from{"10.1.1.1:80", "", "203.0.113.5"}, from{"203.0.113.5:1", "", ""}},
		{"behind two", from{"10.1.1.1:80", "", "203.0.113.5, 10.9.9.9"}, from{"203.0.113.5:1", "", ""}},
		{"who lies before it", from{"10.1.1.1:80", "", "1.1.1.1, 203.0.113.5"}, from{"203.0.113.5:1", "", ""}},
		{"the standard's header", from{"10.1.1.1:80", `by=x;FOR="203.0.113.5:99";proto=http`, ""}, from{"203.0.113.5:1", "", ""}},
		{"both, alike", from{"10.1.1.1:80", "for=203.0.113.5", "203.0.113.5"}, from{"203.0.113.5:1", "", ""}},
		{"both, unlike", from{"10.1.1.1:80", "for=1.1.1.1", "203.0.113.5"}, from{"10.1.1.1:2", "", ""}},
		{"a quote that is not closed", from{"10.1.1.1:80", `for="1.1.1.1, for=203.0.113.5`, ""}, from{"203.0.113.5:1", "", ""}},
		{"no address", from{"10.1.1.1:80", "", "unknown"}, from{"10.1.1.1:2", "", ""}},
		{"a proxy of version 6", from{"[2001:db8::1]:80", `for="[2a00:1:2:3::4]:5"`, ""}, from{"[2a00:1:2:3:9::9]:1", "", ""}},
		{"a single proxy", from{"192.0.2.7:80", "", "203.0.113.5"}, from{"203.0.113.5:1", "", ""}},
		{"mapped", from{"[::ffff:10.1.1.1]:80", "", "::ffff:203.0.113.5"}, from{"203.0.113.5:1", "", ""}},
		{"proxies alone", from{"10.1.1.1:80", "", "10.2.2.2"}, from{"10.2.2.2:1", "", ""}},
		{"no address at all", from{"@", "", "203.0.113.5"}, from{"", "", ""}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			a := guarded(t, auth.GuardConfig{PerMinute: 1, Proxies: proxies}, &strings.Builder{})
			send := func(f from) error {
				r := httptest.NewRequest(http.MethodPost, "/solve", nil)
				r.RemoteAddr = f.remote
				r.Header.Set("X-Api-Key", "wrong-token-of-a-stranger")
				if f.forwarded != "" {
					r.Header.Set("Forwarded", f.forwarded)
				}
				if f.xff != "" {
					r.Header.Set("X-Forwarded-For", f.xff)
				}
				_, err := a.Authenticate(r)
				return err
			}
			if err := send(row.from); !errors.Is(err, auth.ErrUnknown) {
				t.Fatal(err)
			}
			var flood *auth.FloodError
			if err := send(row.same); !errors.As(err, &flood) {
				t.Errorf("was not counted for that address: %v", err)
			}
		})
	}
}

func TestProxiesRefuses(t *testing.T) {
	for _, text := range []string{"", "localhost", "10.0.0.0/33", "10.0.0.1:80", "::ffff:10.0.0.0/104"} {
		if list, err := auth.Proxies([]string{text}); err == nil {
			t.Errorf("%q gives %v", text, list)
		}
	}
	list, err := auth.Proxies([]string{"10.1.2.3/8", "::1"})
	if err != nil || len(list) != 2 || list[0] != netip.MustParsePrefix("10.0.0.0/8") || list[1] != netip.MustParsePrefix("::1/128") {
		t.Errorf("%v, %v", list, err)
	}
}

func FuzzForwarded(f *testing.F) {
	f.Add("for=1.2.3.4", "1.2.3.4, 5.6.7.8")
	f.Add(`for="[2001:db8::1]:4711";by=x`, ",,,")
	proxies, err := auth.Proxies([]string{"10.0.0.0/8"})
	if err != nil {
		f.Fatal(err)
	}
	guard, err := auth.NewGuard(auth.GuardConfig{PerMinute: 1, Proxies: proxies, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	a, err := auth.NewWith([]auth.Token{{Name: "alice", Token: alice}}, auth.Options{Guard: guard})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, forwarded, xff string) {
		for _, token := range []string{alice, "x"} {
			r := &http.Request{RemoteAddr: "10.0.0.1:1", Header: http.Header{
				"X-Api-Key": {token}, "Forwarded": {forwarded}, "X-Forwarded-For": {xff},
			}}
			if _, err := a.Authenticate(r); (err == nil) != (token == alice) {
				t.Errorf("%q: %v", token, err)
			}
		}
	})
}
