package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A rule that wants all of the machine is refused at the proof, the policy before
// it stays, and the next load goes on as if nothing had been.
func TestPoliciesThatTakeTooMuchAreRefused(t *testing.T) {
	rule := func(body string) string {
		return "\n# METADATA\n# title: Evil\n# custom: {id: evil, hint: h}\ndeny contains {\"rule\": \"evil\", \"msg\": \"m\", \"at\": \"\", \"subject\": \"s\"} if {\n\t" + body + "\n}\n"
	}
	text, left, right := `x0 := concat("", [input.code.sha256, "`+strings.Repeat("a", 4096)+"\"])", "x0 := [1]", "y0 := [1]"
	for i := range 18 {
		text += fmt.Sprintf("\n\tx%d := concat(\"\", [x%d, x%[2]d])", i+1, i)
	}
	for i := range 15 {
		left += fmt.Sprintf("\n\tx%d := [x%d, x%[2]d]", i+1, i)
		right += fmt.Sprintf("\n\ty%d := [y%d, y%[2]d]", i+1, i)
	}
	for name, test := range map[string]struct {
		body, want, remedy string
		bad                func(*Store)
	}{
		"time":                {"count([1 | some a in numbers.range(1, 10000); some b in numbers.range(1, 10000); a * b < 0]) > 0", "no decision within 250ms", "look keys up", func(s *Store) { s.host.deadline = 50 * time.Millisecond }},
		"memory":              {text + "\n\tcount(x18) < 0", "memory had grown by 64 MiB", "building all pairs", func(s *Store) { s.host.growth, s.host.deadline = 64<<20, time.Minute }},
		"the compiler's time": {left + "\n\t" + right + "\n\tx15 == y15", "it has not ended within 300ms", "values that hold themselves", func(s *Store) { s.cfg.step = 300 * time.Millisecond }},
	} {
		t.Run(name, func(t *testing.T) {
			m := files(t, "tiny")
			cfg := tinyConfig(m)
			cfg.Workers = 1
			s, err := Load(context.Background(), cfg)
			must(t, err)
			before, good := s.Status().Revision, m["tiny.rego"].Data
			m["tiny.rego"].Data = append([]byte(string(good)), rule(test.body)...)
			deadline, growth, step := s.host.deadline, s.host.growth, s.cfg.step
			test.bad(s)
			err = s.Reload(context.Background())
			s.host.deadline, s.host.growth, s.cfg.step = deadline, growth, step
			if !errors.Is(err, errStopped) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.remedy) {
				t.Errorf("reload: %v", err)
			}
			if strings.Count(fmt.Sprint(err), "no verdict") > 1 {
				t.Errorf("the corpus was judged on: %v", err)
			}
			m["tiny.rego"].Data = good
			if got := s.Status().Revision; got != before {
				t.Errorf("%s is in force", got)
			}
			must(t, s.Reload(context.Background()))
		})
	}
}
