package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

// TestMain makes the test binary its own sandbox shim, the plugins, and the
// gateway that is killed.
func TestMain(m *testing.M) {
	if code, is := sandbox.Shim(os.Args); is {
		os.Exit(code)
	}
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "plugin:") {
		servePlugin(strings.TrimPrefix(os.Args[1], "plugin:"))
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "gateway" {
		os.Exit(playGateway(os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

// servePlugin is a plugin whose mode says what is wrong with it. "parrot" has
// nothing wrong: what a program says is what happens.
func servePlugin(mode string) {
	switch mode {
	case "mute": // never shakes hands
		select {}
	case "exit":
		fmt.Fprintln(os.Stderr, "no such interpreter")
		os.Exit(3)
	case "no-cookie":
		fmt.Println("hello")
		return
	case "elsewhere":
		fmt.Println("1|1|tcp|127.0.0.1:1|grpc|")
		select {}
	case "chatter": // floods both streams before and while it serves
		go flood(os.Stderr)
	case "sessions":
		wire.Serve(&nest{parrot: &parrot{mode: mode, begin: time.Now()}, holds: map[string]string{}})
		return
	}
	wire.Serve(&parrot{mode: mode, begin: time.Now()})
}

func flood(f *os.File) {
	line := []byte(strings.Repeat("x", 900) + "\n{\"@message\":1,\"@level\":{}}\n")
	for {
		if _, err := f.Write(line); err != nil {
			return
		}
	}
}

type parrot struct {
	mode  string
	begin time.Time
	looks atomic.Int64 // of health, not deep
}

// Describe implements executor.Executor.
func (p *parrot) Describe() executor.Description {
	tool := executor.Tool{Name: "parrot_say", Aliases: []string{"Polly"}, Language: "parrot", Description: "says", SourceArgument: "code"}
	d := executor.Description{
		Name: "parrot", Version: "1.2.3", Tools: []executor.Tool{tool},
		Languages: []executor.Language{{ID: "parrot", Version: "7", TreeSchema: "parrot/1"}},
		Capacity:  executor.Capacity{MaxConcurrent: 64, MaxSourceBytes: 1 << 20, MaxTreeBytes: 1 << 20},
	}
	switch p.mode {
	case "narrow":
		d.Capacity.MaxConcurrent = 2
	case "other-tools":
		d.Tools[0].Name = "something_else"
	case "settings":
		d.ConfigSchema = []byte(`{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"],"additionalProperties":false}`)
	case "bad-schema":
		d.ConfigSchema = []byte(`{"$ref":"file:///etc/hostname"}`)
	case "hang-describe":
		select {}
	}
	return d
}

// Configure implements executor.Configurer.
func (p *parrot) Configure(_ context.Context, c executor.Config) ([]string, error) {
	switch p.mode {
	case "refuse":
		return nil, errors.New("not these settings")
	case "state":
		return []string{c.StateDir}, os.WriteFile(c.StateDir+"/kept", c.Secrets["key"], 0o600)
	}
	return nil, nil
}

// CheckHealth implements executor.HealthChecker.
func (p *parrot) CheckHealth(_ context.Context, deep bool) error {
	switch {
	case p.mode == "slow-start" && time.Since(p.begin) < 300*time.Millisecond:
		return errors.New("warming up")
	case p.mode == "sick" && !deep:
		if n := p.looks.Add(1); n > 2 && n < 30 {
			return errors.New("out of sorts")
		}
	case p.mode == "never-well":
		return errors.New("never")
	}
	return nil
}

// Parse does what the program's words before the colon say, at once.
func (p *parrot) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	code := string(src.Code)
	parse, run, _ := strings.Cut(code, ":")
	if err := act(parse); err != nil {
		return nil, err
	}
	if word, once := strings.CutPrefix(parse, "once "); once {
		if _, err := os.Stat(word); err != nil {
			_ = os.WriteFile(word, nil, 0o600)
			crash()
		}
	}
	return &executor.Prog{
		Doc: executor.Tree{Schema: schemaFor(parse), JSON: []byte(`{"say":true}`), Nodes: 1, Depth: 1},
		Do: func(ctx context.Context, _ executor.Grant, out executor.Output) (executor.Result, error) {
			fmt.Fprint(out.Stdout(), run)
			if ms, ok := strings.CutPrefix(run, "sleep "); ok {
				d, err := time.ParseDuration(ms)
				if err != nil {
					return executor.Result{}, err
				}
				select {
				case <-ctx.Done():
					return executor.Result{}, context.Cause(ctx)
				case <-time.After(d):
				}
			}
			switch run {
			case "env":
				fmt.Fprint(out.Stdout(), strings.Join(os.Environ(), "\n"))
			case "pid":
				fmt.Fprint(out.Stdout(), os.Getpid())
			}
			return executor.Result{}, act(run)
		},
	}, nil
}

func schemaFor(word string) string {
	if word == "lie" {
		return "parrot/2"
	}
	return "parrot/1"
}

// act is what parse and run have in common.
func act(word string) error {
	switch word {
	case "crash":
		crash()
	case "panic":
		go panic("on purpose")
		select {}
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		stopSelf()
	case "bad":
		return &executor.CompileError{Problem: executor.Problem{Type: "SyntaxError", Message: "bad", Line: 1}}
	case "log":
		fmt.Fprintln(os.Stderr, `{"@level":"warn","@message":"careful","n":3}`)
		fmt.Fprintln(os.Stderr, "plain words")
	}
	return nil
}

func crash() {
	os.Exit(41)
}

// stopSelf waits: PID 1 of a namespace cannot stop itself.
func stopSelf() { select {} }
