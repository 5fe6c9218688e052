package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func none(string) string { return "" }

func load(t *testing.T, yaml string, env map[string]string, flags ...Override) (*Loaded, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Sources{File: file, Dir: "/cwd", Getenv: func(k string) string { return env[k] }, Flags: flags})
}

func mustLoad(t *testing.T, yaml string, env map[string]string, flags ...Override) *Loaded {
	t.Helper()
	l, err := load(t, yaml, env, flags...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func faultsOf(t *testing.T, yaml string, env map[string]string, flags ...Override) Faults {
	t.Helper()
	_, err := load(t, yaml, env, flags...)
	var faults Faults
	if !errors.As(err, &faults) {
		t.Fatalf("loaded, or another error: %v", err)
	}
	return faults
}

func TestShippedFileIsTheDefaults(t *testing.T) {
	root := filepath.Join("..", "..")
	abs, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := Load(Sources{File: filepath.Join(abs, "config.yaml"), Dir: "/", Getenv: none})
	if err != nil {
		t.Fatal(err)
	}
	empty := Loaded{Config: Defaults()}
	empty.resolvePaths(abs)
	want := leavesOf(&empty.Config)
	got := leavesOf(&shipped.Config)
	if len(got) != len(want) {
		t.Fatalf("config.yaml has %d keys, the defaults %d", len(got), len(want))
	}
	for i := range want {
		g, w := got[i].value.Interface(), want[i].value.Interface()
		if got[i].path != want[i].path || !reflect.DeepEqual(g, w) {
			t.Errorf("%s is %v in config.yaml, and %s is %v by default", got[i].path, g, want[i].path, w)
		}
		if shipped.Origin(want[i].path).Place == "" {
			t.Errorf("config.yaml does not say %s", want[i].path)
		}
	}
	if len(shipped.Warnings) > 0 {
		t.Errorf("config.yaml warns: %q", shipped.Warnings)
	}
}

func TestDocsHaveARowForEveryKey(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 3 && strings.HasPrefix(line, "| `") {
			rows[strings.Trim(cells[1], " `")] = strings.Trim(cells[2], " `")
		}
	}
	for _, k := range Keys() {
		path := strings.NewReplacer("plugins.python.", "plugins.NAME.", "plugins.calc.", "plugins.NAME.").Replace(k.Path)
		shown, ok := rows[path]
		if !ok {
			t.Errorf("docs/configuration.md has no row for %s", path)
			continue
		}
		if path == k.Path && !sameValue(t, k, shown) {
			t.Errorf("docs/configuration.md says %s is %q by default; it is %q", path, shown, k.Default)
		}
	}
	for path := range rows {
		if !knownPath(path) {
			t.Errorf("docs/configuration.md has a row for %s, which is no key", path)
		}
	}
}

func knownPath(path string) bool {
	for _, k := range Keys() {
		if k.Path == strings.Replace(path, ".NAME.", ".python.", 1) {
			return true
		}
	}
	return false
}

func sameValue(t *testing.T, k Key, shown string) bool {
	t.Helper()
	c := Defaults()
	if fault := setPath(&c, k.Path, strings.Trim(shown, `"`)); fault != nil {
		t.Errorf("default of %s in docs/configuration.md: %s", k.Path, fault.Problem)
		return false
	}
	for _, l := range leavesOf(&c) {
		if l.path == k.Path {
			return formatValue(l.value) == k.Default
		}
	}
	return false
}

func TestEveryKeyHasAFlagAVariableAndAMeaning(t *testing.T) {
	seen := map[string]string{"config": "--config", "set": "--set", "output": "--output", "help": "--help", FileEnv: FileEnv}
	for _, k := range Keys() {
		for _, name := range []string{k.Flag(), k.Env()} {
			if other, twice := seen[name]; twice {
				t.Errorf("%s and %s share the name %s", k.Path, other, name)
			}
			seen[name] = k.Path
		}
		if k.Help == "" || strings.ContainsAny(k.Help, "|\n") {
			t.Errorf("%s has no help, or one that does not fit into a table: %q", k.Path, k.Help)
		}
		if _, err := load(t, "", nil, Override{Path: k.Path, Text: k.Default, Place: "--" + k.Flag()}); err != nil {
			t.Errorf("the default of %s, given as text, is refused: %v", k.Path, err)
		}
	}
	if len(seen) < 100 {
		t.Errorf("%d names for all keys", len(seen))
	}
}

func TestPrecedence(t *testing.T) {
	const file = "limits: {wall: 20s, queue: 3, stdout_bytes: 1MiB}\n"
	env := map[string]string{"SLUICE_LIMITS_WALL": "21s", "SLUICE_LIMITS_QUEUE": "4"}
	l := mustLoad(t, file, env, Override{Path: "limits.wall", Text: "22s", Place: "--limits-wall"})
	if l.Limits.Wall != 22*time.Second || l.Limits.Queue != 4 || l.Limits.StdoutBytes != MiB || l.Limits.StderrBytes != 64*KiB {
		t.Fatalf("got %+v", l.Limits)
	}
	for path, place := range map[string]string{"limits.wall": "--limits-wall", "limits.queue": "SLUICE_LIMITS_QUEUE", "limits.stderr_bytes": ""} {
		if got := l.Origin(path).Place; got != place {
			t.Errorf("%s was set by %q, want %q", path, got, place)
		}
	}
	if got := l.Origin("limits.stdout_bytes").Place; !strings.HasSuffix(got, "c.yaml:1:45") {
		t.Errorf("limits.stdout_bytes was set by %q", got)
	}
}

func TestLaterFlagWins(t *testing.T) {
	l := mustLoad(t, "", nil,
		Override{Path: "limits.wall", Text: "1s", Place: "--limits-wall"}, Override{Path: "limits.wall", Text: "2s", Place: "--set"})
	if l.Limits.Wall != 2*time.Second {
		t.Fatalf("got %v", l.Limits.Wall)
	}
}

func TestRelativePaths(t *testing.T) {
	l := mustLoad(t, "policy: {dir: rules}\nplugins:\n  python: {config: {waiting_children: 2}}\n  calc: {}\n",
		map[string]string{"SLUICE_AUTH_TOKEN_FILE": "tok"},
		Override{Path: "plugins.calc.command", Text: "x/calc", Place: "--set"},
		Override{Path: "plugins.calc.config.data", Text: "./d", Place: "--set"})
	base := filepath.Dir(l.File)
	for got, want := range map[string]string{
		l.Policy.Dir:                                  filepath.Join(base, "rules"),
		l.Auth.TokenFile:                              "/cwd/tok",
		l.Plugins["calc"].Command:                     "/cwd/x/calc",
		l.Plugins["calc"].Config["data"].(string):     "/cwd/d",
		l.Plugins["python"].Command:                   filepath.Join(base, "bin/plugins/python-exec"),
		l.Plugins["python"].Config["python"].(string): filepath.Join(base, ".venv/bin/python"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if n := l.Plugins["python"].Config["waiting_children"]; n != 2 {
		t.Errorf("waiting_children is %v", n)
	}
}

func TestWithoutAFileDefaultsAreTakenFromTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	l, err := Load(Sources{Dir: dir, Getenv: none})
	if err != nil {
		t.Fatal(err)
	}
	if l.File != "" || l.Policy.Dir != filepath.Join(dir, "policies") || l.Auth.TokenFile != "" {
		t.Fatalf("got file %q, policy %q, token file %q", l.File, l.Policy.Dir, l.Auth.TokenFile)
	}
	if err := os.WriteFile(filepath.Join(dir, FileDefault), []byte("limits: {queue: 1}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err = Load(Sources{Dir: dir, Getenv: none}); err != nil || l.Limits.Queue != 1 {
		t.Fatalf("config.yaml in the working directory was not read: %v", err)
	}
}

func TestPluginsInTheFileAreThoseThereAre(t *testing.T) {
	l := mustLoad(t, "plugins: {calc: {}}\n", nil)
	if len(l.Plugins) != 1 || l.Plugins["calc"].Trust != TrustBuilt {
		t.Fatalf("got %v", sortedNames(l.Plugins))
	}
}

func TestEveryFaultIsReportedWithItsPlace(t *testing.T) {
	faults := faultsOf(t, `listen: nowhere
limts: {}
limits:
  wall: 30
  memory: lots
  memory: 1GiB
  queue: -1
wall: 3s
auth: {token: s3cret}
sandbox: {require: [syscalls, clean-strt]}
tls: {mode: acmee}
log: [info]
plugins:
  star: {command: bin/star, trust: pinned}
`, map[string]string{"SLUICE_LIMITS_CPU": "soon"}, Override{Path: "limits.nope", Text: "1", Place: "--set"})
	want := []string{
		`c.yaml:2:1: limts: no such key; did you mean limits?`,
		`c.yaml:4:9: limits.wall: "30" has no unit; write "30s", say`,
		`c.yaml:5:11: limits.memory: "lots" is no size`,
		`c.yaml:6:3: limits.memory: stands here a second time`,
		`c.yaml:7:10: limits.queue: "-1" is negative`,
		`c.yaml:8:1: wall: no such key; did you mean limits.wall?`,
		`c.yaml:9:8: auth.token: no such key; secrets never stand in the configuration`,
		`c.yaml:12:6: log: is a group of keys, a list stands there`,
		`SLUICE_LIMITS_CPU: limits.cpu: "soon" is no duration`,
		`--set: limits.nope: no such key`,
		`c.yaml:1:9: listen: "nowhere" is no host:port`,
		`plugins.star.sha256: is empty, and trust is pinned`,
		`c.yaml:10:20: sandbox.require: "clean-strt" is not known; did you mean clean-start?`,
		`c.yaml:11:13: tls.mode: "acmee" is not known; did you mean acme?`,
	}
	text := faults.Error()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no fault like %q", w)
		}
	}
	if len(faults) != len(want) {
		t.Errorf("%d faults, want %d", len(faults), len(want))
	}
	if strings.Contains(text, "s3cret") {
		t.Error("a fault shows a secret")
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestStrictYAML(t *testing.T) {
	for name, c := range map[string]struct{ yaml, want string }{
		"two documents":    {"listen: :1\n---\nlisten: :2\n", "a second document begins"},
		"alias":            {"log: &l {level: info}\nauth: *l\n", "c.yaml:2:7: auth: is an alias"},
		"merge":            {"log: &l {level: info}\nauth:\n  <<: *l\n", "c.yaml:3:3: auth: a key must be plain text"},
		"null":             {"listen:\n", "listen: has no value"},
		"not YAML":         {"log: [1\nx: 2\n", "is no YAML"},
		"a list":           {"- 1\n", "is a group of keys, a list stands there"},
		"value for a list": {"sandbox: {require: rlimits}\n", "sandbox.require: takes a list, a value stands there"},
		"list for a value": {"listen: [1]\n", "listen: takes a string, a list stands there"},
		"number beyond":    {"limits: {queue: 99999999999}\n", "is no whole number"},
		"token to plugin":  {"plugins: {calc: {env: [SOLVER_TOKEN]}}\n", `"SOLVER_TOKEN" must not reach a plugin`},
		"no plugin":        {"plugins: {}\n", "plugins: names no plugin"},
		"figure over wire": {"limits: {plotly_bytes: 3MiB}\n", "such a figure could never arrive"},
		"code over body":   {"limits: {code_bytes: 1MiB}\n", "such code could never arrive"},
	} {
		t.Run(name, func(t *testing.T) {
			if text := faultsOf(t, c.yaml, nil).Error(); !strings.Contains(text, c.want) {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	for name, from := range map[string]Sources{
		"--config":      {File: "gone.yaml", Dir: t.TempDir(), Getenv: none},
		"SLUICE_CONFIG": {Dir: t.TempDir(), Getenv: func(k string) string { return map[string]string{FileEnv: "gone.yaml"}[k] }},
	} {
		if _, err := Load(from); err == nil || !strings.HasPrefix(err.Error(), name+": read the configuration") {
			t.Errorf("got %v, want a fault of %s", err, name)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "1B": 1, "64KiB": 65536, "64kB": 64000, "1.5KiB": 1536, "1GiB": 1 << 30, "1000001B": 1000001,
	} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("%s is %d (%v), want %d", text, uint64(got), err, uint64(want))
		}
		if back, err := ParseSize(got.String()); err != nil || back != got {
			t.Errorf("%s is written %s, which reads %d (%v)", text, got, uint64(back), err)
		}
	}
	for _, text := range []string{"", "64", "-1KiB", "1e3KiB", "KiB", "1 KB 2", "9999PiB", "٣KiB"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is taken as %d", text, uint64(got))
		}
	}
}

func TestWallsAreLoweredToTheCeiling(t *testing.T) {
	l := mustLoad(t, "limits: {wall_ceiling: 10s}\n", nil)
	if l.Limits.Wall != 10*time.Second || l.Limits.ToolWall != 10*time.Second || len(l.Warnings) != 2 {
		t.Fatalf("wall %v, tool_wall %v, warnings %q", l.Limits.Wall, l.Limits.ToolWall, l.Warnings)
	}
}

func TestSetPlugin(t *testing.T) {
	l := mustLoad(t, "", nil,
		Override{Path: "plugins.star.command", Text: "/p/star", Place: "--set"},
		Override{Path: "plugins.star.trust", Text: "built", Place: "--set"},
		Override{Path: "plugins.star.tools", Text: "star, starlark", Place: "--set"},
		Override{Path: "plugins.star.config.deep.er", Text: "7", Place: "--set"})
	want := defaultPlugin()
	want.Command, want.Trust, want.Tools = "/p/star", TrustBuilt, []string{"star", "starlark"}
	want.Config = map[string]any{"deep": map[string]any{"er": 7}}
	if got := l.Plugins["star"]; !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v", got)
	}
}

func TestYAMLReadsBack(t *testing.T) {
	l := mustLoad(t, "limits: {wall: 5s}\nsandbox: {require: []}\nplugins: {calc: {config: {a: [1, 2.5, \"x\"]}}}\n", nil,
		Override{Path: "listen", Text: ":0", Place: "--listen"},
		Override{Path: "plugins.calc.config.b", Text: "7", Place: "--set"})
	text, err := l.YAML()
	if err != nil {
		t.Fatal(err)
	}
	back := mustLoad(t, string(text), nil)
	if !reflect.DeepEqual(back.Map(), l.Map()) {
		t.Errorf("printed:\n%s\nreads back as %v, want %v", text, back.Map(), l.Map())
	}
	for _, want := range []string{"listen: :0 # --listen\n", "wall: 5s # ", "b: 7} # ", ":3:26, b: --set\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func FuzzFile(f *testing.F) {
	shipped, err := os.ReadFile(filepath.Join("..", "..", "config.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(shipped))
	f.Add("a: &a [*a]\n")
	f.Add("plugins: {x: {config: {? [1] : 2}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := Defaults()
		r := reader{file: "f", origin: map[string]Origin{}, base: "/"}
		r.read(&c, []byte(text))
		for _, fault := range r.faults {
			if fault.String() == "" {
				t.Fatal("an empty fault")
			}
		}
	})
}

func TestVariablesThatSetNoKey(t *testing.T) {
	env := map[string]string{
		"SLUICE_LIMITS_WAL": "9s", "SLUICE_QUITE_ANOTHER_THING": "1", "SLUICE_EMPTY": "", "SLUICE_CONFIG_SEEN": "x",
		"SLUICE_OF_A_PLUGIN": "1", "OTHER": "1", "SLUICE_LIMITS_WALL": "9s",
	}
	var names []string
	for name := range env {
		names = append(names, name)
	}
	load := func(yaml string) error {
		file := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(Sources{File: file, Dir: "/cwd", Getenv: func(k string) string { return env[k] }, Names: names})
		return err
	}
	err := load("plugins: {python: {env: [SLUICE_OF_A_PLUGIN]}}")
	want := "SLUICE_CONFIG_SEEN: sets no key; did you mean SLUICE_CONFIG?\n" +
		"SLUICE_LIMITS_WAL: sets no key; did you mean SLUICE_LIMITS_WALL?\n" +
		"SLUICE_QUITE_ANOTHER_THING: sets no key; 'gateway config print' lists the keys"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestAbsurdMemory(t *testing.T) {
	for _, size := range []string{"1000B", "16777215B", "2TiB"} {
		faults := faultsOf(t, "limits: {memory: "+size+"}", nil)
		if len(faults) != 1 || !strings.Contains(faults.Error(), "is none of 16MiB to 1TiB") {
			t.Errorf("%s: %v", size, faults)
		}
	}
	mustLoad(t, "limits: {memory: 16MiB}", nil)
}
