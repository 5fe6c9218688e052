package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/sluice-gateway/sluice/executor"
)

// stub runs a language of one command a line, which does to the kit what
// authors' executors do to it.
type stub struct {
	capacity  executor.Capacity
	closed    atomic.Int64 // programs that were closed
	ran       atomic.Int64 // programs whose Run was called
	health    error
	configure func(executor.Config) ([]string, error)
}

const stubLanguage = "stub"

func (s *stub) Describe() executor.Description {
	return executor.Description{
		Name: "stub", Version: "1.2.3", Build: "test",
		Languages: []executor.Language{{
			ID: stubLanguage, Version: "1", TreeSchema: "stub/1", Grammar: "1",
			Schema: []byte(`{"type":"object"}`), MediaTypes: []string{"text/x-stub"},
			Samples: []executor.Sample{{Kind: "ok", Code: []byte("print hi"), WantStdout: []byte("hi")}},
		}},
		Tools: []executor.Tool{{
			Name: "stubber", Aliases: []string{"st"}, Language: stubLanguage, Description: "runs stubs",
			Parameters: []byte(`{}`), SourceArgument: "code",
		}},
		Libraries: []executor.Library{{Name: "lib", Version: "2", Roots: []string{"a", "b"}}},
		Features:  []string{"cancel.soft"},
		Capacity:  s.capacity,
	}
}

func (s *stub) CheckHealth(context.Context, bool) error { return s.health }

func (s *stub) Configure(_ context.Context, c executor.Config) ([]string, error) {
	if s.configure == nil {
		return nil, nil
	}
	return s.configure(c)
}

var errOwnFault = errors.New("secret of the plugin")

func (s *stub) Parse(ctx context.Context, src executor.Source) (executor.Program, error) {
	code := string(src.Code)
	doc := executor.Tree{Schema: "stub/1", JSON: []byte(`{}`), Nodes: 1, Depth: 1}
	verb, arg, _ := strings.Cut(code, " ")
	switch verb {
	case "syntax":
		return nil, &executor.CompileError{Problem: executor.Problem{Type: "SyntaxError", Message: "no", Line: 1, Column: 2}}
	case "parsefault":
		return nil, errOwnFault
	case "parseraise":
		return nil, &executor.RuntimeError{Problem: executor.Problem{Type: "E", Message: "m"}}
	case "parsenil":
		return nil, nil
	case "parsepanic":
		panic("text of a submission")
	case "parseexit":
		runtime.Goexit()
	case "parsesleep":
		<-ctx.Done()
		return nil, ctx.Err()
	case "parsedeaf":
		time.Sleep(atoi(arg))
	case "treepanic":
		return &program{stub: s}, nil
	case "badtree":
		doc.JSON = []byte(`[]`)
	case "tree", "bench":
		size, _, _ := strings.Cut(arg, " ")
		n, _ := strconv.Atoi(size)
		doc.JSON = []byte(`{"a":"` + strings.Repeat("x", n-len(`{"a":""}`)) + `"}`)
	default:
		doc.JSON, _ = json.Marshal(map[string]string{"code": strings.ToValidUTF8(code, "?")})
	}
	return &program{stub: s, doc: &doc, lines: strings.Split(code, "\n"), stdin: src.Stdin}, nil
}

type program struct {
	stub  *stub
	doc   *executor.Tree
	lines []string
	stdin []byte
}

func (p *program) Tree() executor.Tree { return *p.doc }

func (p *program) Close() error {
	p.stub.closed.Add(1)
	return nil
}

func (p *program) Run(ctx context.Context, g executor.Grant, out executor.Output) (executor.Result, error) {
	p.stub.ran.Add(1)
	var res executor.Result
	for _, line := range p.lines {
		verb, arg, _ := strings.Cut(line, " ")
		if err := p.step(ctx, verb, arg, g, out, &res); err != nil {
			return res, err
		}
	}
	return res, nil
}

func (p *program) step(ctx context.Context, verb, arg string, g executor.Grant, out executor.Output, res *executor.Result) error {
	n, _ := strconv.Atoi(arg)
	switch verb {
	case "print":
		_, _ = out.Stdout().Write([]byte(arg))
	case "err":
		_, _ = out.Stderr().Write([]byte(arg))
	case "stdin":
		_, _ = out.Stdout().Write(p.stdin)
	case "grants":
		_, _ = out.Stdout().Write([]byte(strings.Join(g.Grants, ",") + g.DecisionID))
	case "bench":
		_, size, _ := strings.Cut(arg, " ")
		n, _ = strconv.Atoi(size)
		_, _ = out.Stdout().Write(bytes.Repeat([]byte("y"), n))
	case "flood":
		_, _ = out.Stdout().Write(bytes.Repeat([]byte("y"), n))
	case "forever":
		for ctx.Err() == nil {
			_, _ = out.Stdout().Write(bytes.Repeat([]byte("y"), 4096))
		}
		return ctx.Err()
	case "sleep":
		<-ctx.Done()
		return ctx.Err()
	case "cause":
		<-ctx.Done()
		return context.Cause(ctx)
	case "finish": // heeds ctx, and claims success
		<-ctx.Done()
	case "deaf":
		time.Sleep(atoi(arg))
	case "value":
		res.Value, res.HasValue = arg, true
	case "status":
		res.Status = executor.Status(n)
	case "artifact":
		return out.Artifact("text/plain", "a.txt", make([]byte, n))
	case "rawstdout":
		_, err := syscall.Write(1, bytes.Repeat([]byte("z"), n))
		return err
	case "stdout": // what a library prints on its own
		_, err := os.Stdout.Write(bytes.Repeat([]byte("z"), n))
		return err
	case "log":
		slog.Info(arg, "n", 1)
		hclog.Default().Info(arg, "n", 2)
	case "exit":
		os.Exit(n)
	default:
		return p.fail(verb, arg)
	}
	return nil
}

func (p *program) fail(verb, arg string) error {
	switch verb {
	case "raise":
		return &executor.RuntimeError{Problem: executor.Problem{Type: "ValueError", Message: arg, Line: 1, Trace: "line 1"}}
	case "fault":
		return errOwnFault
	case "memory":
		return executor.ErrMemory
	case "panic":
		panic(arg)
	case "nilpanic":
		var none *program
		_ = none.lines
	case "goexit":
		runtime.Goexit()
	}
	return nil
}

func atoi(ms string) time.Duration {
	n, _ := strconv.Atoi(ms)
	return time.Duration(n) * time.Millisecond
}
