package main

import (
	"runtime/debug"
	"testing"
)

func TestGarbageIsCollectedAsTheOperatorChose(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for name, want := range map[string]int{"GOGC": 100, "GOMEMLIMIT": 100, "GODEBUG": gcPercent} {
		debug.SetGCPercent(100)
		h := &house{gcChosen: gcChosen(func(asked string) string {
			if asked == name {
				return "64MiB"
			}
			return ""
		})}
		h.collectSeldom()
		if got := debug.SetGCPercent(100); got != want {
			t.Errorf("with %s set the percentage is %d, want %d", name, got, want)
		}
	}
}
