// Command bench sends programs to a running gateway over one warm connection
// and runs the same programs in fresh interpreters beside it, in one run on one
// machine, and prints both.
//
// It is started by `make bench`, which gives it a private gateway in the
// environment (GATEWAY_URL, GATEWAY_TOKEN). Begin with run. It must never send
// to another address than a loopback one, and its loops are bounded.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdout, os.Stderr)) }

// program is one thing to run on both sides.
type program struct{ name, code string }

func programs() []program {
	return []program{
		{"print(1)", "print(1)\n"},
		{"factor(12), the README's", "import sympy as sp\nprint(sp.factor(12))\n"},
		{"solve, diff, integrate", "import sympy as sp\nx = sp.symbols('x')\nprint(sp.solve(x**2 - 2, x))\nprint(sp.diff(sp.sin(x) * x, x))\nprint(sp.integrate(x * sp.exp(x), x))\n"},
		{"NumPy linear algebra", "import numpy as np\na = np.eye(60) * 2\nprint(round(float(np.linalg.solve(a, np.ones(60)).sum()), 6))\n"},
		{"a Plotly figure", "import plotly.graph_objects as go\nfig = go.Figure(go.Scatter(x=[1, 2, 3], y=[1, 4, 9]))\nfig.show()\n"},
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	python := flags.String("python", "python3", "interpreter of the fresh runs")
	warm := flags.Int("n", 200, "requests per program")
	fresh := flags.Int("fresh", 7, "fresh interpreters per program")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	target, err := loopback(getenv("GATEWAY_URL"))
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	c := client{url: target, token: getenv("GATEWAY_TOKEN"), http: &http.Client{Timeout: time.Minute}}
	table := tabwriter.NewWriter(stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "program\tSluice p50\tp90\tp99\tfresh python p50\tratio")
	for _, p := range programs() {
		ours, err := c.measure(ctx, p, min(*warm, 5000))
		if err != nil {
			fmt.Fprintf(stderr, "bench: %s: %v\n", p.name, err)
			return 1
		}
		theirs, err := measureFresh(ctx, *python, p, min(*fresh, 50))
		if err != nil {
			fmt.Fprintf(stderr, "bench: %s in a fresh interpreter: %v\n", p.name, err)
			return 1
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.0fx\n", p.name, ms(ours, 50), ms(ours, 90), ms(ours, 99), ms(theirs, 50),
			float64(theirs.ValueAtPercentile(50))/float64(ours.ValueAtPercentile(50)))
	}
	if err := table.Flush(); err != nil {
		return 1
	}
	fmt.Fprintln(stdout, "\nOne client, one warm HTTP connection, one run; medians on a shared machine: compare within the run.")
	return 0
}

// loopback refuses any address but this machine's.
func loopback(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("read GATEWAY_URL %q: start me with `make bench`", raw)
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		return "", fmt.Errorf("send load to %s: loopback addresses alone are measured", u.Hostname())
	}
	return raw, nil
}

func ms(h *hdrhistogram.Histogram, percentile float64) string {
	return fmt.Sprintf("%.2f ms", float64(h.ValueAtPercentile(percentile))/1000)
}

func histogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(time.Minute/time.Microsecond), 3)
}

type client struct {
	url, token string
	http       *http.Client
}

func (c client) measure(ctx context.Context, p program, n int) (*hdrhistogram.Histogram, error) {
	body, err := json.Marshal(map[string]string{"code": p.code})
	if err != nil {
		return nil, err
	}
	h := histogram()
	for i := range n + n/10 {
		begin := time.Now()
		if err := c.solve(ctx, body); err != nil {
			return nil, err
		}
		if i >= n/10 {
			_ = h.RecordValue(time.Since(begin).Microseconds())
		}
	}
	return h, nil
}

func (c client) solve(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/solve", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Passed  bool   `json:"passed"`
		Status  string `json:"status"`
		Summary string `json:"stderr_summary"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("read the answer (HTTP %d): %w", resp.StatusCode, err)
	}
	if !answer.Passed {
		return fmt.Errorf("the program did not pass: HTTP %d, %s, %s", resp.StatusCode, answer.Status, answer.Summary)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// measureFresh runs the program as a file in a new isolated interpreter, n times.
// A figure is made and not shown: there is no browser in the comparison.
func measureFresh(ctx context.Context, python string, p program, n int) (*hdrhistogram.Histogram, error) {
	file, err := os.CreateTemp("", "bench-*.py")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	code := bytes.ReplaceAll([]byte(p.code), []byte("fig.show()"), []byte("fig.to_json()"))
	if _, err := file.Write(code); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	h := histogram()
	for range n {
		begin := time.Now()
		if out, err := exec.CommandContext(ctx, python, "-I", file.Name()).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		_ = h.RecordValue(time.Since(begin).Microseconds())
	}
	return h, nil
}
