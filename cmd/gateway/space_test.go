package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/auth"
)

// spaceFolder writes the folder of a Space.
func spaceFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "space")
	spaceRun(t, filepath.Join(repository(t), "deploy", "space", "write.sh"), dir)
	return dir
}

func spaceRun(t *testing.T, command string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", command, args, err, out)
	}
}

// TestSpaceFolder holds what `make space` writes against what belongs there.
func TestSpaceFolder(t *testing.T) {
	dir := spaceFolder(t)
	spaceRun(t, filepath.Join(repository(t), "deploy", "space", "write.sh"), dir) // again, over itself
	allowed := regexp.MustCompile(`^(Dockerfile|README\.md|LICENSE|BUILD|assemble\.sh|config\.yaml|go\.(mod|sum)|(cmd/gateway|executor|internal|plugins|policies)/.+)$`)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if !allowed.MatchString(name) || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			t.Errorf("%s does not belong there", name)
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(testToken)) || regexp.MustCompile(auth.Prefix+`[a-z2-7]{52}`).Match(data) {
			t.Errorf("%s holds a token", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	dockerfileFits(t, dir)
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := exec.CommandContext(t.Context(), filepath.Join(repository(t), "deploy", "space", "write.sh"), other).Run(); err == nil {
		t.Error("a folder that holds something else was written over")
	}
	if _, err := os.Stat(filepath.Join(other, "precious")); err != nil {
		t.Error(err)
	}
}

// dockerfileFits holds the Dockerfile against the folder that it is built in and
// against what a Space needs.
func dockerfileFits(t *testing.T, dir string) {
	t.Helper()
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	docker, header := read("Dockerfile"), strings.SplitN(read("README.md"), "---\n", 3)
	for _, wanted := range []string{"sdk: docker\n", "app_port: 7860\n"} {
		if len(header) != 3 || !strings.Contains(header[1], wanted) {
			t.Errorf("README.md's header lacks %q", wanted)
		}
	}
	if !strings.Contains(read("config.yaml"), "listen: 0.0.0.0:7860\n") || !strings.Contains(docker, "\nEXPOSE 7860\n") {
		t.Error("the port is not 7860 everywhere")
	}
	last := docker[strings.LastIndex(docker, "\nFROM ")+1:]
	if !strings.HasPrefix(last, "FROM base\n") || !strings.Contains(last, "\nUSER 1000\n") || strings.Contains(last, "apt-get") || strings.Contains(last, "COPY .") {
		t.Errorf("the last stage builds, or runs as another user:\n%s", last)
	}
	_, base, _ := strings.Cut(docker, "AS base\n")
	if base, _, _ = strings.Cut(base, "\nFROM "); !strings.Contains(base, "--no-install-recommends python3 &&") {
		t.Errorf("the base holds more than the interpreter:\n%s", base)
	}
	for _, copied := range regexp.MustCompile(`(?m)^COPY ([^-].*) \S+$`).FindAllStringSubmatch(docker, -1) {
		for _, name := range strings.Fields(copied[1]) {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("COPY: %v", err)
			}
		}
	}
}

// TestSpace assembles what the container holds, by the script that the container
// is built by, and starts it as the container does: as uid 1000, where namespaces
// and mounts are denied.
func TestSpace(t *testing.T) {
	if testing.Short() {
		t.Skip("runs once, without the race detector: it builds its own binaries")
	}
	t.Parallel()
	dir, top := spaceFolder(t), t.TempDir()
	for _, open := range []string{top, filepath.Dir(top)} { // uid 1000 must get there
		if err := os.Chmod(open, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	app := filepath.Join(top, "app")
	for _, part := range []string{"binaries", "python"} {
		spaceRun(t, "sh", filepath.Join(dir, "assemble.sh"), part, dir, app)
	}
	for _, tool := range []string{"pip", "pip3", "gcc", "go"} {
		for _, found := range []string{filepath.Join(app, "bin", tool), filepath.Join(app, ".venv", "bin", tool)} {
			if _, err := os.Stat(found); err == nil {
				t.Errorf("%s is there", found)
			}
		}
	}
	g := startCommand(t, []string{"way", "container", filepath.Join(app, "bin", "gateway")}, filepath.Join(app, "config.yaml"))
	if uid := effectiveUID(t, g.process.Pid); os.Getuid() == 0 && uid != "1000" {
		t.Errorf("it runs as %s", uid)
	}
	a := g.solve(t, "import sympy as sp, os\nprint(sp.factor(12))")
	if a.status != http.StatusOK || a.body["status"] != "rejected" {
		t.Errorf("a program that is to be refused: %d %v", a.status, a.body)
	}
	if a = g.solve(t, "import sympy as sp\nprint(sp.factor(12))"); a.body["stdout"] != "12\n" {
		t.Errorf("a program: %d %v", a.status, a.body)
	}
	if a = g.solve(t, "import plotly.graph_objects as go\ngo.Figure(go.Scatter(y=[1, 2]))"); a.body["plotly_json"] == nil {
		t.Errorf("a figure: %d %v", a.status, a.body)
	}
}

// effectiveUID is the second number of proc(5)'s Uid.
func effectiveUID(t *testing.T, pid int) string {
	t.Helper()
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "Uid:" {
			return fields[2]
		}
	}
	return ""
}
