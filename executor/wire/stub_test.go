package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
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
	features  []string     // beside its own
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
		Features:  append([]string{"cancel.soft"}, s.features...),
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
	verbs := outputVerbs()
	maps.Copy(verbs, endingVerbs())
	at := &step{ctx: ctx, grant: g, out: out, stdin: p.stdin}
	for _, line := range p.lines {
		verb, arg, _ := strings.Cut(line, " ")
		at.arg = arg
		at.n, _ = strconv.Atoi(arg)
		if do, ok := verbs[verb]; ok {
			if err := do(at); err != nil {
				return at.res, err
			}
		}
	}
	return at.res, nil
}

// step is one line of a program at work.
type step struct {
	ctx   context.Context
	grant executor.Grant
	out   executor.Output
	stdin []byte
	res   executor.Result
	arg   string
	n     int // arg, if it is a number
}

func (s *step) print(b []byte) error {
	_, err := s.out.Stdout().Write(b)
	return err
}

type verb func(*step) error

func outputVerbs() map[string]verb {
	return map[string]verb{
		"print":  func(s *step) error { return s.print([]byte(s.arg)) },
		"stdin":  func(s *step) error { return s.print(s.stdin) },
		"grants": func(s *step) error { return s.print([]byte(strings.Join(s.grant.Grants, ",") + s.grant.DecisionID)) },
		"flood":  func(s *step) error { return s.print(bytes.Repeat([]byte("y"), s.n)) },
		"bench": func(s *step) error {
			_, size, _ := strings.Cut(s.arg, " ")
			n, _ := strconv.Atoi(size)
			return s.print(bytes.Repeat([]byte("y"), n))
		},
		"err": func(s *step) error {
			_, err := s.out.Stderr().Write([]byte(s.arg))
			return err
		},
		"forever": func(s *step) error {
			for s.ctx.Err() == nil {
				_ = s.print(bytes.Repeat([]byte("y"), 4096))
			}
			return s.ctx.Err()
		},
		"value":    func(s *step) error { s.res.Value, s.res.HasValue = s.arg, true; return nil },
		"artifact": func(s *step) error { return s.out.Artifact("text/plain", "a.txt", make([]byte, s.n)) },
		"rawstdout": func(s *step) error {
			_, err := syscall.Write(1, bytes.Repeat([]byte("z"), s.n))
			return err
		},
		"stdout": func(s *step) error { // what a library prints on its own
			_, err := os.Stdout.Write(bytes.Repeat([]byte("z"), s.n))
			return err
		},
		"log": func(s *step) error {
			slog.Info(s.arg, "n", 1)
			hclog.Default().Info(s.arg, "n", 2)
			return nil
		},
	}
}

func endingVerbs() map[string]verb {
	return map[string]verb{
		"sleep":  func(s *step) error { <-s.ctx.Done(); return s.ctx.Err() },
		"cause":  func(s *step) error { <-s.ctx.Done(); return context.Cause(s.ctx) },
		"finish": func(s *step) error { <-s.ctx.Done(); return nil }, // and claims success
		"deaf":   func(s *step) error { time.Sleep(atoi(s.arg)); return nil },
		"status": func(s *step) error { s.res.Status = executor.Status(s.n); return nil },
		"exit":   func(s *step) error { os.Exit(s.n); return nil },
		"raise": func(s *step) error {
			return &executor.RuntimeError{Problem: executor.Problem{Type: "ValueError", Message: s.arg, Line: 1, Trace: "line 1"}}
		},
		"fault":    func(*step) error { return errOwnFault },
		"memory":   func(*step) error { return executor.ErrMemory },
		"panic":    func(s *step) error { panic(s.arg) },
		"nilpanic": func(*step) error { var none *program; _ = none.lines; return nil },
		"goexit":   func(*step) error { runtime.Goexit(); return nil },
	}
}

func atoi(ms string) time.Duration {
	n, _ := strconv.Atoi(ms)
	return time.Duration(n) * time.Millisecond
}
