package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gatewayCommand runs the command in this process.
func gatewayCommand(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), args, os.Getenv, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

func TestPluginVerifyOfCalc(t *testing.T) {
	calc := filepath.Join(repository(t), "bin/plugins/calc")
	status, out, errs := gatewayCommand(t, "plugin", "verify", "--strict", "--output", "json", "--config", filepath.Join(repository(t), "config.yaml"), calc)
	var got verified
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	if status != exitOK || !got.OK || got.Failed+got.Skipped > 0 || got.Passed < 40 || got.Name != "calc" || len(got.SHA256) != 64 {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

func TestPluginVerifySaysWhatIsWrong(t *testing.T) {
	status, out, errs := gatewayCommand(t, "plugin", "verify", "--check", "D02,S01", "--settings", `{"no": "such"}`, filepath.Join(repository(t), "bin/plugins/calc"))
	if status != exitFailed || !strings.Contains(out, "FAIL H02") || !strings.Contains(out, "takes no settings") || !strings.Contains(errs, "does not keep the contract") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if _, out, _ := gatewayCommand(t, "plugin", "verify", "--check", "H02", "--settings", "{}", "/bin/true"); !strings.Contains(out, "\n/bin/true (it never said what it is): 0 passed, 1 failed") || !strings.Contains(out, "the process ended: exit status 0") {
		t.Errorf("what never spoke has no name: %s", out)
	}
	for args, want := range map[string]string{
		"/nowhere/plugin":                         "no such file",
		"--check S01,X99 " + calcPath(t):          `there is no check "X99"`,
		"--settings [] " + calcPath(t):            "--settings",
		"--settings /nowhere/file " + calcPath(t): "--settings",
		"plugin_test.go":                          "not an executable file",
	} {
		status, _, errs := gatewayCommand(t, append([]string{"plugin", "verify"}, strings.Fields(args)...)...)
		if status != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d: %s", args, status, errs)
		}
	}
}

func calcPath(t *testing.T) string { return filepath.Join(repository(t), "bin/plugins/calc") }

// TestPluginVerifyOfPython has the checks that need a process; the others are
// in the plugin's own tests. `make verify` runs all of them.
func TestPluginVerifyOfPython(t *testing.T) {
	notTwice(t)
	root := repository(t)
	status, out, errs := gatewayCommand(t, "plugin", "verify", "--strict", "--config", filepath.Join(root, "config.yaml"),
		"--check", "H01,H03,H04,H05,H06,H07,H08,H09,H10,H11,H12,D03,S22,S23,S24,O01,O03,O04,O05", filepath.Join(root, "bin/plugins/python-exec"))
	if status != exitOK || !strings.Contains(out, "ok   S22 python") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

// notTwice skips what looks at other processes alone, which the race detector
// does not see.
func notTwice(t *testing.T) {
	t.Helper()
	if racing {
		t.Skip("SKIPPED: it looks at processes that are not under the race detector, and was run without it")
	}
}
