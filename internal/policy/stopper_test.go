package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
)

// A rule that wants all of the machine is refused at the proof, the policy before
// it stays, and the next load goes on as if nothing had been.
func TestPoliciesThatTakeTooMuchAreRefused(t *testing.T) {
	rule := func(body string) string {
		return "\n# METADATA\n# title: Evil\n# custom: {id: evil, hint: h}\ndeny contains {\"rule\": \"evil\", \"msg\": \"m\", \"at\": \"\", \"subject\": \"s\"} if {\n\t" + body + "\n}\n"
	}
	text := `x0 := concat("", [input.code.sha256, "` + strings.Repeat("a", 4096) + "\"])"
	for i := range 18 {
		text += fmt.Sprintf("\n\tx%d := concat(\"\", [x%d, x%[2]d])", i+1, i)
	}
	for name, test := range map[string]struct {
		body, want, remedy string
		bad                func(*Store)
	}{
		"time":                {"count([1 | some a in numbers.range(1, 10000); some b in numbers.range(1, 10000); a * b < 0]) > 0", "no decision within 250ms", "look keys up", func(s *Store) { s.host.deadline = 50 * time.Millisecond }},
		"memory":              {text + "\n\tcount(x18) < 0", "memory had grown by 64 MiB", "building all pairs", func(s *Store) { s.host.growth, s.host.deadline = 64<<20, time.Minute }},
		"the compiler's time": {"input.session", "it has not ended within 1ns", "does not come to an end", func(s *Store) { s.cfg.step = 1 }},
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
			if place := new(placedError); name != "the compiler's time" && (!errors.As(err, &place) || place.at == nil || !strings.Contains(err.Error(), "tiny.rego:")) {
				t.Errorf("no place: %v", err)
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

// Values that hold each other, over variables, rules and functions, are weighed
// before the compiler has them.
func TestHeavyValuesAreRefused(t *testing.T) {
	doubled := func(form string, times int) (text string) {
		for i := range times {
			text += strings.NewReplacer("NEXT", fmt.Sprint(i+1), "THIS", fmt.Sprint(i)).Replace(form)
		}
		return text
	}
	long := "list := {" + strings.Repeat(`"entry", `, 20_000) + "\"entry\"}\n"
	for name, test := range map[string]struct {
		text string
		line int // 0: it is light
	}{
		"variables":        {"a if {\n\tx0 := [1]" + doubled("\n\txNEXT := [xTHIS, xTHIS]", 40) + "\n}\n", 18},
		"a few variables":  {"a if {\n\tx0 := [1]" + doubled("\n\txNEXT := [xTHIS, xTHIS]", 10) + "\n}\n", 0},
		"in another order": {"a if {" + doubled("\n\t{1: xTHIS, 2: xTHIS} = xNEXT", 40) + "\n\tx0 = {1}\n}\n", 17},
		"rules":            {"x0 := [1]\n" + doubled("xNEXT := [xTHIS, xTHIS]\n", 40), 17},
		"sets of rules":    {"x0 contains 1\n" + doubled("xNEXT contains [data.custom.h.xTHIS, data.custom.h.xTHIS]\n", 40), 18},
		"functions":        {"x0(a) := [a]\n" + doubled("xNEXT(a) := [xTHIS(a), xTHIS(a)]\n", 40), 17},
		"comprehensions":   {"x0 := [1]\n" + doubled("xNEXT := [[xTHIS, xTHIS] | true]\n", 40), 16},
		"long lists":       {long + "two := [list, list]\n", 0},
		"recursion":        {"a := [b, b]\nb := [a, a]\n", 0},
	} {
		parsed, err := ast.ParseModuleWithOpts("h.rego", "package custom.h\n"+test.text, ast.ParserOptions{RegoVersion: ast.RegoV1})
		must(t, err)
		err = light([]module{{parsed: parsed}})
		if want := fmt.Sprintf("h.rego:%d: ", test.line); (err == nil) != (test.line == 0) || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
