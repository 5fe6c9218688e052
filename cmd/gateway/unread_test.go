package main

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestUnreadLog: a service whose log and journal nobody reads any more goes on.
func TestUnreadLog(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	cmd := exec.Command("gateway", "serve", "--config", filepath.Join(repository(t), "config.yaml"), "--listen", address)
	cmd.Env = append(os.Environ(), "SOLVER_TOKEN="+testToken)
	cmd.Stdout, cmd.Stderr = write, write
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(over)
	}()
	defer func() {
		_ = cmd.Process.Kill() // it may be gone already
		<-over
	}()
	ended := func() bool {
		select {
		case <-over:
			return true
		default:
			return false
		}
	}
	r := &running{url: "http://" + address, process: cmd.Process}
	if err := untilReady(r.url, ended); err != nil {
		t.Fatal(err)
	}
	if a := r.solve(t, "print(12)"); a.status != http.StatusOK || a.body["stdout"] != "12\n" {
		t.Errorf("%d %v", a.status, a.body)
	}
}
