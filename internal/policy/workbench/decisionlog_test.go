package workbench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/audit"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy/policytest"
)

// recorded writes a decision as the gateway's journal does.
func recorded(t *testing.T, code string, d *gateway.Decision, change func(*gateway.Entry)) string {
	t.Helper()
	var out bytes.Buffer
	j, err := audit.Open(audit.Config{Stdout: &out, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	e := gateway.Entry{Time: time.Unix(1, 0), RequestID: "r", Caller: "worker", Route: gateway.RouteSolve, Tool: "python", Code: []byte(code), Decision: d}
	e.CodeSHA256 = sha256.Sum256([]byte(code))
	if change != nil {
		change(&e)
	}
	j.Record(e)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func source(c Case) executor.Source { return executor.Source{Language: c.Language, Code: c.Code} }

func languageOf(tool string) string {
	return map[string]string{"python": "python", "calculator": "calc"}[tool]
}

func TestAJournalIsReplayed(t *testing.T) {
	python := policytest.Start(t)
	p := load(t, shippedFolder(t))
	decide := func(code string) *gateway.Decision {
		c := cases(code, "worker")[0]
		tree, _, err := python.Parse(context.Background(), "python", c.Code, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Decide(context.Background(), gateway.Question{Language: "python", Tool: "python", Profile: "solve", Caller: "worker", Source: source(c), Tree: tree})
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	refused, fine := "import os\nprint(eval('1'))\n", "import numpy as np\nnp.random.seed(3)\n"
	lines := recorded(t, refused, decide(refused), nil) +
		recorded(t, fine, decide(fine), func(e *gateway.Entry) { e.Session = "abc" }) +
		recorded(t, "kept", decide("kept"), func(e *gateway.Entry) { e.Code = nil }) +
		recorded(t, "lost", decide("lost"), func(e *gateway.Entry) { e.Code = nil }) +
		recorded(t, "masked", decide("masked"), func(e *gateway.Entry) { e.Code = []byte("****") }) +
		recorded(t, "def", nil, nil) +
		recorded(t, "x", decide("x"), func(e *gateway.Entry) { e.Tool = "gone" }) +
		"not json\n{}\n[1]\n\n"
	sources := Sources{}
	if err := sources.AddFolder(fstest.MapFS{"a/b": {Data: []byte("kept")}, "big": {Data: make([]byte, 99)}}, 50); err != nil || len(sources) != 1 {
		t.Fatal(sources, err)
	}
	log := &Log{}
	if err := log.Read(strings.NewReader(lines), sources, languageOf); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{skipUnreadable: 3, skipUndecided: 1, skipNoSource: 1, skipAltered: 1, skipNoLanguage: 1}
	if !maps.Equal(log.Skipped, want) || log.Lines != 10 || log.Decisions != 6 || log.Cells != 1 || len(log.Cases) != 3 {
		t.Errorf("%+v", log)
	}
	same, err := (&Comparer{New: p, Parse: python.Parse}).Compare(context.Background(), log.Cases)
	if err != nil || same.Counts[Same] != 3 {
		t.Errorf("the same policy: %+v, %v", same, err)
	}
	changed, err := (&Comparer{New: load(t, changedFolder(t)), Parse: python.Parse}).Compare(context.Background(), log.Cases)
	if err != nil || changed.Counts[NewlyRefused] != 1 || changed.Counts[Same] != 2 {
		t.Errorf("a tighter policy: %+v, %v", changed, err)
	}
	if again := Without(log.Cases); again[0].Recorded != nil || log.Cases[0].Recorded == nil {
		t.Error("Without changes its argument or nothing")
	}
}

func FuzzDecisionLog(f *testing.F) {
	f.Add([]byte(`{"timestamp":"2026-11-28T10:00:00Z","input":{"tool":"python","code":{"sha256":"x","text":"1"}},"result":{"allow":true,"violations":null}}`))
	f.Add([]byte(`{"timestamp":"2026-11-28T10:00:00Z","input":{"tool":"python","code":{"sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","text":"hello"}},"result":{"violations":[{"line":-1}]}}` + "\n\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		log := &Log{}
		if err := log.Read(bytes.NewReader(text), Sources{}, languageOf); err != nil {
			return // a line beyond all bounds
		}
		left := 0
		for _, n := range log.Skipped {
			left += n
		}
		if left+len(log.Cases) != log.Lines {
			t.Errorf("%d lines, %d cases, %d left out", log.Lines, len(log.Cases), left)
		}
		for _, c := range log.Cases {
			if c.Recorded == nil || c.Language == "" {
				t.Errorf("%+v", c)
			}
		}
		if _, err := json.Marshal(log); err != nil {
			t.Error(err)
		}
	})
}
