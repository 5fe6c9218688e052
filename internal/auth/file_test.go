package auth_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/auth"
)

func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func TestParseFile(t *testing.T) {
	text := `
tokens:
  - name: worker
    sha256: "` + digestOf(alice) + `"
    scopes: [solve]
    profile: strict
    not_before: 2026-01-02
    expires: "2027-01-02T03:04:05+01:00"
    rate: 60/m
    concurrency: 4
  - {name: agents, sha256: ` + strings.ToUpper(digestOf(bob)) + `, scopes: [tools, sessions], rate: 0.5, burst: 7}
`
	want := []auth.Token{
		{
			Name: "worker", SHA256: sha256.Sum256([]byte(alice)), Scopes: []string{"solve"}, Profile: "strict",
			NotBefore: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Expires: time.Date(2027, 1, 2, 2, 4, 5, 0, time.UTC),
			Rate: 1, Burst: 60, Concurrency: 4,
		},
		{Name: "agents", SHA256: sha256.Sum256([]byte(bob)), Scopes: []string{"tools", "sessions"}, Rate: 0.5, Burst: 7},
	}
	got, err := auth.ParseFile("tokens.yaml", []byte(text))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	bare := strings.Replace(text, "tokens:\n", "", 1)
	if again, err := auth.ParseFile("tokens.yaml", []byte(bare)); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("a bare list: %+v, %v", again, err)
	}
	for _, empty := range []string{"", "# nothing\n", "tokens:\n", "tokens: []\n", "[]"} {
		if none, err := auth.ParseFile("tokens.yaml", []byte(empty)); err != nil || len(none) != 0 {
			t.Errorf("%q: %+v, %v", empty, none, err)
		}
	}
}

func TestParseFileRefuses(t *testing.T) {
	good := "- name: a\n  sha256: " + digestOf(alice) + "\n  scopes: [solve]\n"
	rows := map[string]string{
		"tokens.yaml:1:1: there is no key \"token\"":           "token: []",
		"a list of tokens belongs here":                        "tokens: 7",
		"tokens stands here a second time":                     "tokens: []\ntokens: []",
		"a token is a group of keys":                           "- worker",
		"tokens.yaml:4:3: there is no key \"scope\"":           good + "  scope: [run]",
		"did you mean scopes?":                                 good + "  scope: [run]",
		"a token itself never stands here":                     good + "  token: " + alice,
		"scopes stands here a second time":                     good + "  scopes: [run]",
		"the token has no sha256":                              "- {name: a, scopes: [solve]}",
		"the token has no scopes":                              "- {name: a, sha256: " + digestOf(alice) + "}",
		"the token has no name":                                "- {scopes: [run], sha256: " + digestOf(alice) + "}",
		"names \"solv\", which is none; did you mean solve?":   strings.Replace(good, "[solve]", "[solv]", 1),
		"names \"*\", which is none":                           strings.Replace(good, "[solve]", "['*']", 1),
		"names \"run\" twice":                                  strings.Replace(good, "[solve]", "[run, run]", 1),
		"scopes is empty":                                      strings.Replace(good, "[solve]", "[]", 1),
		"scopes takes a list":                                  strings.Replace(good, "[solve]", "solve", 1),
		"profile takes a single value":                         good + "  profile: [a]",
		"profile has no value":                                 good + "  profile:",
		"must be 64 hexadecimal digits":                        strings.Replace(good, digestOf(alice), alice, 1),
		"sha256 is that of no token":                           strings.Replace(good, digestOf(alice), digestOf(""), 1),
		"must not be \"default\"":                              strings.Replace(good, "name: a", "name: default", 1),
		"name must be 1 to 63":                                 strings.Replace(good, "name: a", "name: 'a b'", 1),
		"there is another token \"a\"":                         good + strings.Replace(good, digestOf(alice), digestOf(bob), 1),
		"the sha256 is that of \"a\" too":                      good + strings.Replace(good, "name: a", "name: b", 1),
		"expires \"soon\" is no time":                          good + "  expires: soon",
		"it expires before it begins":                          good + "  expires: 2026-01-01\n  not_before: 2026-01-01",
		"rate \"60/w\" is no rate":                             good + "  rate: 60/w",
		"rate \"0\" is no rate":                                good + "  rate: 0",
		"rate \"-1/s\" is no rate":                             good + "  rate: -1/s",
		"rate \"NaN\" is no rate":                              good + "  rate: NaN",
		"burst has no meaning without rate":                    good + "  burst: 3",
		"concurrency \"0\" is no whole number from 1 on":       good + "  concurrency: 0",
		"is no YAML":                                           "- {",
		"a second document begins":                             good + "---\n" + good,
		"name takes a single value":                            "- {name: [a], sha256: " + digestOf(alice) + ", scopes: [run]}",
		"holds 4097 tokens, at most 4096":                      strings.Repeat("- {}\n", 4097),
		"there is no key \"pro…\"; did you mean ":              good + "  profileprofileprofileprofile: x",
		"sha256 has no value":                                  "- {name: a, sha256: , scopes: [run]}",
		"a token itself never stands here: write its digest a": good + "  secret: x",
	}
	for want, text := range rows {
		_, err := auth.ParseFile("tokens.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), alice) {
			t.Errorf("%q:\nwant %q\ngot  %v", text[:min(len(text), 200)], want, err)
		}
	}
}

func TestReadFileWantsItsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	if _, err := auth.ReadFile(path); err == nil || !strings.Contains(err.Error(), "gateway token new") {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, fine := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o660: false, 0o602: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := auth.ReadFile(path); (err == nil) != fine {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	if _, err := auth.ReadFile(filepath.Dir(path)); err == nil {
		t.Error("a folder was read")
	}
	if err := os.Truncate(path, 1<<20+1); err != nil || os.Chmod(path, 0o600) != nil {
		t.Fatal(err)
	}
	if _, err := auth.ReadFile(path); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("too large a file: %v", err)
	}
}

func TestAddAndRevoke(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	full := auth.Token{
		Name: "full", SHA256: auth.DigestOf(alice), Scopes: []string{"solve", "policy:read"}, Profile: "strict",
		NotBefore: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Expires: time.Date(2027, 1, 2, 2, 4, 5, 0, time.UTC),
		Rate: 1.0 / 60, Burst: 9, Concurrency: 4,
	}
	plain := auth.Token{Name: "1e3", SHA256: auth.DigestOf(bob), Scopes: []string{"run"}}
	for _, token := range []auth.Token{full, plain} {
		if err := auth.Add(path, token); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	got, err := auth.ReadFile(path)
	if err != nil || !reflect.DeepEqual(got, []auth.Token{full, plain}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := auth.Add(path, full); err == nil || !strings.Contains(err.Error(), "another token") {
		t.Errorf("the same again: %v", err)
	}
	if err := auth.Revoke(path, "nosuch"); !errors.Is(err, auth.ErrNoSuchToken) {
		t.Errorf("revoke nosuch: %v", err)
	}
	for _, name := range []string{"full", "1e3"} {
		if err := auth.Revoke(path, name); err != nil {
			t.Errorf("revoke %s: %v", name, err)
		}
	}
	if left, err := auth.ReadFile(path); err != nil || len(left) != 0 {
		t.Errorf("left: %+v, %v", left, err)
	}
	if err := auth.Add(path, plain); err != nil {
		t.Errorf("add to an emptied file: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestAddKeepsCommentsAndForm(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "link.yaml")
	text := "# Ours.\n- name: a # the worker\n  sha256: " + digestOf(alice) + "\n  scopes: [solve]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil || os.Symlink(path, link) != nil {
		t.Fatal(err)
	}
	if err := auth.Add(link, auth.Token{Name: "b", SHA256: auth.DigestOf(bob), Scopes: []string{"run"}}); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(after), "# Ours.\n- name: a # the worker\n") {
		t.Errorf("the file is now\n%s%v", after, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("- broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := auth.Add(path, auth.Token{Name: "c"}); err == nil {
		t.Error("a broken file was changed")
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != "- broken" {
		t.Errorf("a broken file is now %q, %v", after, err)
	}
}

// Edits at once all count, and a reader never sees a part of one.
func TestAddAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	if err := auth.Add(path, auth.Token{Name: "first", SHA256: auth.DigestOf("first"), Scopes: []string{"run"}}); err != nil {
		t.Fatal(err)
	}
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	readers.Go(func() {
		for {
			if tokens, err := auth.ReadFile(path); err != nil || len(tokens) == 0 {
				t.Errorf("read meanwhile: %v, %v", tokens, err)
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	const n = 16
	for i := range n {
		writers.Go(func() {
			name := fmt.Sprint("t", i)
			if err := auth.Add(path, auth.Token{Name: name, SHA256: auth.DigestOf(name), Scopes: []string{"run"}}); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if tokens, err := auth.ReadFile(path); err != nil || len(tokens) != n+1 {
		t.Errorf("%d tokens, %v", len(tokens), err)
	}
}

func TestMint(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		token := auth.Mint()
		if seen[token] || len(token) != 67 || !strings.HasPrefix(token, "sluice_") || !auth.Minted(token) {
			t.Errorf("%q", token)
		}
		seen[token] = true
		damaged := strings.Replace(token, token[20:21], "!", 1)
		if auth.Minted(damaged) {
			t.Errorf("%q passes for a token", damaged)
		}
	}
	for _, other := range []string{"", "sluice_", "sluice_00000000", "ghp_x"} {
		if auth.Minted(other) {
			t.Errorf("%q passes for a token", other)
		}
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]string{"5": "5/s", "5/s": "5/s", "60/m": "1/s", "90/m": "90/m", "7/h": "7/h", "0.5": "30/m"} {
		perSecond, _, err := auth.ParseRate(text)
		if got := auth.FormatRate(perSecond); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add("tokens:\n- name: a\n  sha256: " + digestOf(alice) + "\n  scopes: [solve]\n  rate: 5/s\n  expires: 2026-01-01\n")
	f.Add("- &a {name: *a}")
	f.Add("? [x]\n: y")
	f.Fuzz(func(t *testing.T, text string) {
		tokens, err := auth.ParseFile("f", []byte(text))
		if err != nil || len(tokens) == 0 {
			return
		}
		if _, err := auth.New(tokens); err != nil {
			t.Errorf("%q is taken and is not right: %v", text, err)
		}
	})
}
