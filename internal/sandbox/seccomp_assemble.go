package sandbox

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// SyscallName is a system call's name on this machine's architecture, or its
// number in words when it is newer than the table.
func SyscallName(nr int) string {
	if info, err := archOf(runtime.GOARCH); err == nil {
		if name, ok := info.SyscallNumbers[nr]; ok {
			return name
		}
	}
	return "number " + strconv.Itoa(nr)
}

// archOf finds the table of one of the architectures that the rules were
// written for.
func archOf(goarch string) (*arch.Info, error) {
	switch goarch {
	case "amd64":
		return arch.X86_64, nil
	case "arm64":
		return arch.AARCH64, nil
	}
	return nil, fmt.Errorf("assemble a filter: there are no system call rules for the architecture %q", goarch)
}

// x32Bit marks a call by the 32-bit ABI of amd64, which has the same
// architecture in the eyes of a filter.
const x32Bit = 0x40000000

// assemble makes the rules into a program: a foreign architecture ends the
// process, the first rule that fits decides, otherwise is what is left over. By
// what a forbidden call is answered is the caller's choice.
//
// Policy.Assemble of the library is not used: it lets foreign architectures fall
// through to the default, answers only EPERM, and knows no other architecture
// than the one it runs on.
func assemble(info *arch.Info, rules []rule, forbidden, otherwise seccomp.Action) ([]bpf.RawInstruction, error) {
	spans, err := spansOf(info, rules, forbidden, otherwise)
	if err != nil {
		return nil, fmt.Errorf("assemble a filter: %w", err)
	}
	body := search(spans)
	for i := range body {
		if body[i] == (bpf.RetConstant{Val: uint32(doneMark)}) {
			body[i] = bpf.RetConstant{Val: uint32(seccomp.ActionErrno)}
		}
	}
	return raw(append(prologue(info), body...))
}

// doneMark stands for errno 0 until the program is assembled: the library takes
// that for EPERM. There is no such errno.
const doneMark = seccomp.ActionErrno | 0xFFFF

// prologue leaves the call's number loaded.
func prologue(info *arch.Info) []bpf.Instruction {
	head := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionKillProcess)},
		bpf.LoadAbsolute{Off: 0, Size: 4},
	}
	if info != arch.X86_64 {
		return head
	}
	return append(head,
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32Bit, SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionKillProcess)})
}

// addRule appends one rule for one call, and says whether it fits always. Where its
// conditions do not hold, the library goes on with the argument in place of the number.
func addRule(p *seccomp.Program, nr uint32, r rule, forbidden seccomp.Action) (always bool) {
	if r.when == nil {
		p.Ret(r.deed.action(forbidden))
		return true
	}
	action, next := p.NewLabel(), p.NewLabel()
	call := seccomp.SyscallWithConditions{Num: nr, Conditions: r.when}
	call.Assemble(p, false, action, next)
	p.SetLabel(action)
	p.Ret(r.deed.action(forbidden))
	p.SetLabel(next)
	reload(p)
	return false
}

// reload loads the call's number again. The library has no word for it but
// loading an argument: number n lies at 16 + 8n, so this one lies at 0.
func reload(p *seccomp.Program) {
	const argument = (1<<32 - 16) / 8
	p.LdLo(argument)
}

func (d deed) action(forbidden seccomp.Action) seccomp.Action {
	switch d {
	case allow:
		return seccomp.ActionAllow
	case refuse:
		return errno(unix.EPERM)
	case pretend:
		return doneMark
	case notHere:
		return errno(unix.EOPNOTSUPP)
	case notTTY:
		return errno(unix.ENOTTY)
	case forbid:
		return forbidden
	}
	return errno(unix.ENOSYS)
}

func errno(e unix.Errno) seccomp.Action { return seccomp.ActionErrno | seccomp.Action(e) }

func raw(program []bpf.Instruction) ([]bpf.RawInstruction, error) {
	code, err := bpf.Assemble(program)
	if err != nil {
		return nil, fmt.Errorf("assemble a filter: %w", err)
	}
	if len(code) > 4096 {
		return nil, fmt.Errorf("assemble a filter: %d instructions are more than the kernel takes", len(code))
	}
	return code, nil
}

// filterBytes lays a program out as the kernel's array of struct sock_filter.
func filterBytes(code []bpf.RawInstruction) []byte {
	out := make([]byte, 0, 8*len(code))
	for _, i := range code {
		out = binary.NativeEndian.AppendUint16(out, i.Op)
		out = append(out, i.Jt, i.Jf)
		out = binary.NativeEndian.AppendUint32(out, i.K)
	}
	return out
}
