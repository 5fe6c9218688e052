package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// large is the tiny folder with many programs to allow.
func large(t *testing.T) fstest.MapFS {
	t.Helper()
	m := files(t, "tiny")
	m["corpus/tiny/allow/zz_more.txt"] = &fstest.MapFile{Data: []byte("more\n")}
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, "one two w%d\n", i)
	}
	m["corpus/tiny/allow.txt"] = &fstest.MapFile{Data: []byte(lines.String())}
	return m
}

// counting has parse refuse a program with bad in it, and counts the programs.
func counting(m fstest.MapFS, bad string) (Config, *atomic.Int64) {
	cfg, parsed := tinyConfig(m), &atomic.Int64{}
	cfg.Parse = func(ctx context.Context, language string, code []byte, sections []string) (executor.Tree, *executor.Result, error) {
		parsed.Add(1)
		if bad != "" && strings.Contains(string(code), bad) {
			return executor.Tree{}, &executor.Result{Status: executor.StatusCompileError}, nil
		}
		return parseTiny(ctx, language, code, sections)
	}
	return cfg, parsed
}

func TestATestedFolderIsInForceAfterTheFirstPart(t *testing.T) {
	m := large(t)
	cfg, parsed := counting(m, "")
	cfg.Tested = large(t)
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	first := parsed.Load()
	if _, err := s.Current(); err != nil || first < 3+1 || first > 3+firstAllowed {
		t.Fatalf("%d programs were judged at first, Current = %v", first, err)
	}
	if err := s.ProveRest(context.Background()); err != nil {
		t.Fatal(err)
	}
	if all := parsed.Load(); all != 46 || s.Status().Corpus != 46 {
		t.Errorf("%d programs were parsed, the status says %d; want 46", all, s.Status().Corpus)
	}
	if err := s.ProveRest(context.Background()); err != nil {
		t.Error(err)
	}
	if err := s.Reload(context.Background()); err != nil || s.Status().Corpus != 46 {
		t.Errorf("a reload judged %d programs, want all 46: %v", s.Status().Corpus, err)
	}
	if again := parsed.Load() - 46; again != 0 {
		t.Errorf("a reload had %d programs parsed again", again)
	}
	if decide(t, s, question("eval")).Allow {
		t.Error("the policy in force allows what its corpus denies")
	}
}

func TestAFolderThatDiffersIsProvedWhole(t *testing.T) {
	for name, change := range map[string]func(tested fstest.MapFS){
		"a rule":          func(m fstest.MapFS) { edit(t, m, "tiny.rego", `"eval", "exec"`, `"exec", "eval"`) },
		"a profile":       func(m fstest.MapFS) { m["profiles.yaml"].Data = append(m["profiles.yaml"].Data, '\n') },
		"the corpus":      func(m fstest.MapFS) { delete(m, "corpus/tiny/allow/zz_more.txt") },
		"a schema":        func(m fstest.MapFS) { m["schemas/tiny.json"].Data = append(m["schemas/tiny.json"].Data, '\n') },
		"not a folder":    func(m fstest.MapFS) { delete(m, "main.rego") },
		"one custom rule": func(m fstest.MapFS) { m["custom/x.rego"] = &fstest.MapFile{Data: []byte("package custom.x\n")} },
	} {
		tested := large(t)
		change(tested)
		cfg, parsed := counting(large(t), "")
		cfg.Tested = tested
		if _, err := Load(context.Background(), cfg); err != nil || parsed.Load() != 46 {
			t.Errorf("%s differs: %d of 46 programs were judged, %v", name, parsed.Load(), err)
		}
	}
}

func TestAPolicyWhoseRestFailsIsWithdrawn(t *testing.T) {
	m := large(t)
	cfg, _ := counting(m, "more")
	cfg.Tested = large(t)
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	held := current(t, s)
	if err := s.ProveRest(context.Background()); !errors.Is(err, errWithdrawn) || !strings.Contains(err.Error(), "zz_more.txt") {
		t.Errorf("ProveRest = %v", err)
	}
	if _, err := s.Current(); !errors.Is(err, gateway.ErrNoPolicy) {
		t.Errorf("Current = %v, want ErrNoPolicy", err)
	}
	if st := s.Status(); st.Revision != "" || !strings.Contains(st.LastError, "withdrawn") {
		t.Errorf("status %+v", st)
	}
	if d, err := held.Decide(context.Background(), question("eval")); err != nil || d.Allow {
		t.Errorf("a request that held it: %v, %v", d, err)
	}
}

func TestAPolicyThatCameMeanwhileStays(t *testing.T) {
	m := large(t)
	cfg, _ := counting(m, "more")
	cfg.Tested = large(t)
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	left := s.current.Load().left
	s.current.Load().left = func(ctx context.Context) error {
		delete(m, "corpus/tiny/allow/zz_more.txt") // the operator mends it
		if err := s.Reload(ctx); err != nil {
			t.Error(err)
		}
		return left(ctx)
	}
	if err := s.ProveRest(context.Background()); err == nil {
		t.Error("the rest of the first policy passed")
	}
	if _, err := s.Current(); err != nil || s.Status().LastError != "" {
		t.Errorf("the policy that came meanwhile: %v, %q", err, s.Status().LastError)
	}
}

func TestAnEndWhileTheRestIsProvedIsNoFault(t *testing.T) {
	cfg, _ := counting(large(t), "more")
	cfg.Tested = large(t)
	s, err := Load(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.ProveRest(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ProveRest = %v", err)
	}
	if _, err := s.Current(); err != nil {
		t.Errorf("Current = %v", err)
	}
}

// The first part of the shipped corpus breaks every rule that the whole does.
func TestFirstPartBreaksEveryRule(t *testing.T) {
	folder, err := readFolder(shippedFS())
	if err != nil {
		t.Fatal(err)
	}
	examples, err := readExamples(folder.corpus)
	if err != nil {
		t.Fatal(err)
	}
	first, left := firstPart(examples)
	broken := map[string]bool{}
	for _, e := range first {
		for _, want := range e.expect {
			broken[e.language+" "+want.rule] = true
		}
	}
	for _, e := range examples {
		for _, want := range e.expect {
			if !broken[e.language+" "+want.rule] {
				t.Errorf("nothing in the first part breaks %s of %s", want.rule, e.language)
			}
		}
	}
	if len(first)+len(left) != len(examples) || len(first) > len(examples)/4 {
		t.Errorf("%d + %d of %d", len(first), len(left), len(examples))
	}
}
