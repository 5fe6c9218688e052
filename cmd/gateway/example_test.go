package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// buildExample builds an example plugin, a module of its own.
func buildExample(t *testing.T, name string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), name)
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = filepath.Join(repository(t), "examples", name)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return bin
}

// TestExamplePlugins holds the examples against the whole contract.
func TestExamplePlugins(t *testing.T) {
	notTwice(t)
	for _, name := range []string{"plugin-starlark", "plugin-javascript"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, out, errs := gatewayCommand(t, "plugin", "verify", "--strict", "--quick", "--settings", "{}", buildExample(t, name))
			if status != exitOK {
				t.Errorf("status %d: %s%s", status, out, errs)
			}
		})
	}
}

// TestLanguagesAreAddedToARunningInstallation: lines of config.yaml and files of
// the policy folder, nothing else; the gateway is not started again.
func TestLanguagesAreAddedToARunningInstallation(t *testing.T) {
	root, place := repository(t), t.TempDir()
	if err := os.CopyFS(filepath.Join(place, "policies"), os.DirFS(filepath.Join(root, "policies"))); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(place, "config.yaml")
	admin := freeAddress(t)
	text := fmt.Sprintf("admin: {listen: %q}\nplugins:\n  calc: {command: %s}\n", admin, calcPath(t))
	write := func() {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	g := startConfigured(t, config)
	for _, example := range []struct{ name, good, value, bad string }{
		{"starlark", "sorted([3, 1, 2])[0] + 41", "42", "load('other', 'x')"},
		{"javascript", "[3, 1, 2].sort()[0] + 41", "42", "eval('1')"},
	} {
		bin := buildExample(t, "plugin-"+example.name)
		ask := func(code string) string {
			return shell(t, place, fmt.Sprintf(`curl -s %s/v1/run -H "Authorization: Bearer %s" -d %q`, g.url, testToken,
				fmt.Sprintf(`{"tool": %q, "code": %q}`, example.name, code)))
		}
		if got := ask(example.good); !strings.Contains(got, `"status":404`) {
			t.Errorf("before it was added: %s", got)
		}
		if err := os.CopyFS(filepath.Join(place, "policies"), os.DirFS(filepath.Join(root, "examples", "plugin-"+example.name, "policies"))); err != nil {
			t.Fatal(err)
		}
		sum := strings.Fields(shell(t, place, "sha256sum "+bin))[0]
		text += fmt.Sprintf("  %s: {command: %s, sha256: %s}\n", example.name, bin, sum)
		write()
		if status, out, errs := gatewayCommand(t, "plugin", "enable", example.name, "--config", config); status != exitOK {
			t.Fatalf("enable: %s%s", out, errs)
		}
		if got := ask(example.good); !strings.Contains(got, `"status":"completed"`) || !strings.Contains(got, fmt.Sprintf(`"value":%q`, example.value)) {
			t.Errorf("an allowed program: %s", got)
		}
		if got := ask(example.bad); !strings.Contains(got, `"status":"rejected"`) {
			t.Errorf("a refused program: %s", got)
		}
	}
}
