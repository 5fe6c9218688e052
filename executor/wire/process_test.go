package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/sluice-gateway/sluice/executor"
)

// process is a real plugin process with AutoMTLS: this test binary in its role.
type process struct {
	*Client
	plugin *plugin.Client
	guard  *os.File // the host's end of the guard pipe
	stderr *lockedBuffer
	dir    string
}

// pluginConfig is how the host starts a plugin, less the sandbox.
func pluginConfig(dir string, stderr io.Writer, guard *os.File) *plugin.ClientConfig {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{envRole + "=plugin", EnvLogLevel + "=debug"}
	if guard != nil {
		cmd.ExtraFiles = []*os.File{guard}
		cmd.Env = append(cmd.Env, EnvGuardFD+"=3")
	}
	return &plugin.ClientConfig{
		HandshakeConfig: Handshake(), Plugins: HostPlugins(), Cmd: cmd,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         true, SkipHostEnv: true, StartTimeout: patience,
		GRPCDialOptions: HostDialOptions(), Stderr: stderr,
		Logger:           hclog.NewNullLogger(),
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: dir},
	}
}

func dispense(c *plugin.Client) (*Client, error) {
	rpc, err := c.Client()
	if err != nil {
		return nil, fmt.Errorf("start the plugin: %w", err)
	}
	raw, err := rpc.Dispense(PluginName)
	if err != nil {
		return nil, fmt.Errorf("dispense the plugin: %w", err)
	}
	return raw.(*Client), nil
}

func startProcess(t testing.TB) *process {
	t.Helper()
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "wire") // t.TempDir's path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	p := &process{guard: ours, stderr: &lockedBuffer{}, dir: dir}
	p.plugin = plugin.NewClient(pluginConfig(dir, p.stderr, theirs))
	t.Cleanup(func() {
		p.plugin.Kill()
		_ = ours.Close()
		_ = os.RemoveAll(dir)
	})
	p.Client, err = dispense(p.plugin)
	if err := errors.Join(err, theirs.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Describe(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Configure(t.Context(), executor.Config{LogLevel: "info"}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	pid, err := strconv.Atoi(p.plugin.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

func TestProcess(t *testing.T) {
	p := startProcess(t)
	res, out := runCode(t, p.Client, "print 6*7", executor.Limits{})
	if res.Status != executor.StatusOK || out.stdout.String() != "6*7" {
		t.Errorf("%+v", res)
	}
	// Whatever prints inside the plugin blocks nothing.
	for _, code := range []string{"rawstdout 262144\nprint a", "stdout 262144\nprint a"} {
		if res, out := runCode(t, p.Client, code, wall(5000)); res.Status != executor.StatusOK || out.stdout.String() != "a" {
			t.Errorf("%q: %+v", code, res)
		}
	}
	runCode(t, p.Client, "log told", executor.Limits{})
	p.signal(t, syscall.SIGINT)
	if res, _ := runCode(t, p.Client, "panic x", executor.Limits{}); res.Status != executor.StatusInternal {
		t.Errorf("%+v", res)
	}
	running := submit(t, p.Client, "print done")
	p.signal(t, syscall.SIGTERM)
	eventually(t, "a plugin that drains", func() bool {
		h, err := p.Health(t.Context(), false)
		return err == nil && h.State == HealthDraining
	})
	if res, err := running.Run(t.Context(), executor.Grant{}, new(printed).take); err != nil || res.Status != executor.StatusOK {
		t.Errorf("running work: %+v, %v", res, err)
	}
	p.plugin.Kill()
	if left, err := filepath.Glob(filepath.Join(p.dir, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	log := p.stderr.String()
	for _, want := range []string{`"@message":"draining"`, `"@message":"told","n":1`, `"@message":"told"`, `"n":2`, `"where":"run"`} {
		if !strings.Contains(log, want) {
			t.Errorf("log has no %s:\n%.5000s", want, log)
		}
	}
	if strings.Contains(log, "z\n") || strings.Contains(log, `"panic":"x"`) {
		t.Errorf("log has what it should not have:\n%.5000s", log)
	}
}

func TestProcessThatDies(t *testing.T) {
	t.Run("while running", func(t *testing.T) {
		p := startProcess(t)
		s := submit(t, p.Client, "print x\nsleep")
		var out printed
		_, err := s.Run(t.Context(), executor.Grant{}, func(st executor.Stream, b []byte) {
			out.take(st, b)
			p.signal(t, syscall.SIGKILL)
		})
		if !errors.Is(err, ErrLost) || errors.Is(err, ErrOverrun) || out.stdout.String() != "x" {
			t.Errorf("%v, printed %q", err, out.stdout.String())
		}
		if _, err := p.Submit(t.Context(), source("print x")); !errors.Is(err, ErrLost) {
			t.Errorf("next submission: %v", err)
		}
	})
	t.Run("while waiting", func(t *testing.T) {
		p := startProcess(t)
		s := submit(t, p.Client, "print x")
		p.signal(t, syscall.SIGKILL)
		eventually(t, "the exit", p.plugin.Exited)
		if _, err := s.Run(t.Context(), executor.Grant{}, new(printed).take); !errors.Is(err, ErrLost) {
			t.Errorf("%v", err)
		}
	})
	t.Run("by its own exit", func(t *testing.T) {
		p := startProcess(t)
		if _, err := submit(t, p.Client, "exit 3").Run(t.Context(), executor.Grant{}, new(printed).take); !errors.Is(err, ErrLost) {
			t.Errorf("%v", err)
		}
	})
	t.Run("while stopped", func(t *testing.T) {
		p := startProcess(t)
		p.signal(t, syscall.SIGSTOP)
		defer p.signal(t, syscall.SIGKILL)
		pid, _ := strconv.Atoi(p.plugin.ID())
		eventually(t, "the stop", func() bool { return processState(pid) == 'T' })
		if _, err := p.Health(t.Context(), false); !errors.Is(err, ErrOverrun) {
			t.Errorf("%v", err)
		}
	})
}

func TestGuardPipeEndsTheProcess(t *testing.T) {
	p := startProcess(t)
	if err := p.guard.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the exit", p.plugin.Exited)
}

// hostMain is a host that starts a plugin, says its process id and waits.
func hostMain() int {
	c := plugin.NewClient(pluginConfig(os.Getenv("TMPDIR"), io.Discard, nil))
	if _, err := dispense(c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(c.ID())
	select {}
}

func TestHostThatIsKilledTakesThePluginAlong(t *testing.T) {
	dir, err := os.MkdirTemp("", "wire")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host := exec.CommandContext(background(t), os.Args[0])
	host.Env = []string{envRole + "=host", "TMPDIR=" + dir}
	host.Stderr = os.Stderr
	stdout, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	eventually(t, "the plugin's end", func() bool {
		state := processState(pid)
		return state == 0 || state == 'Z'
	})
}

// processState is the kernel's letter for what pid does; 0: there is none.
func processState(pid int) byte {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[0]
}

func TestServeByHand(t *testing.T) {
	cmd := exec.CommandContext(background(t), os.Args[0])
	cmd.Env = []string{envRole + "=plugin"}
	var stderr lockedBuffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || len(stdout) != 0 || !strings.Contains(stderr.String(), "plugin") {
		t.Errorf("%v, stdout %q, stderr %q", err, stdout, stderr.String())
	}
	for _, fd := range []string{"x", "1", "99"} {
		cmd := exec.CommandContext(background(t), os.Args[0])
		cmd.Env = []string{
			envRole + "=plugin", EnvGuardFD + "=" + fd,
			Handshake().MagicCookieKey + "=" + Handshake().MagicCookieValue,
		}
		if stdout, err := cmd.Output(); err == nil || len(stdout) != 0 {
			t.Errorf("guard %q: %v, stdout %q", fd, err, stdout)
		}
	}
}

// The process in another's memory: what Serve does is tested in its children;
// here it is seen to give back what it took.
func TestDrainOnTerm(t *testing.T) {
	s := newServer(&stub{}, hclog.NewNullLogger())
	stop := s.drainOnTerm()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "draining", s.draining.Load)
	stop()
	if h, err := s.Health(context.Background(), nil); err != nil || h.GetState().String() != "DRAINING" {
		t.Errorf("%v, %v", h, err)
	}
}
