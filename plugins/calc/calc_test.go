package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// solve parses and evaluates without a policy. Trouble is "Type: message".
func solve(ctx context.Context, t testing.TB, expression string) (text, trouble string) {
	t.Helper()
	program, err := calculator{}.Parse(ctx, executor.Source{ID: "t", Language: languageID, Code: []byte(expression)})
	if err != nil {
		return "", troubleOf(t, err)
	}
	defer program.Close()
	res, err := program.Run(ctx, executor.Grant{}, nil)
	if err != nil {
		return "", troubleOf(t, err)
	}
	return res.Value, ""
}

// troubleOf fails the test on an error that is the plugin's own fault.
func troubleOf(t testing.TB, err error) string {
	t.Helper()
	var compile *executor.CompileError
	var runtime *executor.RuntimeError
	switch {
	case errors.As(err, &compile):
		if compile.Line == 0 || compile.Column == 0 {
			t.Errorf("syntax error without a place: %+v", compile.Problem)
		}
		return compile.Type + ": " + compile.Message
	case errors.As(err, &runtime):
		if runtime.Line == 0 || runtime.Column == 0 {
			t.Errorf("runtime error without a place: %+v", runtime.Problem)
		}
		return runtime.Type + ": " + runtime.Message
	case executor.StatusOf(err) == executor.StatusInternal:
		t.Errorf("internal error: %v", err)
	}
	return err.Error()
}

func readLines(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if len(lines) < 20 {
		t.Fatalf("%s has %d lines", path, len(lines))
	}
	return lines
}

func TestBenignExpressions(t *testing.T) {
	for _, line := range readLines(t, "testdata/benign.tsv") {
		expression, want, _ := strings.Cut(line, "\t")
		if got, trouble := solve(t.Context(), t, expression); got != want || trouble != "" {
			t.Errorf("%s = %q %s, want %q", expression, got, trouble, want)
		}
	}
}

// TestAttacks runs every attack without a policy: none may compute anything for
// long (the context would end it, with another complaint), and none but the harmless ones may give a value.
func TestAttacks(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, executor.ErrWall)
	defer cancel()
	values := map[string]string{"1e999": "inf"}
	for _, line := range readLines(t, "testdata/attacks.tsv") {
		quoted, kind, _ := strings.Cut(line, "\t")
		var expression string
		if err := json.Unmarshal([]byte(quoted), &expression); err != nil {
			t.Fatal(err)
		}
		text, trouble := solve(ctx, t, expression)
		want, harmless := values[expression]
		switch {
		case strings.HasPrefix(expression, "1+1+"), expression == "10**4200":
			harmless, want = true, text
		}
		if trouble == executor.ErrWall.Error() || (trouble == "") != harmless || text != want {
			t.Errorf("%s (%s): %.60q, %.100q", clip(expression), kind, text, trouble)
		}
	}
}
