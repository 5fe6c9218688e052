package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is a running interpreter.
type process struct {
	walls []string // in force around it
	kill  func()   // ends it and all its descendants; safe to call again
}

// startInterpreter starts the zygote behind the walls that the host has.
func startInterpreter(s settings, sock, bundle, stderr *os.File) (*process, error) {
	path, err := s.interpreter()
	if err != nil {
		return nil, err
	}
	boot, err := bootText()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "-I", "-B", "-X", "utf8", "-c", boot)
	cmd.Env = s.environment()
	cmd.Dir = "/"
	cmd.Stderr = stderr
	cmd.ExtraFiles = []*os.File{sock, bundle}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		// PDEATHSIG fires when the thread that started the process ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- fmt.Errorf("start the interpreter: %w", err)
			return
		}
		started <- nil
		_ = cmd.Wait() // how it ended is of no matter
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return &process{kill: func() { _ = cmd.Process.Kill() }}, nil
}

// socketPair makes two connected sockets, closed on exec.
func socketPair(kind int) (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs"), nil
}

// packetConn turns a socket into a connection and closes the file.
func packetConn(file *os.File) (*net.UnixConn, error) {
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("make a connection: %w", err)
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("make a connection: %T is no unix socket", conn)
	}
	return unixConn, nil
}

// oneDescriptor takes at most one descriptor out of a control message; any
// others are closed.
func oneDescriptor(oob []byte) (*os.File, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("read a control message: %w", err)
	}
	var file *os.File
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if file != nil {
				unix.Close(fd)
				continue
			}
			file = os.NewFile(uintptr(fd), "pidfd") //nolint:gosec // a descriptor is not negative
		}
	}
	return file, nil
}
