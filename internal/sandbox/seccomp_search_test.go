package sandbox

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
)

// firstThatFits is what the rules say, read one after another.
func firstThatFits(info *arch.Info, rules []rule, nr int, args []uint64, forbidden, otherwise seccomp.Action) seccomp.Action {
	for _, r := range rules {
		for _, name := range strings.Fields(r.calls) {
			at, ok := info.SyscallNames[name]
			if !ok || at != nr || r.when != nil && !slices.ContainsFunc(r.when, func(set seccomp.ArgumentConditions) bool { return hold(set, args) }) {
				continue
			}
			if answer := r.deed.action(forbidden); answer != doneMark {
				return answer
			}
			return seccomp.ActionErrno
		}
	}
	return otherwise
}

func hold(set seccomp.ArgumentConditions, args []uint64) bool {
	for _, c := range set {
		a, ok := args[c.Argument], false
		switch c.Operation {
		case seccomp.Equal:
			ok = a == c.Value
		case seccomp.NotEqual:
			ok = a != c.Value
		case seccomp.GreaterThan:
			ok = a > c.Value
		case seccomp.GreaterOrEqual:
			ok = a >= c.Value
		case seccomp.LessThan:
			ok = a < c.Value
		case seccomp.LessOrEqual:
			ok = a <= c.Value
		case seccomp.BitsSet:
			ok = a&c.Value != 0
		case seccomp.BitsNotSet:
			ok = a&c.Value == 0
		}
		if !ok {
			return false
		}
	}
	return true
}

// telling are values of arguments that conditions tell apart.
func telling(rules []rule) []uint64 {
	values := []uint64{0, 1, 1 << 31, 1 << 32, 1<<64 - 1}
	for _, r := range rules {
		for _, set := range r.when {
			for _, c := range set {
				values = append(values, c.Value, c.Value+1, c.Value-1, c.Value|1<<32, c.Value^1)
			}
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// TestSearchSaysWhatTheRulesSay: for each number that there is and some that there are
// not, with arguments that conditions tell apart.
func TestSearchSaysWhatTheRulesSay(t *testing.T) {
	const forbidden, otherwise = seccomp.ActionUserNotify, seccomp.ActionErrno | 38
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	rules := slices.Concat(sessionRules(3), firstRules(true), threadRules(true), hostFileRules(true), handOverRules(3), childRules())
	values := telling(rules)
	for _, info := range []*arch.Info{arch.X86_64, arch.AARCH64} {
		code, err := assemble(info, rules, forbidden, otherwise)
		if err != nil {
			t.Fatal(err)
		}
		vm := machine(t, filterBytes(code))
		for nr := range 600 {
			for range 60 {
				args := make([]uint64, 6)
				for i := range args {
					args[i] = values[random.IntN(len(values))]
				}
				want := firstThatFits(info, rules, nr, args, forbidden, otherwise)
				if got := ask(t, vm, uint32(info.ID), uint32(nr), args...); got != want {
					t.Fatalf("%s: call %d with %x answers %#x, want %#x", info.Name, nr, args, uint32(got), uint32(want))
				}
			}
		}
	}
}

// TestSearchIsShort: no call that is always allowed is further away than halving takes.
func TestSearchIsShort(t *testing.T) {
	info, err := archOf(runtime.GOARCH)
	if err != nil {
		t.Skip(err)
	}
	spans, err := spansOf(info, childRules(), seccomp.ActionKillProcess, seccomp.ActionErrno)
	if err != nil {
		t.Fatal(err)
	}
	body := search(spans)
	for nr := range uint32(500) {
		steps := 0
		for at := 0; ; steps++ {
			jump, ok := body[at].(bpf.JumpIf)
			if !ok {
				skip, ok := body[at].(bpf.Jump)
				if !ok {
					break
				}
				at += int(skip.Skip) + 1
				continue
			}
			if jump.Cond != bpf.JumpGreaterOrEqual {
				break
			}
			if nr >= jump.Val {
				at += int(jump.SkipTrue) + 1
			} else {
				at += int(jump.SkipFalse) + 1
			}
		}
		if steps > 20 {
			t.Fatalf("call %d is found after %d steps", nr, steps)
		}
	}
}
