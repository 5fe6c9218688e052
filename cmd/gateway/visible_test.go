package main

import (
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	for given, want := range map[string]string{
		"plain\ttext\n":           "plain\ttext\n",
		"\x1b[31mred\x1b]0;t\x07": `\x1b[31mred\x1b]0;t\x07`,
		"a\rb\x7f\x00":            `a\x0db\x7f\x00`,
		"\u009b31m":               `\u009b31m`,
		"\x9b31m \xff":            `\x9b31m \xff`,
		"é π 🙂":                   "é π 🙂",
		"a\u202eb":                `a\u202eb`,
		"cut \xf0\x9f":            `cut \xf0\x9f`,
	} {
		for size := 1; size <= len(given); size++ {
			var out strings.Builder
			v := &visible{to: &out}
			for rest := []byte(given); len(rest) > 0; {
				n := min(size, len(rest))
				if wrote, err := v.Write(rest[:n]); wrote != n || err != nil {
					t.Fatal(wrote, err)
				}
				rest = rest[n:]
			}
			v.flush()
			if out.String() != want {
				t.Errorf("%q by %d: %q, want %q", given, size, out.String(), want)
			}
		}
	}
}
