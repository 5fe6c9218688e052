package sandbox

import (
	"maps"
	"math"
	"slices"
	"strings"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
)

// span is what a filter does from one call's number to the next span's.
type span struct {
	from uint32
	code []bpf.Instruction
}

// spansOf lays the rules out by number, from 0 on without a gap. A filter is run
// once for each call there is when it is installed, so that the kernel knows the ones
// which are always allowed; and rules in a row are long.
func spansOf(info *arch.Info, rules []rule, forbidden, otherwise seccomp.Action) ([]span, error) {
	by := map[uint32][]rule{}
	for _, r := range rules {
		for _, name := range strings.Fields(r.calls) {
			if nr, ok := info.SyscallNames[name]; ok {
				by[uint32(nr)] = append(by[uint32(nr)], r) //nolint:gosec // a table's number
			}
		}
	}
	rest := []bpf.Instruction{bpf.RetConstant{Val: uint32(otherwise)}}
	spans, next := []span{}, uint32(0)
	for _, nr := range slices.Sorted(maps.Keys(by)) {
		code, err := codeOf(nr, by[nr], forbidden, otherwise)
		if err != nil {
			return nil, err
		}
		if nr > next {
			spans = extend(spans, next, rest)
		}
		spans, next = extend(spans, nr, code), nr+1
	}
	return extend(spans, next, rest), nil
}

// extend appends a span, or lets the last one go on where both do the same whatever
// the number is.
func extend(spans []span, from uint32, code []bpf.Instruction) []span {
	if last := len(spans) - 1; last >= 0 && len(code) == 1 && slices.Equal(spans[last].code, code) {
		return spans
	}
	return append(spans, span{from, code})
}

// codeOf is what becomes of one call.
func codeOf(nr uint32, rules []rule, forbidden, otherwise seccomp.Action) ([]bpf.Instruction, error) {
	p := seccomp.NewProgram()
	for _, r := range rules {
		if addRule(&p, nr, r, forbidden) {
			return p.Assemble()
		}
	}
	p.Ret(otherwise)
	return p.Assemble()
}

// search finds the loaded number's span by halves.
func search(spans []span) []bpf.Instruction {
	if len(spans) == 1 {
		return slices.Clone(spans[0].code)
	}
	half := len(spans) / 2
	low, high := search(spans[:half]), search(spans[half:])
	at := bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: spans[half].from}
	if len(low) <= math.MaxUint8 {
		at.SkipTrue = uint8(len(low)) //nolint:gosec // just compared
		return slices.Concat([]bpf.Instruction{at}, low, high)
	}
	at.SkipFalse = 1
	return slices.Concat([]bpf.Instruction{at, bpf.Jump{Skip: uint32(len(low))}}, low, high) //nolint:gosec // raw bounds it
}
