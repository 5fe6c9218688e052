package gateway_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

func TestSummarySaysWhatHappened(t *testing.T) {
	limits := executor.Limits{Wall: 30 * time.Second, CPU: 1500 * time.Millisecond, MemoryBytes: 1 << 30, OutputCeilingBytes: 16 << 20, StdoutBytes: 4}
	cases := map[string]struct {
		status gateway.Status
		result executor.Result
		want   string
	}{
		"wall":    {gateway.TimedOut, executor.Result{Status: executor.StatusWallLimit}, "timed out: wall-clock limit of 30s reached"},
		"cpu":     {gateway.TimedOut, executor.Result{Status: executor.StatusCPULimit}, "timed out: CPU time limit of 1.5s reached"},
		"memory":  {gateway.OutOfMemory, executor.Result{Status: executor.StatusMemoryLimit}, "memory limit of 1 GiB reached"},
		"output":  {gateway.OutputLimit, executor.Result{Status: executor.StatusOutputLimit}, "stopped: it wrote past the output ceiling of 16 MiB"},
		"signal":  {gateway.Crashed, executor.Result{Signal: "SIGSEGV"}, "the program was ended by signal SIGSEGV"},
		"syscall": {gateway.Crashed, executor.Result{ForbiddenCall: "socket"}, "the program was ended: forbidden system call socket"},
		"exit":    {gateway.Failed, executor.Result{ExitCode: 3}, "the program ended with exit code 3"},
		"silent":  {gateway.Failed, executor.Result{}, ""},
		"no line": {gateway.Failed, executor.Result{Problem: &executor.Problem{Type: "E", Message: "m"}}, "E: m"},
		"trace": {gateway.Failed, executor.Result{Problem: &executor.Problem{Trace: "Traceback\nE: \x1b[31mm\x1b[0m\x00\n"}},
			"Traceback\nE: m"},
		"notes":  {gateway.Completed, executor.Result{Notes: []string{"figure left out"}}, "figure left out"},
		"cut":    {gateway.Completed, executor.Result{StdoutOmitted: 7}, "stdout was truncated: 7 bytes omitted (limit 4 bytes)"},
		"denied": {gateway.Rejected, executor.Result{}, "refused by the policy"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ans := gateway.Answer{Status: c.status, Result: c.result, Limits: limits}
			if got := ans.Summary(); got != c.want {
				t.Errorf("Summary = %q, want %q", got, c.want)
			}
		})
	}
}

func TestSummaryIsBoundedAndKeepsTheEnd(t *testing.T) {
	long := gateway.Answer{
		Status: gateway.Failed, Stderr: []byte(strings.Repeat("é", 6000)),
		Result: executor.Result{Problem: &executor.Problem{Trace: strings.Repeat("frame\n", 4000) + "ValueError: the end"}},
	}
	got := long.Summary()
	if len(got) > gateway.SummaryBytes || !strings.HasSuffix(got, "ValueError: the end") || !utf8.ValidString(got) {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-30:])
	}
	warned := gateway.Answer{Status: gateway.Completed, Stderr: []byte(strings.Repeat("w", 9000) + "\n")}
	if got = warned.Summary(); len(got) != gateway.SummaryBytes {
		t.Errorf("a long stderr gives %d bytes", len(got))
	}
	both := gateway.Answer{Status: gateway.Failed, Stderr: []byte("warning\n"), Result: executor.Result{ExitCode: 1}}
	if got = both.Summary(); got != "warning\nthe program ended with exit code 1" {
		t.Errorf("Summary = %q", got)
	}
}

func TestStdoutIsCutOnACharacter(t *testing.T) {
	cases := []struct {
		kept    string
		omitted uint64
		want    string
	}{
		{"ok\n", 0, "ok\n"},
		{"ab\xc3", 5, "ab\n[output truncated: 6 bytes omitted]"},
		{"ab\xf0\x9f\x98", 1, "ab\n[output truncated: 4 bytes omitted]"},
		{"é", 2, "é\n[output truncated: 2 bytes omitted]"},
		{"a\n", 2, "a\n[output truncated: 2 bytes omitted]"},
		{"", 2, "[output truncated: 2 bytes omitted]"},
		{"\xff\xfeok\n", 0, "\uFFFDok\n"},
		{"\x80\x80\x80\x80", 1, "\uFFFD\n[output truncated: 1 bytes omitted]"},
	}
	for _, c := range cases {
		ans := gateway.Answer{Stdout: []byte(c.kept), Stderr: []byte(c.kept), Result: executor.Result{StdoutOmitted: c.omitted, StderrOmitted: c.omitted}}
		if got := ans.StdoutText(); got != c.want {
			t.Errorf("StdoutText(%q, %d) = %q, want %q", c.kept, c.omitted, got, c.want)
		}
		if got := ans.StderrText(); got != c.want {
			t.Errorf("StderrText(%q, %d) = %q, want %q", c.kept, c.omitted, got, c.want)
		}
	}
}

func TestOutputIsBoundedWhateverThePluginSends(t *testing.T) {
	w := newWorld()
	w.plugin.prints = []chunk{
		{executor.Stdout, "0123456789"}, {executor.Stdout, "0123456789"}, {executor.Stderr, "abcdefghij"}, {executor.Stderr, "k"},
	}
	w.plugin.result.StdoutOmitted = 100
	ans := solve(t, w, request())
	if string(ans.Stdout) != "0123456789012345" || ans.Result.StdoutOmitted != 104 {
		t.Errorf("kept %q, omitted %d", ans.Stdout, ans.Result.StdoutOmitted)
	}
	if string(ans.Stderr) != "abcdefgh" || ans.Result.StderrOmitted != 3 {
		t.Errorf("kept %q, omitted %d", ans.Stderr, ans.Result.StderrOmitted)
	}
}
