// Command bench measures Sluice beside what a user would otherwise run: the
// same programs, the same machine, one run.
//
//	bench compare    Sluice and the alternatives, as text and JSON
//	bench guard      a short comparison held against bounds.json; exit status 1 on a regression
//	bench allocs     holds `go test -bench -benchmem` output on its standard input against bounds.json
//	bench capacity   requests a second by clients, and an open loop beyond that
//	bench soak       80 % of the capacity for minutes; fails when anything grows
//	bench chart      the SVG of a report
//
// It is started by `make bench` and its kin, which give it a private gateway in
// the environment (GATEWAY_URL, GATEWAY_TOKEN, GATEWAY_PID). Begin with run. It
// must never send to another address than a loopback one; its loops are bounded.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/sluice-gateway/sluice/bench/internal/targets"
)

//go:embed programs
var programFiles embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, os.Getenv)
	stop()
	os.Exit(code)
}

type streams struct {
	in       io.Reader
	out, err io.Writer
}

var (
	errUsage   = errors.New("usage: bench compare|guard|allocs|capacity|soak|chart [flags]")
	errRegress = errors.New("a bound does not hold")
)

func run(ctx context.Context, args []string, s streams, getenv func(string) string) int {
	verbs := map[string]func(context.Context, []string, streams, func(string) string) error{
		"compare": compare, "guard": guard, "allocs": allocs, "capacity": capacity, "soak": soak, "chart": drawChart,
	}
	err := errUsage
	if len(args) > 0 {
		if verb, ok := verbs[args[0]]; ok {
			err = verb(ctx, args[1:], s, getenv)
		}
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(s.err, "bench:", err)
		return 2
	}
	fmt.Fprintln(s.err, "bench:", err)
	return 1
}

// places are the flags that several verbs have.
type places struct {
	targets.Config
	programs []string
	keys     []string
}

func (p *places) register(flags *flag.FlagSet, programs, keys string) {
	flags.StringVar(&p.Python, "python", ".venv/bin/python", "interpreter of the baselines")
	flags.StringVar(&p.Baseline, "baseline", "bench/baseline", "folder of the baselines")
	flags.StringVar(&p.Runtime, "runtime", "plugins/python-exec/runtime", "folder whose warm-ups the warm baselines borrow")
	flags.IntVar(&p.Slots, "slots", runtime.NumCPU(), "programs at once in the service of fresh interpreters")
	p.programs, p.keys = split(programs), split(keys)
	flags.Func("programs", "names, with commas (default: "+programs+")", func(v string) error { p.programs = split(v); return nil })
	flags.Func("targets", "keys, with commas (default: "+keys+")", func(v string) error { p.keys = split(v); return nil })
}

// fromEnvironment takes the gateway's place, which no flag gives: the token is
// not to stand in a list of processes.
func (p *places) fromEnvironment(getenv func(string) string) error {
	p.GatewayURL, p.Token = getenv("GATEWAY_URL"), getenv("GATEWAY_TOKEN")
	if p.GatewayURL == "" {
		return nil
	}
	pid, err := strconv.Atoi(getenv("GATEWAY_PID"))
	if err != nil {
		return fmt.Errorf("%w: GATEWAY_PID is no number", errUsage)
	}
	p.GatewayPID = pid
	if err := targets.Loopback(p.GatewayURL); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return nil
}

func parse(flags *flag.FlagSet, args []string, s streams) error {
	flags.SetOutput(s.err)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: what is %q?", errUsage, flags.Arg(0))
	}
	return nil
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

func (p *places) chosen() ([]targets.Program, error) {
	files, err := fs.Sub(programFiles, "programs")
	if err != nil {
		return nil, err
	}
	all, err := targets.Programs(files)
	if err != nil {
		return nil, err
	}
	chosen, err := targets.Choose(all, p.programs)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return chosen, nil
}
