// Command way executes a command in the conditions of another kind of host:
//
//	way root|user|container|gvisor COMMAND [ARGUMENT…]
//
// It is a tool for tests and never shipped; the ways are told in the package
// sandboxtest.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/sluice-gateway/sluice/internal/sandbox/sandboxtest"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "way:", err)
		os.Exit(2)
	}
}

// run returns only when something went wrong.
func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("give one of %v and a command", sandboxtest.Ways())
	}
	path, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	if err := sandboxtest.Enter(sandboxtest.Way(args[0])); err != nil {
		return err
	}
	return fmt.Errorf("execute %q: %w", path, syscall.Exec(path, args[1:], os.Environ()))
}
