package policy

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
)

// masked loads the tiny policy with a mask and gives the event what it makes of.
func masked(t *testing.T, rules, event string) (string, error) {
	t.Helper()
	m := files(t, "tiny")
	m["log.rego"] = &fstest.MapFile{Data: []byte("package system.log\n\n" + rules)}
	s := load(t, m)
	var object map[string]any
	if err := json.Unmarshal([]byte(event), &object); err != nil {
		t.Fatal(err)
	}
	err := s.Mask(object)
	text, fault := json.Marshal(object)
	if fault != nil {
		t.Fatal(fault)
	}
	return string(text), err
}

const sampleEvent = `{"decision_id":"d","input":{"caller":"alice","code":{"text":"secret","sha256":"ab"}},"result":{"allow":false,"violations":[{"rule":"r","message":"secret"}]}}`

func TestMaskHidesWhatItPointsTo(t *testing.T) {
	for name, c := range map[string]struct{ rules, want string }{
		"takes out": {
			`mask contains "/input/code/text"`,
			`{"decision_id":"d","erased":["/input/code/text"],"input":{"caller":"alice","code":{"sha256":"ab"}},"result":{"allow":false,"violations":[{"message":"secret","rule":"r"}]}}`,
		},
		"as OPA's own form, in one case alone": {
			"mask contains {\"op\": \"upsert\", \"path\": \"/input/caller\", \"value\": \"***\"} if input.input.caller == \"alice\"\n\nmask contains \"/input\" if input.input.caller == \"bob\"",
			`{"decision_id":"d","input":{"caller":"***","code":{"sha256":"ab","text":"secret"}},"masked":["/input/caller"],"result":{"allow":false,"violations":[{"message":"secret","rule":"r"}]}}`,
		},
		"in a list": {
			"mask contains sprintf(\"/result/violations/%d/message\", [i]) if some i, _ in input.result.violations",
			`{"decision_id":"d","erased":["/result/violations/0/message"],"input":{"caller":"alice","code":{"sha256":"ab","text":"secret"}},"result":{"allow":false,"violations":[{"rule":"r"}]}}`,
		},
		"whole parts": {
			"mask := {\"/input\", \"/result\"}",
			`{"decision_id":"d","erased":["/input","/result"]}`,
		},
		"what is not there": {
			`mask := {"/input/nothing", "/input/code/text/deeper", "/result/violations/7/message"}`,
			"",
		},
		"undefined": {"mask := {\"/input\"} if input.nothing", ""},
	} {
		got, err := masked(t, c.rules, sampleEvent)
		want := c.want
		if want == "" {
			want = `{"decision_id":"d","input":{"caller":"alice","code":{"sha256":"ab","text":"secret"}},"result":{"allow":false,"violations":[{"message":"secret","rule":"r"}]}}`
		}
		if err != nil || got != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, want)
		}
	}
}

func TestAMaskThatCannotBeAppliedIsAnError(t *testing.T) {
	for name, rules := range map[string]string{
		"no set":               `mask := "/input" if alice`,
		"another part":         `mask contains "/requested_by" if alice`,
		"no pointer":           `mask contains "input" if alice`,
		"an unknown operation": `mask contains {"op": "replace", "path": "/input"} if alice`,
		"an unknown key":       `mask contains {"op": "remove", "paths": "/input"} if alice`,
		"a number":             `mask contains 7 if alice`,
		"a long value":         `mask contains {"op": "upsert", "path": "/input/caller", "value": concat("", ["long" | some _ in numbers.range(1, 2000)])} if alice`,
		"a failing builtin":    "mask contains \"/input\" if {\n\talice\n\tto_number(input.input.caller) > 3\n}",
	} {
		if got, err := masked(t, rules+"\n\nalice if input.input.caller == \"alice\"\n", sampleEvent); err == nil {
			t.Errorf("%s: no error, and %s", name, got)
		}
		m := files(t, "tiny")
		m["log.rego"] = &fstest.MapFile{Data: []byte("package system.log\n\n" + rules + "\n\nalice := true\n")}
		if _, err := Load(context.Background(), tinyConfig(m)); err == nil || !strings.HasPrefix(err.Error(), "log.rego:") || !strings.Contains(err.Error(), ": an event of the decision log cannot be masked") {
			t.Errorf("%s: put in force, or %v", name, err)
		}
	}
}

func TestAMaskIsProvedAtTheLoad(t *testing.T) {
	for name, c := range map[string]struct{ rules, want string }{
		"another rule":       {`masks contains "/input"`, "has no rule named mask"},
		"does not compile":   {`mask contains nothing_of_that_name`, "log.rego:3"},
		"contradicts itself": {"mask := {\"/input\"} if input.input\n\nmask := {\"/result\"} if input.input", "an event of the decision log cannot be masked: log.rego:5: eval_conflict_error"},
		"has no end":         {"mask contains \"/input\" if {\n\tsome a in numbers.range(1, 100000)\n\tsome b in numbers.range(1, 100000)\n\ta * b < 0\n}", "log.rego:3: an event of the decision log cannot be masked: it takes too much"},
		"looks at the world": {`mask contains "/input" if http.send({"url": "x", "method": "get"})`, "http.send"},
	} {
		m := files(t, "tiny")
		m["log.rego"] = &fstest.MapFile{Data: []byte("package system.log\n\n" + c.rules)}
		if _, err := Load(context.Background(), tinyConfig(m)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
	if s := load(t, files(t, "tiny")); s.Mask(map[string]any{"input": 1}) != nil {
		t.Error("a policy without a mask has an error")
	}
}

// A reload does not take a profile away from those who name it.
func TestAProfileThatIsNamedStays(t *testing.T) {
	m, folder := files(t, "tiny"), &switched{}
	folder.now.Store(&m)
	cfg := tinyConfig(m)
	cfg.FS = folder
	cfg.Needed = func() map[string]string {
		return map[string]string{"policy.profiles.run": "lenient", "the token odd": "never-there"}
	}
	s, err := Load(context.Background(), cfg)
	if err != nil || !strings.Contains(strings.Join(s.Status().Warnings, "\n"), `no profile "never-there", which the token odd names`) {
		t.Fatalf("%v; warnings %q", err, s.Status().Warnings)
	}
	less := files(t, "tiny")
	edit(t, less, "profiles.yaml", "lenient:", "relaxed:")
	folder.now.Store(&less)
	if err := s.Reload(context.Background()); err == nil || !strings.Contains(err.Error(), `no profile "lenient", which policy.profiles.run names; there are relaxed, solve`) {
		t.Errorf("error %v", err)
	}
	if d := decide(t, s, question("word")); !d.Allow {
		t.Error("the policy before is not in force")
	}
}
