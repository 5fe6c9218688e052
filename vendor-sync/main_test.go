package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"vendor-sync": main})
}

func TestScripts(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, built := range []string{"bin/plugins/python-exec", ".venv/bin/python"} {
		if _, err := os.Stat(filepath.Join(root, built)); err != nil {
			t.Fatalf("%s is not built: run make build first", built)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			env.Setenv("SLUICE_CONFIG", filepath.Join(root, "config.yaml"))
			for name, value := range map[string]string{
				"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
				"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": "2026-09-14T12:00:00Z", "GIT_COMMITTER_DATE": "2026-09-14T12:00:00Z",
			} {
				env.Setenv(name, value)
			}
			return os.CopyFS(filepath.Join(env.WorkDir, "policies"), withoutCorpus(filepath.Join(root, "policies")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "setenv": setenv},
	})
}

// status runs a command and wants its very exit status: status 2 vendor-sync ….
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command …")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d\nstdout: %s\nstderr: %s", got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// setenv sets a variable to what the command before wrote: setenv NAME.
func setenv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: setenv NAME")
	}
	text := ts.ReadFile("stdout")
	for len(text) > 0 && text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	ts.Setenv(args[0], text)
}
