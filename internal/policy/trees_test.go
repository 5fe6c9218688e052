package policy

import (
	"context"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

func TestTreesAreKeptForTheNextLoadAlone(t *testing.T) {
	kept, parsed, size := newTrees(), 0, 1
	do := func(context.Context, string, []byte, []string) (executor.Tree, *executor.Result, error) {
		parsed++
		return executor.Tree{JSON: make([]byte, size)}, nil, nil
	}
	ask := func(want int, code string, sections []string, why string) {
		t.Helper()
		parsed = 0
		if _, _, err := kept.parse(context.Background(), do, example{language: "tiny", code: []byte(code)}, sections); err != nil || parsed != want {
			t.Errorf("%s: parsed %d times, want %d (%v)", why, parsed, want, err)
		}
	}
	ask(1, "a", []string{"names"}, "the first time")
	ask(1, "b", []string{"names"}, "another program")
	kept.next()
	ask(0, "a", []string{"names"}, "the next load")
	ask(1, "a", []string{"names", "kinds"}, "other sections")
	ask(1, "a", nil, "all sections")
	ask(1, "a", []string{}, "no sections")
	kept.next()
	kept.next() // a load that failed early used none
	ask(0, "a", []string{"names"}, "a load after one that failed early")
	ask(1, "b", []string{"names"}, "what a load did not use")
	size = maxTreeBytes + 1
	ask(1, "large", nil, "a large one")
	ask(1, "large", nil, "beyond the bound it is not kept")
}
