package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// The colours of a decision on a terminal.
const (
	red   = "\x1b[31m"
	bold  = "\x1b[1m"
	plain = "\x1b[0m"
)

// painter writes for people; its first write error stays. What it writes comes
// from programs, policies and files, and must not steer a terminal: of control
// characters, line ends, tabs and its own colours are left.
type painter struct {
	w     io.Writer
	color bool
	err   error
}

func (p *painter) printf(format string, args ...any) {
	if p.err != nil {
		return
	}
	text := string(shown(fmt.Appendf(nil, format, args...)))
	if p.color {
		for _, mark := range []string{red, bold, plain} {
			text = strings.ReplaceAll(text, string(shown([]byte(mark))), mark)
		}
	}
	_, p.err = io.WriteString(p.w, text)
}

func (p *painter) paint(color, text string) string {
	if !p.color {
		return text
	}
	return color + text + plain
}

// showDecision writes a decision for people: each violation as a compiler would
// tell it, and one line at the end.
func showDecision(w io.Writer, name string, code []byte, ans gateway.Answer, color bool) error {
	p := &painter{w: w, color: color}
	if ans.Decision == nil {
		p.printf("%s: %s\n", name, ans.Summary())
		return p.err
	}
	lines := bytes.Split(code, []byte("\n"))
	for _, v := range ans.Decision.Violations {
		p.violation(name, lines, v)
	}
	word := "allowed"
	if !ans.Decision.Allow {
		word = "refused"
	}
	p.printf("%s: %s by policy %s, profile %s\n", name, word, ans.Decision.Revision, ans.Decision.Profile)
	return p.err
}

func (p *painter) violation(name string, lines [][]byte, v gateway.Violation) {
	level := v.Level
	if level == gateway.LevelError {
		level = p.paint(red, level)
	}
	place := name
	if v.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", name, v.Line, v.Column)
	}
	p.printf("%s: %s: %s (%s)\n", p.paint(bold, place), level, v.Message, v.Rule)
	if v.Line > 0 && v.Line <= len(lines) {
		text, mark := marked(string(lines[v.Line-1]), v)
		number := fmt.Sprint(v.Line)
		p.printf("  %s | %s\n  %s | %s\n", number, text, strings.Repeat(" ", len(number)), p.paint(red, mark))
	}
	if v.Hint != "" {
		p.printf("  hint: %s\n", v.Hint)
	}
	if v.More > 0 {
		p.printf("  and %d more\n", v.More)
	}
}

// maxShown bounds what is shown of a source line, in characters; ahead is what
// then stands in front of the place.
const (
	maxShown = 200
	ahead    = 40
)

// marked is a source line fit for a terminal and the marks to stand under it.
// Tabs stay, so that the marks stand right; other control characters do not.
func marked(line string, v gateway.Violation) (text, mark string) {
	chars := printable(line)
	begin := min(max(v.Column, 1)-1, len(chars))
	end := len(chars)
	if v.EndLine == v.Line && v.EndColumn > v.Column {
		end = min(v.EndColumn-1, len(chars))
	}
	if len(chars) > maxShown {
		from := min(max(begin-ahead, 0), len(chars)-maxShown)
		chars, begin, end = chars[from:from+maxShown], begin-from, end-from
	}
	end = max(min(end, len(chars)), begin+1)
	var under strings.Builder
	for _, c := range chars[:begin] {
		if c != '\t' {
			c = ' '
		}
		under.WriteRune(c)
	}
	under.WriteString(strings.Repeat("^", end-begin))
	return string(chars), under.String()
}

func printable(line string) []rune {
	chars := []rune(strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "\uFFFD"))
	for i, c := range chars {
		if c != '\t' && !unicode.IsPrint(c) {
			chars[i] = '\uFFFD'
		}
	}
	return chars
}
