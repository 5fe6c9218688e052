// Command plugin-bad breaks one rule of the executor contract, the one that its
// argument names, and keeps all others; with "none" it keeps them all. It shows
// that the conformance suite sees each breach.
//
// Begin with faults.go, the list. The rules of the wire are broken by changing
// messages on their way to and from a sound executor (proxy.go), the rules of
// meaning in that executor itself (toy.go), and those of the process here and in
// serve.go, which shakes hands by hand so that each step can be done wrong.
//
// It must never be installed.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// fault is the rule that this process breaks.
type fault string

func (f fault) is(name string) bool { return string(f) == name }

func main() {
	if len(os.Args) == 2 && os.Args[1] == "list" {
		for name, check := range faults() {
			fmt.Println(name, check)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "sleep" {
		time.Sleep(10 * time.Minute)
		return
	}
	if len(os.Args) != 2 || faults()[os.Args[1]] == "" {
		fmt.Fprintln(os.Stderr, "plugin-bad: name one fault; `plugin-bad list` lists them")
		os.Exit(2)
	}
	f := fault(os.Args[1])
	if os.Getenv("GATEWAY_EXECUTOR_PLUGIN") != "gateway.executor.v1" {
		byHand(f)
	}
	if err := prepare(f); err != nil {
		fmt.Fprintln(os.Stderr, "plugin-bad:", err)
		os.Exit(1)
	}
	if err := serve(f); err != nil {
		fmt.Fprintln(os.Stderr, "plugin-bad:", err)
		os.Exit(1)
	}
}

func byHand(f fault) {
	switch {
	case f.is("hand-zero"):
		fmt.Fprintln(os.Stderr, "this is a plugin")
		os.Exit(0)
	case f.is("hand-prints"):
		fmt.Println("this is a plugin")
	case f.is("hand-stays"):
		select {}
	case f.is("hand-silent"):
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, "this is a plugin; a gateway starts it")
	os.Exit(1)
}

// prepare is what a plugin does to its process before it listens.
func prepare(f fault) error {
	versions := "," + os.Getenv("PLUGIN_PROTOCOL_VERSIONS") + ","
	if !strings.Contains(versions, ",1,") && !f.is("any-version") {
		return fmt.Errorf("no version in common: %s", versions)
	}
	if err := litter(f); err != nil {
		return err
	}
	if !f.is("orphan") {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, 1, uintptr(syscall.SIGKILL), 0); errno != 0 {
			return errno
		}
	}
	if !f.is("orphan") && !f.is("no-guard") {
		watchGuard()
	}
	if f.is("worker-holds-pipes") {
		cmd := sleeper()
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return err
		}
	}
	if f.is("busy") {
		go func() {
			for {
				time.Sleep(time.Microsecond)
			}
		}()
	}
	signal.Ignore(syscall.SIGINT)
	return nil
}

// litter writes where a plugin should not.
func litter(f fault) error {
	switch {
	case f.is("needs-home"):
		return os.WriteFile(filepath.Join(os.Getenv("HOME"), "kept"), nil, 0o600)
	case f.is("litters"):
		return os.WriteFile(filepath.Join(os.TempDir(), "left"), nil, 0o600)
	}
	return nil
}

// sleeper is a worker that does nothing.
func sleeper() *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", "sleep")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func watchGuard() {
	guard := os.NewFile(3, "guard")
	syscall.CloseOnExec(3)
	go func() {
		_, _ = guard.Read(make([]byte, 1))
		os.Exit(1)
	}()
}
