package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// reloadsVariable sets how often TestReloadsUnderLoad reloads.
const reloadsVariable = "TEST_RELOADS"

// zebra is a custom rule that tells one policy from the other.
const zebra = `# METADATA
# title: A name that one of two policies refuses
# scope: package
# custom: {language: python}
package custom.zebra

# METADATA
# title: Name of an animal
# custom: {id: zebra, hint: "Take another name."}
deny contains {"rule": "zebra", "msg": sprintf("%s is refused", [name]), "at": at, "subject": name} if {
	some name in {"zebra"}
	some at in input.ast.names[name]
}
`

// TestReloadsUnderLoad swaps two policies under callers who never stop asking: no
// request fails, and every decision is that of the revision that it names.
func TestReloadsUnderLoad(t *testing.T) {
	reloads := 6
	if text := os.Getenv(reloadsVariable); text != "" {
		var err error
		if reloads, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s=%q is no number", reloadsVariable, text)
		}
	}
	dir := filepath.Join(t.TempDir(), "policies")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(repository(t), "policies"))); err != nil {
		t.Fatal(err)
	}
	if reloads < 100 {
		fewPrograms(t, filepath.Join(dir, "corpus"))
	}
	admin := freeAddress(t)
	r := startGateway(t, "--policy-dir", dir, "--policy-reload=false", "--admin-listen", admin, "--audit-file", "off",
		"--policy-deadline", "1m") // a machine that has no time is no fault of the policy
	p := &swapping{t: t, dir: dir, admin: "http://" + admin, refused: map[string]bool{}}
	p.put(true)
	p.put(false) // both revisions are known from here on

	ctx, stop := context.WithCancel(context.Background())
	var callers sync.WaitGroup
	var asked atomic.Int64
	defer callers.Wait()
	defer stop()
	for range 2 {
		callers.Go(func() {
			for ctx.Err() == nil {
				if err := p.ask(r.url); err != nil {
					t.Error(err)
				}
				asked.Add(1)
			}
		})
	}
	for i := range reloads {
		before := asked.Load()
		p.put(i%2 == 1)
		if asked.Load() == before { // each policy judges something
			if err := p.ask(r.url); err != nil {
				t.Error(err)
			}
		}
	}
	stop()
	callers.Wait()
	t.Logf("%d reloads, %d requests, %d of each revision", reloads, asked.Load(), p.counts)
}

// fewPrograms leaves every eighth program of a corpus of folders.
func fewPrograms(t *testing.T, corpus string) {
	t.Helper()
	for _, kind := range []string{"allow", "deny"} {
		names, err := filepath.Glob(filepath.Join(corpus, kind, "*.py"))
		if err != nil || len(names) < 8 {
			t.Fatalf("%d programs in corpus/%s: %v", len(names), kind, err)
		}
		for i, name := range names {
			if i%8 != 0 {
				must(os.Remove(name))
			}
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// swapping is a policy folder that has the rule zebra, or has it not.
type swapping struct {
	t     *testing.T
	dir   string
	admin string

	mu      sync.Mutex
	refused map[string]bool // by revision: whether it refuses zebra
	counts  [2]int          // of decisions, by that
}

// put puts the one or the other policy in force.
func (p *swapping) put(refuses bool) {
	p.t.Helper()
	path := filepath.Join(p.dir, "custom", "zebra.rego")
	if refuses {
		must(os.WriteFile(path, []byte(zebra), 0o600))
	} else {
		must(os.RemoveAll(path))
	}
	status, body := post(p.t, p.admin+"/admin/policy/reload", "")
	var answer struct {
		Revision string `json:"revision"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusOK || answer.Revision == "" {
		p.t.Fatalf("reload answered %d %s", status, body)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if had, known := p.refused[answer.Revision]; known && had != refuses {
		p.t.Fatalf("revision %s is of both policies", answer.Revision)
	}
	p.refused[answer.Revision] = refuses
}

// ask runs a program and wants a decision that fits its revision.
func (p *swapping) ask(url string) error {
	status, body := post(p.t, url+"/v1/run", `{"code":"zebra = 6 * 7\nprint(zebra)"}`)
	var answer struct {
		Status     string `json:"status"`
		Stdout     string `json:"stdout"`
		Violations []struct{ Rule string }
		Policy     struct{ Revision string }
	}
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusOK {
		return fmt.Errorf("a request failed: %d %.300s", status, body)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	refuses, known := p.refused[answer.Policy.Revision]
	switch {
	case !known:
		return fmt.Errorf("a decision names the revision %q, which was never put in force", answer.Policy.Revision)
	case refuses && (answer.Status != "rejected" || len(answer.Violations) == 0 || answer.Violations[0].Rule != "zebra"),
		!refuses && (answer.Status != "completed" || answer.Stdout != "42\n"):
		return fmt.Errorf("revision %s (refuses: %v) answered %.300s", answer.Policy.Revision, refuses, body)
	}
	p.counts[map[bool]int{false: 0, true: 1}[refuses]]++
	return nil
}

func post(t *testing.T, url, body string) (status int, answer []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	request.Header.Set("Authorization", "Bearer "+testToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return response.StatusCode, answer
}
