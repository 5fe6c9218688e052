package pluginhost

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// playGateway runs a plugin until it is killed.
func playGateway(root string) int {
	exe, err := os.Executable()
	if err != nil {
		return 1
	}
	h, err := New(Config{
		StateRoot: root, Log: slog.New(slog.DiscardHandler),
		Plugins: []Plugin{{Name: "bird", Command: exe, Args: []string{"plugin:parrot"}, Trust: TrustBuilt}},
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if os.Getenv("PLAIN") != "" {
		h.offer = sandbox.Offer{} // no namespaces
	}
	if err := h.Start(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(h.Status()[0].PID)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// breathes tells a living process from one that only its parent has not
// reaped.
func breathes(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(after, "Z")
}

// TestGatewayKilled: nothing outlives a gateway that SIGKILL ended, and the next
// one sweeps what it left.
func TestGatewayKilled(t *testing.T) {
	t.Parallel()
	root := shortDir(t)
	for _, plain := range []string{"", "PLAIN=1", ""} {
		cmd := exec.Command(testExe(t), "gateway", root)
		cmd.Env = append(os.Environ(), plain)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(stdout).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil || !alive(pid) {
			t.Fatalf("gateway said %q", line)
		}
		_ = cmd.Process.Kill()
		begin := time.Now()
		_ = cmd.Wait()
		_ = stdin.Close()
		until(t, "the plugin is gone", func() bool { return !breathes(pid) })
		if took := time.Since(begin); took > time.Second {
			t.Errorf("the plugin outlived its gateway by %v", took)
		}
	}
	left, err := os.ReadDir(root)
	if err != nil || len(left) != 1 {
		t.Errorf("in the state directory: %v, %v; want what the last one left", left, err)
	}
	home, err := openHome(root)
	if err != nil {
		t.Fatal(err)
	}
	if left, err = os.ReadDir(root); err != nil || len(left) != 1 {
		t.Errorf("after a sweep: %v, %v; want the new home alone", left, err)
	}
	other, err := openHome(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(home.dir); err != nil {
		t.Errorf("a living gateway's home was swept: %v", err)
	}
	for _, h := range []interface{ close() error }{home, other} {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	}
}
