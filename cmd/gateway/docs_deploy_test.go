package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocsConfigurations has the gateway take every configuration that stands in
// the documents about deployment.
func TestDocsConfigurations(t *testing.T) {
	for _, page := range []string{"docs/tls.md", "docs/deploying.md"} {
		found := 0
		for _, b := range blocks(t, page) {
			if b.language != "yaml" {
				continue
			}
			found++
			file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.yaml", found))
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(b.text, "/opt/sluice", repository(t))), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("gateway", "config", "check", "--config", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %s\n%s", page, out, b.text)
			}
		}
		if found == 0 {
			t.Errorf("%s holds no configuration", page)
		}
	}
}

// TestUnitFiles holds the units to systemd's own check, and the command in them
// to the gateway's.
func TestUnitFiles(t *testing.T) {
	root := repository(t)
	unit, err := os.ReadFile(filepath.Join(root, "deploy", "systemd", "sluice.service"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(unit), "\nExecStart=/opt/sluice/bin/gateway serve ")
	command, _, ok := strings.Cut(rest, "\n")
	if !ok {
		t.Fatal("the unit starts no gateway")
	}
	command = strings.NewReplacer("/etc/sluice/config.yaml", filepath.Join(root, "config.yaml"), "${CREDENTIALS_DIRECTORY}", "/run/credentials").Replace(command)
	if out, err := exec.Command("gateway", append([]string{"config", "check"}, strings.Fields(command)...)...).CombinedOutput(); err != nil {
		t.Errorf("%s: %s", command, out)
	}
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not installed: the units' syntax is not checked here")
		return
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"sluice.service": strings.ReplaceAll(string(unit), "/opt/sluice/bin/gateway", "/bin/true"), "sluice.socket": ""} {
		if text == "" {
			socket, err := os.ReadFile(filepath.Join(root, "deploy", "systemd", name))
			if err != nil {
				t.Fatal(err)
			}
			text = string(socket)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(tool, "verify", "--man=no", "sluice.service", "sluice.socket")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "sluice") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
