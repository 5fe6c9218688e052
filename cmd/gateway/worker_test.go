package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluice-gateway/sluice/internal/auth"
)

// TestWorker runs the tests of examples/worker: the Worker in Cloudflare's
// runtime, against a real gateway, one whose solver is at fault, and what can
// stand between.
func TestWorker(t *testing.T) {
	if testing.Short() {
		t.Skip("runs once, without the race detector: it is another program that is tested")
	}
	t.Parallel() // it waits for registries, as TestSpace does
	dir := t.TempDir()
	if err := os.CopyFS(dir, exampleFiles(t)); err != nil {
		t.Fatal(err)
	}
	npm(t, dir)
	tokens := filepath.Join(t.TempDir(), "tokens.yaml")
	rated := auth.Mint()
	if err := auth.Add(tokens, auth.Token{Name: "rated", SHA256: auth.DigestOf(rated), Scopes: []string{"solve"}, Rate: 1.0 / 3600, Burst: 1}); err != nil {
		t.Fatal(err)
	}
	honest := startGateway(t, "--auth-tokens", tokens, "--limits-wall", "8s", "--admin-listen", "")
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "test")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+honest.url, "GATEWAY_TOKEN="+testToken, "RATED_TOKEN="+rated, "FAULTY_URL="+startFools(t).url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("npm test: %v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// npm installs what the example needs. Where npm cannot, the test is skipped, but
// not in CI.
func npm(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatalf("npm ci in examples/worker: %v: install nodejs and npm\n%s", err, out)
	default:
		t.Skipf("THE WORKER IS NOT TESTED: npm ci: %v\n%s", err, out)
	}
}

// startFools starts a gateway whose solver for Python is at fault, and that takes
// one program at a time.
func startFools(t *testing.T) *running {
	t.Helper()
	plugin, err := exec.LookPath("fools")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("plugins:\n  fools: {command: "+plugin+", trust: built}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return startConfigured(t, config, "--policy-dir", filepath.Join(repository(t), "testdata", "policies-admit-all"),
		"--limits-concurrency", "1", "--limits-queue", "0", "--limits-wall", "100s", "--admin-listen", "")
}

// exampleFiles is the example as a clone holds it.
func exampleFiles(t *testing.T) fs.FS {
	t.Helper()
	root := filepath.Join(repository(t), "examples", "worker")
	files := fstest.MapFS{}
	for _, pattern := range []string{"*.json", ".npmrc", "src/*.ts", "test/*.mjs"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("examples/worker holds no %s (%v)", pattern, err)
		}
		for _, path := range found {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			files[filepath.ToSlash(name)] = &fstest.MapFile{Data: data, Mode: 0o644}
		}
	}
	return files
}

// TestWorkerLock keeps the lock file free of where a machine took packages from:
// every npm takes them from its own registry, by their digests.
func TestWorkerLock(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(repository(t), "examples", "worker", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte(`"resolved"`)) || bytes.Count(raw, []byte(`"integrity"`)) < 10 {
		t.Error("package-lock.json must hold digests, and no addresses: npm install with the .npmrc beside it writes it so")
	}
}
