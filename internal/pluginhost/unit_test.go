package pluginhost

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

func TestRestartDelay(t *testing.T) {
	times := contractTiming()
	for n, want := range map[int]time.Duration{0: 0, 1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 5: 1600 * time.Millisecond, 9: 25600 * time.Millisecond, 10: 30 * time.Second, 1000: 30 * time.Second} {
		for range 50 {
			if got := times.restartDelay(n); got < want*8/10 || got > want*12/10 {
				t.Errorf("restart %d waits %v, want %v and 20 %% more or less", n, got, want)
			}
		}
	}
}

func TestWindow(t *testing.T) {
	begin := time.Unix(1000, 0)
	w := window{length: time.Minute}
	for i, want := range []int{1, 2, 3, 4, 4, 4} {
		if got := w.add(begin.Add(time.Duration(i) * 15 * time.Second)); got != want {
			t.Errorf("event %d: %d within a minute, want %d", i, got, want)
		}
	}
	if got := w.count(begin.Add(time.Hour)); got != 0 {
		t.Errorf("an hour later %d, want 0", got)
	}
}

func TestPulse(t *testing.T) {
	const no, ill, ok = "no", "ill", "ok"
	for name, c := range map[string]struct {
		looks []string
		want  State
	}{
		"well":                   {[]string{ok, ok}, Healthy},
		"one missed":             {[]string{ok, no}, Healthy},
		"two missed":             {[]string{no, no}, Degraded},
		"five missed":            {[]string{no, no, no, no, no}, Stopping},
		"four and one answer":    {[]string{no, no, no, no, ok, no, no, no, no}, Degraded},
		"ill":                    {[]string{ok, ill}, Degraded},
		"ill for long":           {[]string{ill, ill, ill, ill, ill, ill, ill}, Degraded},
		"two good are too few":   {[]string{no, no, ok, ok}, Degraded},
		"three good":             {[]string{no, no, ok, ok, ok}, Healthy},
		"good ones not in a row": {[]string{no, no, ok, ok, ill, ok, ok}, Degraded},
	} {
		p := pulse{times: contractTiming()}
		var got State
		for _, l := range c.looks {
			got = p.feel(l != no, l == ok)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestPoisonList(t *testing.T) {
	p := newPoison(contractTiming())
	now := time.Unix(1000, 0)
	a, b := digest{1}, digest{2}
	p.blame([]digest{a, b}, now)
	check := func(what string, d digest, at time.Time, suspect, refused bool) {
		t.Helper()
		if s, r := p.judge(d, at); s != suspect || r != refused {
			t.Errorf("%s: suspect %v, refused %v; want %v, %v", what, s, r, suspect, refused)
		}
	}
	check("one crash", a, now, true, false)
	check("stranger", digest{3}, now, false, false)
	p.blame([]digest{a}, now.Add(9*time.Minute))
	check("two crashes", a, now.Add(9*time.Minute), true, true)
	check("the first is long ago", a, now.Add(11*time.Minute), true, false)
	p.clear(b)
	check("acquitted", b, now, false, false)
	check("forgotten", a, now.Add(time.Hour), false, false)
	many := make([]digest, maxSuspects)
	for i := range many {
		many[i] = digest{9, byte(i), byte(i >> 8)}
	}
	p.blame(many, now)
	p.blame([]digest{a}, now)
	if len(p.seen) > maxSuspects {
		t.Errorf("%d suspects are kept", len(p.seen))
	}
}

func TestRing(t *testing.T) {
	var r ring
	if r.String() != "" {
		t.Error("an empty ring has words")
	}
	var all []byte
	for i := range 3000 {
		part := fmt.Appendf(nil, "line %d of words\n", i)
		all = append(all, part...)
		if n, err := r.Write(part); n != len(part) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		if want := all[max(0, len(all)-lastWordsBytes):]; i%500 == 499 && r.String() != string(want) {
			t.Fatalf("after %d bytes the ring does not hold the last of them", len(all))
		}
	}
	big := bytes.Repeat([]byte("ab"), lastWordsBytes)
	_, _ = r.Write(big)
	if r.String() != string(big[:lastWordsBytes]) {
		t.Error("a write larger than the ring is not its end")
	}
}

func describe(tools ...executor.Tool) executor.Description {
	return executor.Description{Name: "x", Tools: tools, Languages: []executor.Language{{ID: "python"}, {ID: "lua"}}}
}

func TestOffer(t *testing.T) {
	py := executor.Tool{Name: "Run-Python", Aliases: []string{"py"}, Language: "python"}
	own := executor.Tool{Name: "lua", Language: "lua", Description: "its own"}
	for name, c := range map[string]struct {
		wanted []string
		d      executor.Description
		names  string
		tools  int
		err    string
	}{
		"all":              {nil, describe(py), "lua py python run_python", 1, ""},
		"a tool named so":  {nil, describe(py, own), "lua py python run_python", 2, ""},
		"chosen":           {[]string{"run_python"}, describe(py, own), "py run_python", 1, ""},
		"by alias":         {[]string{" PY "}, describe(py, own), "py run_python", 1, ""},
		"language alone":   {[]string{"python"}, describe(py, own), "python", 0, ""},
		"missing":          {[]string{"perl"}, describe(py), "", 0, `tool "perl" is named in the configuration`},
		"shared":           {nil, describe(py, executor.Tool{Name: "PY", Language: "lua"}), "", 0, "share the name"},
		"unknown language": {nil, describe(executor.Tool{Name: "a", Language: "perl"}), "", 0, "not described"},
	} {
		o, err := newOffer(&pool{}, c.wanted, c.d)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want an error with %q", name, err, c.err)
			}
			continue
		}
		var names []string
		for n := range o.names {
			names = append(names, n)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); err != nil || got != c.names || len(o.tools) != c.tools {
			t.Errorf("%s: names %q, %d tools, %v; want %q, %d", name, got, len(o.tools), err, c.names, c.tools)
		}
	}
}

func TestDirectory(t *testing.T) {
	d := newDirectory([]Plugin{{Name: "one", Tools: []string{"Some-Tool"}}})
	if _, err := d.find("some_tool"); !errors.Is(err, gateway.ErrPluginDown) {
		t.Errorf("before the first start: %v", err)
	}
	if _, err := d.find("other"); !errors.Is(err, gateway.ErrUnknownTool) {
		t.Errorf("an unknown tool: %v", err)
	}
}

func TestLikeness(t *testing.T) {
	base := describe(executor.Tool{Name: "a", Language: "python"})
	newer := base
	newer.Version = "2.0.0"
	if likeness(base) != likeness(newer) {
		t.Error("another version is another plugin")
	}
	other := describe(executor.Tool{Name: "b", Language: "python"})
	tree := base
	tree.Languages = []executor.Language{{ID: "python", TreeSchema: "pyast/2"}, {ID: "lua"}}
	for _, d := range []executor.Description{other, tree} {
		if likeness(base) == likeness(d) {
			t.Errorf("%v passes for the same", d)
		}
	}
}

func TestConfigChecks(t *testing.T) {
	good := Config{StateRoot: "/tmp/x", Log: slog.New(slog.DiscardHandler), Plugins: []Plugin{{Name: "a", Command: "/bin/a", Trust: TrustBuilt}}}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"relative root":   {func(c *Config) { c.StateRoot = "x" }, "absolute path"},
		"long root":       {func(c *Config) { c.StateRoot = "/" + strings.Repeat("x", 60) }, "at most 50 bytes"},
		"no log":          {func(c *Config) { c.Log = nil }, "no logger"},
		"no plugin":       {func(c *Config) { c.Plugins = nil }, "no plugin"},
		"twice":           {func(c *Config) { c.Plugins = append(c.Plugins, c.Plugins[0]) }, "configured twice"},
		"no name":         {func(c *Config) { c.Plugins[0].Name = "" }, "without a name"},
		"relative":        {func(c *Config) { c.Plugins[0].Command = "a" }, "absolute"},
		"no trust":        {func(c *Config) { c.Plugins[0].Trust = "" }, "neither pinned"},
		"pinned by no":    {func(c *Config) { c.Plugins[0].Trust = TrustPinned }, "needs the sha256"},
		"pinned by short": {func(c *Config) { c.Plugins[0].Trust, c.Plugins[0].SHA256 = TrustPinned, "abcd" }, "64 hex digits"},
		"built and sum":   {func(c *Config) { c.Plugins[0].SHA256 = "abcd" }, "no meaning"},
		"token":           {func(c *Config) { c.Plugins[0].Env = []string{"SOLVER_TOKEN_FILE"} }, "not handed"},
		"handshake":       {func(c *Config) { c.Plugins[0].Env = []string{"plugin_client_cert"} }, "not handed"},
		"negative":        {func(c *Config) { c.Plugins[0].Instances = -1 }, "negative"},
	} {
		bad := good
		bad.Plugins = slices.Clone(good.Plugins)
		c.change(&bad)
		if err := bad.check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

func TestOpenProgram(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		return p
	}
	const sumOfScript = "5c8ce17cb1ba8fb6d3e1c2ec58fc48aac9a7cfe3d3aae3bd3ad7a06bd94a8b48"
	for name, c := range map[string]struct {
		p    Plugin
		want string
		lost bool
	}{
		"built":       {Plugin{Command: write("a", "x", 0o755), Trust: TrustBuilt}, "", false},
		"no program":  {Plugin{Command: write("b", "x", 0o644), Trust: TrustBuilt}, "not an executable file", false},
		"folder":      {Plugin{Command: dir, Trust: TrustBuilt}, "not an executable file", false},
		"open to all": {Plugin{Command: write("c", "x", 0o757), Trust: TrustBuilt}, "everybody may write", true},
		"other sum":   {Plugin{Command: write("d", "x", 0o755), Trust: TrustPinned, SHA256: sumOfScript}, "is pinned", true},
		"script":      {Plugin{Command: write("e", "#!/bin/sh\n", 0o755), Trust: TrustPinned, SHA256: sumOf("#!/bin/sh\n")}, "is a script", true},
	} {
		f, err := openProgram(c.p)
		closeAll(f)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || errors.Is(err, errMistrust) != c.lost) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func sumOf(s string) string {
	d := executor.Source{Code: []byte(s)}.Digest()
	return hex.EncodeToString(d[:])
}

func TestStateRootMustBePrivate(t *testing.T) {
	root := shortDir(t)
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := openHome(root); err == nil || !strings.Contains(err.Error(), "this user alone") {
		t.Errorf("an open state directory gave %v", err)
	}
	link := root + "-link"
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(link)
	if _, err := openHome(link); err == nil {
		t.Error("a link for a state directory was taken")
	}
}

func TestRateOfLines(t *testing.T) {
	var out bytes.Buffer
	s := &stderrLog{log: slog.New(slog.NewTextHandler(&out, nil)), words: &ring{}}
	now := time.Unix(1000, 0)
	for range 3 * linesPerSecond {
		s.take([]byte("a line"), true, now)
	}
	if n := strings.Count(out.String(), "a line"); n != linesPerSecond {
		t.Errorf("%d lines in one second, want %d", n, linesPerSecond)
	}
	s.take([]byte("later"), true, now.Add(time.Second))
	if !strings.Contains(out.String(), fmt.Sprintf("lines=%d", 2*linesPerSecond)) || !strings.Contains(out.String(), "later") {
		t.Errorf("the lines that were left out are not told: %s", out.String()[out.Len()-300:])
	}
}

func TestChildListensInItsDirectoryOnly(t *testing.T) {
	c := &child{socket: "/run/x/plugin-dir1"}
	if _, _, err := c.PluginToHost("unix", "/run/x/plugin-dir1/plugin2"); err != nil {
		t.Error(err)
	}
	for _, addr := range [][2]string{{"tcp", "127.0.0.1:80"}, {"unix", "/run/docker.sock"}, {"unix", "/run/x/plugin-dir1/../../docker.sock"}, {"unix", ""}, {"unix", "/run/x/plugin-dir1/a\x00b"}} {
		if _, _, err := c.PluginToHost(addr[0], addr[1]); !errors.Is(err, errMistrust) {
			t.Errorf("%q was accepted: %v", addr, err)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, seed := range []string{
		`{"@level":"info","@message":"hi","@timestamp":"2026-01-01T00:00:00.000000Z","a":1,"b":["x"],"c":{"d":null}}`,
		`{"@message":1,"@level":{}}`, `{"@level":"error","@message":"` + "\\ud800" + `"}`, `{}`, `[`, "{\xff", `{"@level":"info","@message":"","` + strings.Repeat("k", 2000) + `":1e999}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		_, message, attrs, ok := parseRecord(line)
		if !ok {
			return
		}
		if len(message) > maxLogText || !utf8.ValidString(message) || len(attrs) > maxLogAttrs {
			t.Fatalf("a record of %d bytes and %d attributes", len(message), len(attrs))
		}
		for _, a := range attrs {
			if len(a.Key) > maxLogValue+len("plugin_") || len(a.Value.String()) > maxLogValue || !utf8.ValidString(a.Key+a.Value.String()) {
				t.Fatalf("attribute %q: %q", a.Key, a.Value)
			}
		}
	})
}

func FuzzStderr(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n{\"@level\":\"warn\",\"@message\":\"m\"}\n"))
	f.Add(bytes.Repeat([]byte("x"), 3*maxLogLine))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		s := &stderrLog{log: slog.New(slog.NewJSONHandler(&out, nil)), words: &ring{}}
		s.pump(bytes.NewReader(data))
		s.end()
		if len(data) <= lastWordsBytes && s.words.String() != strings.ToValidUTF8(string(data), "\uFFFD") {
			t.Fatal("last words are not what was written")
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > 64<<10 {
				t.Fatalf("a record of %d bytes", len(line))
			}
		}
	})
}

func TestHistory(t *testing.T) {
	crash, mistrust := errors.New("crash"), fmt.Errorf("%w: other tools", errMistrust)
	repeat := func(n int, o outcome) []outcome { return slices.Repeat([]outcome{o}, n) }
	for name, c := range map[string]struct {
		ends []outcome
		step time.Duration // between two ends
		want bool          // quarantine after the last
		late bool          // the last restart is not at once
	}{
		"first crash":            {repeat(1, outcome{err: crash}), 0, false, false},
		"second crash":           {repeat(2, outcome{err: crash}), time.Second, false, true},
		"five crashes":           {repeat(5, outcome{err: crash}), time.Second, true, false},
		"five crashes in long":   {repeat(5, outcome{err: crash}), 20 * time.Second, false, true},
		"each after a good time": {repeat(5, outcome{err: crash, healthy: time.Hour}), time.Hour, false, false},
		"three hangs":            {repeat(3, outcome{err: errHung}), 18 * time.Second, true, false},
		"two hangs and a crash":  {append(repeat(2, outcome{err: errHung}), outcome{err: crash}), time.Second, false, true},
		"mistrust":               {repeat(1, outcome{err: mistrust}), 0, true, false},
	} {
		h, now := newHistory(contractTiming()), time.Unix(1000, 0)
		var quarantine bool
		var delay time.Duration
		for _, end := range c.ends {
			if quarantine {
				t.Errorf("%s: quarantine came early", name)
			}
			quarantine, delay = h.next(end, now)
			now = now.Add(c.step)
		}
		if quarantine != c.want || delay > 0 != c.late {
			t.Errorf("%s: quarantine %v, delay %v", name, quarantine, delay)
		}
	}
	h := newHistory(contractTiming())
	h.trial = true
	if again, _ := h.next(outcome{err: crash}, time.Unix(1000, 0)); !again {
		t.Error("a trial that failed did not end in quarantine")
	}
	if again, _ := h.next(outcome{err: crash}, time.Unix(1000, 0)); again {
		t.Error("after a release one crash ended in quarantine")
	}
}
