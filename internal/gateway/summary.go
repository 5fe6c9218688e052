package gateway

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluice-gateway/sluice/executor"
)

// SummaryBytes bounds Summary's text.
const SummaryBytes = 8 << 10

// StdoutText is what the program printed, as valid UTF-8; a cut is told in its
// last line.
func (a Answer) StdoutText() string { return streamText(a.Stdout, a.Result.StdoutOmitted) }

// StderrText is the same for standard error.
func (a Answer) StderrText() string { return streamText(a.Stderr, a.Result.StderrOmitted) }

func streamText(b []byte, omitted uint64) string {
	if omitted > 0 {
		whole := len(b) - partialRune(b)
		omitted += uint64(len(b) - whole)
		b = b[:whole]
	}
	text := strings.ToValidUTF8(string(b), "\uFFFD")
	if omitted == 0 {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + fmt.Sprintf("[output truncated: %d bytes omitted]", omitted)
}

// partialRune counts the bytes at the end of b that begin a character and do
// not end it.
func partialRune(b []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// Summary says in at most SummaryBytes what there is to say beside the output:
// why it was refused, what it raised, which limit fired, what was cut. It is
// empty when there is nothing to say, and holds no ANSI codes.
func (a Answer) Summary() string {
	var tail []string
	if why := a.reason(); why != "" {
		tail = append(tail, why)
	}
	tail = append(tail, a.Result.Notes...)
	if n := a.Result.StdoutOmitted; n > 0 {
		tail = append(tail, fmt.Sprintf("stdout was truncated: %d bytes omitted (limit %s)", n, Bytes(a.Limits.StdoutBytes)))
	}
	end := clipMiddle(plain(strings.Join(tail, "\n")), SummaryBytes)
	begin := strings.TrimRight(plain(a.StderrText()), "\n")
	room := SummaryBytes - len(end) - 1
	switch {
	case begin == "" || room < len(clipMark):
		return end
	case end == "":
		return clipMiddle(begin, SummaryBytes)
	}
	return clipMiddle(begin, room) + "\n" + end
}

func (a Answer) reason() string {
	switch a.Status {
	case Rejected:
		return a.refusal()
	case SyntaxError, Failed:
		return a.problem()
	case TimedOut, OutOfMemory, OutputLimit:
		return joinLines(a.problem(), a.limit())
	case Crashed:
		if c := a.Result.ForbiddenCall; c != "" {
			return "the program was ended: forbidden system call " + c
		}
		return "the program was ended by signal " + a.Result.Signal
	case Cancelled:
		return "the run was cancelled"
	case Completed:
	}
	return ""
}

func (a Answer) problem() string {
	p := a.Result.Problem
	switch {
	case p == nil && a.Result.Status == executor.StatusTreeTooLarge:
		return "the program is nested too deeply, or is too large, for the policy to judge it"
	case p == nil && a.Result.ExitCode != 0:
		return fmt.Sprintf("the program ended with exit code %d", a.Result.ExitCode)
	case p == nil:
		return ""
	case p.Trace != "":
		return strings.TrimRight(p.Trace, "\n")
	case p.Line == 0:
		return p.Type + ": " + p.Message
	}
	return fmt.Sprintf("%s: %s (line %d, column %d)", p.Type, p.Message, p.Line, p.Column)
}

func (a Answer) limit() string {
	switch {
	case a.Result.Status == executor.StatusWallLimit:
		return "timed out: wall-clock limit of " + Seconds(a.Limits.Wall) + " reached"
	case a.Result.Status == executor.StatusCPULimit:
		return "timed out: CPU time limit of " + Seconds(a.Limits.CPU) + " reached"
	case a.Status == OutOfMemory:
		return "memory limit of " + Bytes(a.Limits.MemoryBytes) + " reached"
	case a.Status == OutputLimit:
		return "stopped: it wrote past the output ceiling of " + Bytes(a.Limits.OutputCeilingBytes)
	}
	return ""
}

func (a Answer) refusal() string {
	if a.Decision == nil {
		return "refused by the policy"
	}
	lines := []string{"refused by the policy; nothing was run"}
	for _, v := range a.Decision.Violations {
		if v.Level != LevelError {
			continue
		}
		line := fmt.Sprintf("line %d, column %d: %s (%s)", v.Line, v.Column, v.Message, v.Rule)
		if v.More > 0 {
			line += fmt.Sprintf(" and %d more", v.More)
		}
		if v.Hint != "" {
			line += "\n  hint: " + v.Hint
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// LevelError is the level of a violation that refuses a program.
const LevelError = "error"

// Seconds writes a limit as people and the training tool do: "30s", "0.5s".
func Seconds(d time.Duration) string { return fmt.Sprintf("%gs", d.Seconds()) }

// Bytes writes a size in binary units, whole where it is whole.
func Bytes(n uint64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	size, unit := float64(n), 0
	for size >= 1024 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	return fmt.Sprintf("%.4g %s", size, units[unit])
}

func joinLines(parts ...string) string {
	parts = slicesNonEmpty(parts)
	return strings.Join(parts, "\n")
}

func slicesNonEmpty(parts []string) []string {
	kept := parts[:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

var ansi = regexp.MustCompile(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])`)

// plain drops terminal control sequences and NUL.
func plain(text string) string {
	if !strings.ContainsAny(text, "\x1b\x00") {
		return text
	}
	text = ansi.ReplaceAllString(text, "")
	return string(bytes.ReplaceAll([]byte(text), []byte{0}, nil))
}

const clipMark = "\n[...]\n"

// clipMiddle shortens text to at most limit bytes, keeping its beginning and its
// end, where a traceback says what happened.
func clipMiddle(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head := (limit - len(clipMark)) / 3
	tail := limit - len(clipMark) - head
	return strings.ToValidUTF8(text[:head], "") + clipMark + strings.ToValidUTF8(text[len(text)-tail:], "")
}
