package wire

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
)

const (
	prSetPdeathsig = 1 // linux/prctl.h
	firstFreeFD    = 10
)

// guardProcess ties the process to its parent and keeps the handshake's pipe
// away from whatever prints. guardFD is the value of EnvGuardFD, or empty.
func guardProcess(guardFD string) error {
	parent := os.Getppid()
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetPdeathsig, uintptr(syscall.SIGKILL), 0); errno != 0 {
		return fmt.Errorf("ask to die with the parent: %w", errno)
	}
	if os.Getppid() != parent {
		return errors.New("parent is gone")
	}
	if guardFD != "" {
		if err := watchGuard(guardFD); err != nil {
			return err
		}
	}
	return moveStdout()
}

// watchGuard ends the process, and its group if it leads one, when the host's
// end of the pipe is closed.
func watchGuard(text string) error {
	fd, err := strconv.Atoi(text)
	if err != nil || fd <= 2 {
		return fmt.Errorf("%s is not a descriptor: %q", EnvGuardFD, text)
	}
	syscall.CloseOnExec(fd)
	pipe := os.NewFile(uintptr(fd), "guard")
	if _, err := pipe.Stat(); err != nil {
		return fmt.Errorf("open the guard pipe: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		if syscall.Getpgrp() == os.Getpid() {
			_ = syscall.Kill(0, syscall.SIGKILL)
		}
		os.Exit(1)
	}()
	return nil
}

// moveStdout gives os.Stdout, which carries the handshake, a descriptor of its
// own that no child inherits; descriptor 1 becomes the standard error.
func moveStdout() error {
	fd, _, errno := syscall.Syscall(syscall.SYS_FCNTL, 1, syscall.F_DUPFD_CLOEXEC, firstFreeFD)
	if errno != 0 {
		return fmt.Errorf("move the standard output: %w", errno)
	}
	if err := syscall.Dup3(2, 1, 0); err != nil {
		return fmt.Errorf("move the standard output: %w", err)
	}
	os.Stdout = os.NewFile(fd, "handshake")
	return nil
}
