package auth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/auth"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

const (
	alice = "alice-token-1f2e"
	bob   = "bob-token-3d4c"
)

func authenticator(t *testing.T) *auth.Authenticator {
	t.Helper()
	a, err := auth.New([]auth.Token{
		{Name: "alice", Token: alice, Scopes: []string{"solve"}, Profile: "strict"},
		{Name: "bob", SHA256: sha256.Sum256([]byte(bob)), Scopes: []string{"*"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func TestAuthenticate(t *testing.T) {
	rows := []struct {
		name   string
		header http.Header
		who    string
		err    error
	}{
		{"bearer", http.Header{"Authorization": {"Bearer " + alice}}, "alice", nil},
		{"bearer by digest", http.Header{"Authorization": {"bearer  " + bob}}, "bob", nil},
		{"basic", http.Header{"Authorization": {basic("anyone", bob)}}, "bob", nil},
		{"basic without a user", http.Header{"Authorization": {basic("", alice)}}, "alice", nil},
		{"key", http.Header{"X-Api-Key": {alice}}, "alice", nil},
		{"the same twice", http.Header{"Authorization": {"Bearer " + alice, basic("u", alice)}, "X-Api-Key": {alice}}, "alice", nil},
		{"a scheme that we do not know, and a key", http.Header{"Authorization": {"Digest x"}, "X-Api-Key": {alice}}, "alice", nil},
		{"two", http.Header{"Authorization": {"Bearer " + alice}, "X-Api-Key": {bob}}, "", auth.ErrAmbiguous},
		{"two in one header", http.Header{"Authorization": {"Bearer " + alice, "Bearer " + bob}}, "", auth.ErrAmbiguous},
		{"right and wrong", http.Header{"Authorization": {"Bearer " + alice}, "X-Api-Key": {"x"}}, "", auth.ErrAmbiguous},
		{"none", http.Header{}, "", auth.ErrMissing},
		{"empty", http.Header{"Authorization": {""}, "X-Api-Key": {" "}}, "", auth.ErrMissing},
		{"empty bearer", http.Header{"Authorization": {"Bearer "}}, "", auth.ErrMissing},
		{"empty password", http.Header{"Authorization": {basic(alice, "")}}, "", auth.ErrMissing},
		{"bad basic", http.Header{"Authorization": {"Basic ???"}}, "", auth.ErrMissing},
		{"token without a scheme", http.Header{"Authorization": {alice}}, "", auth.ErrMissing},
		{"wrong", http.Header{"Authorization": {"Bearer " + alice + "x"}}, "", auth.ErrUnknown},
		{"a part", http.Header{"Authorization": {"Bearer " + alice[:5]}}, "", auth.ErrUnknown},
		{"its digest", http.Header{"X-Api-Key": {string(make([]byte, 32))}}, "", auth.ErrUnknown},
		{"in a cookie", http.Header{"Cookie": {"token=" + alice}}, "", auth.ErrMissing},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/solve?token="+alice+"&access_token="+alice, unread{t})
			r.Header = row.header
			c, err := authenticator(t).Authenticate(r)
			if c.Name != row.who || !errors.Is(err, row.err) {
				t.Errorf("got %q, %v; want %q, %v", c.Name, err, row.who, row.err)
			}
			if err != nil && (c.May("solve") || strings.Contains(err.Error(), "-token-")) {
				t.Errorf("an error gives %+v, %q", c, err)
			}
		})
	}
}

// unread is a body that must not be touched.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, errors.New("read")
}

func TestScopesAndProfile(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/solve", nil)
	r.Header.Set("X-Api-Key", alice)
	c, err := authenticator(t).Authenticate(r)
	if err != nil || !c.May("solve") || c.May("run") || c.Profile != "strict" {
		t.Errorf("alice: %+v, %v", c, err)
	}
	r.Header.Set("X-Api-Key", bob)
	c, err = authenticator(t).Authenticate(r)
	if err != nil || !c.May("run") || c.Profile != "" {
		t.Errorf("bob: %+v, %v", c, err)
	}
}

func TestAmbiguousSaysSo(t *testing.T) {
	var asked interface{ Ambiguous() bool }
	if !errors.As(error(auth.ErrAmbiguous), &asked) || !asked.Ambiguous() {
		t.Error("ErrAmbiguous does not say that it is")
	}
	if errors.As(auth.ErrUnknown, &asked) {
		t.Error("ErrUnknown says that it is ambiguous")
	}
}

func TestRate(t *testing.T) {
	a, err := auth.New([]auth.Token{{Name: "slow", Token: alice, Rate: 0.01, Burst: 2}, {Name: "free", Token: bob}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token string) error {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("X-Api-Key", token)
		_, err := a.Authenticate(r)
		return err
	}
	for i := range 2 {
		if err := ask(alice); err != nil {
			t.Fatalf("request %d: %v", i+1, err)
		}
	}
	for range 3 { // takes nothing of the rate, and knows no wrong token
		who, err := a.Recheck(&http.Request{Header: http.Header{"X-Api-Key": {alice}}})
		_, wrong := a.Recheck(&http.Request{Header: http.Header{"X-Api-Key": {"wrong"}}})
		if err != nil || who.Name != "slow" || !errors.Is(wrong, auth.ErrUnknown) {
			t.Errorf("once more: %q, %v, %v", who.Name, err, wrong)
		}
	}
	var often *auth.RateError
	for range 3 { // a refused request costs nothing, so the wait does not grow
		if err := ask(alice); !errors.As(err, &often) || often.RetryAfter() <= 0 || often.RetryAfter() > 100*time.Second {
			t.Errorf("third request: %v", err)
		}
	}
	for range 5 {
		if err := ask(bob); err != nil {
			t.Errorf("the other token: %v", err)
		}
	}
}

func TestRateWithoutBurst(t *testing.T) {
	a, err := auth.New([]auth.Token{{Name: "slow", Token: alice, Rate: 0.01}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("X-Api-Key", alice)
	if _, err := a.Authenticate(r); err != nil {
		t.Errorf("first request: %v", err)
	}
	if _, err := a.Authenticate(r); err == nil {
		t.Error("second request: no error")
	}
}

func TestNewRefuses(t *testing.T) {
	rows := map[string][]auth.Token{
		"no token":              nil,
		"is empty":              {{Name: "a", SHA256: sha256.Sum256(nil)}},
		"it has no name":        {{Token: alice}},
		"exactly one of token":  {{Name: "a"}},
		"exactly one of":        {{Name: "a", Token: alice, SHA256: sha256.Sum256([]byte(alice))}},
		"holds a space":         {{Name: "a", Token: "a b"}},
		`that of "a"`:           {{Name: "a", Token: alice}, {Name: "a", Token: bob}},
		`or token is that of`:   {{Name: "a", Token: alice}, {Name: "b", SHA256: sha256.Sum256([]byte(alice))}},
		"must not be negative":  {{Name: "a", Token: alice, Rate: -1}},
		"burst must not be neg": {{Name: "a", Token: alice, Burst: -1}},
	}
	rows["is that of an empty token"] = rows["is empty"]
	delete(rows, "is empty")
	for want, tokens := range rows {
		a, err := auth.New(tokens)
		if a != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), alice) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func FuzzCredential(f *testing.F) {
	f.Add("Bearer "+alice, "")
	f.Add(basic("u", alice), alice)
	f.Add("basic ====", "\x00")
	a, err := auth.New([]auth.Token{{Name: "alice", Token: alice}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, authorization, key string) {
		r := &http.Request{Header: http.Header{"Authorization": {authorization}, "X-Api-Key": {key}}}
		c, err := a.Authenticate(r)
		_, password, _ := r.BasicAuth()
		given := password == alice || strings.Contains(authorization, alice) || strings.TrimSpace(key) == alice
		if err == nil && (!given || c.Name != "alice") {
			t.Errorf("%q, %q let %q in", authorization, key, c.Name)
		}
	})
}

func TestValidity(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	now := noon
	a, err := auth.NewWith([]auth.Token{{Name: "alice", Token: alice, NotBefore: noon, Expires: noon.Add(time.Hour)}},
		auth.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Duration]error{
		-1: auth.ErrNotYet, 0: nil, time.Hour - 1: nil, time.Hour: auth.ErrExpired,
	} {
		now = noon.Add(at)
		if err := ask(a, "192.0.2.1:1", alice); !errors.Is(err, want) {
			t.Errorf("at %v: %v", at, err)
		}
		if _, err := a.Recheck(&http.Request{Header: http.Header{"X-Api-Key": {alice}}}); !errors.Is(err, want) {
			t.Errorf("once more at %v: %v", at, err)
		}
	}
}

// A changed list is in force at once, whole, and what was used of a rate stays
// used.
func TestPrepare(t *testing.T) {
	slow := auth.Token{Name: "slow", Token: alice, Rate: 0.001, Burst: 1}
	a, err := auth.New([]auth.Token{slow})
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(a, "", alice); err != nil {
		t.Fatal(err)
	}
	var often *auth.RateError
	put := func(tokens ...auth.Token) {
		t.Helper()
		commit, err := a.Prepare(tokens)
		if err != nil {
			t.Fatal(err)
		}
		commit()
	}
	put(slow, auth.Token{Name: "bob", Token: bob})
	if err := ask(a, "", alice); !errors.As(err, &often) {
		t.Errorf("the rate was forgotten: %v", err)
	}
	if err := ask(a, "", bob); err != nil {
		t.Errorf("bob: %v", err)
	}
	if _, err := a.Prepare([]auth.Token{slow, slow}); err == nil {
		t.Error("the same twice was taken")
	}
	if err := ask(a, "", bob); err != nil {
		t.Errorf("after a refused list: %v", err)
	}
	slow.Burst = 2
	put(slow)
	if err := ask(a, "", alice); err != nil {
		t.Errorf("another rate: %v", err)
	}
	if err := ask(a, "", bob); !errors.Is(err, auth.ErrUnknown) {
		t.Errorf("bob is gone: %v", err)
	}
	put()
	if err := ask(a, "", alice); !errors.Is(err, auth.ErrUnknown) {
		t.Errorf("all are gone: %v", err)
	}
}

func TestQuota(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	a, err := auth.NewWith([]auth.Token{{Name: "alice", Token: alice, Rate: 1, Burst: 60}}, auth.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("X-Api-Key", alice)
	for i := range 60 {
		c, err := a.Authenticate(r)
		want := gateway.Quota{Requests: 60, Window: time.Minute, Remaining: 59 - i, Reset: time.Duration(i+1) * time.Second}
		if err != nil || *c.Quota != want {
			t.Fatalf("request %d: %+v, %v", i, c.Quota, err)
		}
	}
	_, err = a.Authenticate(r)
	var often *auth.RateError
	if !errors.As(err, &often) || often.Quota().Remaining != 0 || often.RetryAfter() != time.Second {
		t.Errorf("one too many: %+v", err)
	}
}
