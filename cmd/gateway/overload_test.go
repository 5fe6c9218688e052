package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/auth"
)

// pair is a gateway with two tokens.
type pair struct {
	*running
	one, other string
}

func startPair(t *testing.T, flags ...string) pair {
	t.Helper()
	p := pair{one: auth.Mint(), other: auth.Mint()}
	tokens := filepath.Join(t.TempDir(), "tokens.yaml")
	for name, token := range map[string]string{"one": p.one, "other": p.other} {
		if err := auth.Add(tokens, auth.Token{Name: name, SHA256: auth.DigestOf(token), Scopes: []string{"solve"}}); err != nil {
			t.Fatal(err)
		}
	}
	p.running = startGateway(t, append([]string{"--auth-tokens", tokens, "--audit-file", "off", "--admin-listen", ""}, flags...)...)
	return p
}

// freshClient is one connection's worth of requests.
func freshClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
}

// solveAs sends a program; status 0 is no answer.
func (r *running) solveAs(ctx context.Context, c *http.Client, token, code string) (status int, outcome string) {
	body, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		panic(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/solve", strings.NewReader(string(body)))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := c.Do(request)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	var told struct{ Status any }
	_ = json.NewDecoder(answer.Body).Decode(&told) // what cannot be read has no outcome
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, fmt.Sprint(told.Status)
}

// crowd has n clients of a token send a program again and again, without a rest,
// until ctx ends; it counts their answers by status.
func (r *running) crowd(ctx context.Context, n int, token, code string) (counts func() map[int]int, over func()) {
	var mu sync.Mutex
	var all sync.WaitGroup
	seen := map[int]int{}
	for range n {
		all.Go(func() {
			c := freshClient()
			defer c.CloseIdleConnections()
			for ctx.Err() == nil {
				status, _ := r.solveAs(ctx, c, token, code)
				if ctx.Err() != nil {
					return // cut off by the test itself
				}
				mu.Lock()
				seen[status]++
				mu.Unlock()
			}
		})
	}
	return func() map[int]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(seen)
	}, all.Wait
}

// times are how long n requests of one client took, one after the other, sorted.
func (r *running) times(t *testing.T, n int, token, code string) []time.Duration {
	t.Helper()
	c := freshClient()
	defer c.CloseIdleConnections()
	var list []time.Duration
	for i := range n {
		begin := time.Now()
		if status, outcome := r.solveAs(t.Context(), c, token, code); status != http.StatusOK || outcome != "completed" {
			t.Fatalf("request %d of the single client: %d %s", i, status, outcome)
		}
		list = append(list, time.Since(begin))
	}
	slices.Sort(list)
	return list
}

func p99(sorted []time.Duration) time.Duration { return sorted[len(sorted)*99/100] }

// factoring is a program like those of the gateway's users.
const factoring = "import sympy as sp\nx = sp.symbols('x')\nprint(sp.factor(x**24 - 1))"

// TestOneClientBesideFifty has fifty clients of one token ask without a rest: a
// client of another token gets every answer, and they are not served many times
// as often as it is.
func TestOneClientBesideFifty(t *testing.T) {
	p := startPair(t)
	p.times(t, 3, p.one, factoring)
	ctx, cancel := context.WithCancel(t.Context())
	counts, over := p.crowd(ctx, 50, p.other, factoring)
	waitFor(t, func() bool { return counts()[http.StatusServiceUnavailable] > 0 }) // they are more than there is room for
	const n = 30
	before := counts()
	p.times(t, n, p.one, factoring)
	after := counts()
	cancel()
	over()
	if served := after[http.StatusOK] - before[http.StatusOK]; served > 10*n {
		t.Errorf("the fifty were served %d times while the one was served %d times", served, n)
	} else {
		t.Logf("the fifty were served %d times and refused %d times, the one was served %d times", served,
			after[http.StatusServiceUnavailable]-before[http.StatusServiceUnavailable], n)
	}
	for status, count := range after {
		if status != http.StatusOK && status != http.StatusServiceUnavailable {
			t.Errorf("%d answers of the fifty had status %d", count, status)
		}
	}
}

// TestFloodOfWrongTokens has strangers send wrong tokens, and others whole
// headers never, from the same address as an honest client: it gets every
// answer.
func TestFloodOfWrongTokens(t *testing.T) {
	p := startPair(t)
	begin := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	counts, over := p.crowd(ctx, 50, auth.Mint(), factoring)
	stop := p.trickle(t, 200)
	waitFor(t, func() bool { return counts()[http.StatusTooManyRequests] > 0 })
	p.times(t, 30, p.one, factoring)
	cancel()
	over()
	stop()
	for status, count := range counts() {
		if status != http.StatusUnauthorized && status != http.StatusTooManyRequests {
			t.Errorf("%d answers to wrong tokens had status %d", count, status)
		}
	}
	most := 60 + 1 + int(time.Since(begin)/time.Second) // auth.failed_per_minute, at once and each second
	if told := counts()[http.StatusUnauthorized]; told > most {
		t.Errorf("%d wrong tokens were told 401, %d may be", told, most)
	}
}

// trickle opens n connections that send a header a letter a second and never end
// it. stop closes them and tells how many the gateway had closed by then.
func (r *running) trickle(t *testing.T, n int) (stop func() (closed int)) {
	t.Helper()
	var conns []net.Conn
	for range n {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	done, over := make(chan struct{}), make(chan struct{})
	var gone atomic.Int64
	go func() {
		defer close(over)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		text, alive := "POST /solve HTTP/1.1\r\nHost: a\r\nX-Slow: "+strings.Repeat("a", 1<<12), conns
		for i := 0; ; i++ {
			alive = slices.DeleteFunc(slices.Clone(alive), func(c net.Conn) bool {
				_, err := c.Write([]byte(text[i%len(text) : i%len(text)+1]))
				return err != nil
			})
			gone.Store(int64(n - len(alive)))
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() int {
		close(done)
		<-over
		for _, c := range conns {
			c.Close()
		}
		return int(gone.Load())
	}
}

// TestOverload holds the slowest of a hundred answers to bounds in times of the
// same client's without load, in one run: `make overload`.
func TestOverload(t *testing.T) {
	if os.Getenv("OVERLOAD") == "" {
		t.Skip("measures times, for a machine that does nothing else: make overload")
	}
	const n = 300
	for _, row := range []struct {
		name  string
		bound float64
		load  func(t *testing.T, p pair) (stop func())
	}{
		{"fifty greedy clients of another token", 3, func(t *testing.T, p pair) func() {
			ctx, cancel := context.WithCancel(t.Context())
			_, over := p.crowd(ctx, 50, p.other, factoring)
			return func() { cancel(); over() }
		}},
		{"a flood of wrong tokens", 5, func(t *testing.T, p pair) func() {
			ctx, cancel := context.WithCancel(t.Context())
			_, over := p.crowd(ctx, 200, auth.Mint(), factoring)
			return func() { cancel(); over() }
		}},
		{"2,000 connections that trickle", 5, func(t *testing.T, p pair) func() {
			stop := p.trickle(t, 2000)
			return func() { t.Logf("%d of 2000 were closed by the gateway", stop()) }
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := startPair(t)
			p.times(t, 20, p.one, factoring)
			quiet := p.times(t, n, p.one, factoring)
			stop := row.load(t, p)
			time.Sleep(time.Second)
			loud := p.times(t, n, p.one, factoring)
			stop()
			ratio := float64(p99(loud)) / float64(p99(quiet))
			t.Logf("alone: p50 %v, p99 %v; beside %s: p50 %v, p99 %v; ratio %.2f", quiet[n/2], p99(quiet), row.name, loud[n/2], p99(loud), ratio)
			if ratio > row.bound {
				t.Errorf("the p99 is %.2f times as long, at most %.0f is promised", ratio, row.bound)
			}
		})
	}
}
