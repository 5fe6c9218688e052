package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// extractCommand is the sub-command that lists the sets of names in a Python
// file, for vendor-sync. The file is parsed and never run.
const extractCommand = "extract"

// Bounds of an extraction. The Python half sets narrower ones on itself.
const (
	extractWithin = 30 * time.Second
	extractBytes  = 1 << 20
	answerBytes   = 8 << 20
)

// isExtract reports whether args, without the program's name, ask for an
// extraction.
func isExtract(args []string) bool { return len(args) > 0 && args[0] == extractCommand }

// extract runs `python-exec extract [--python PATH] [FILE|-]` and returns its
// exit status: 0 with the answer (or the refusal of the file) as JSON on
// stdout, 1 when there is no answer, 2 for wrong use.
func extract(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("python-exec extract", flag.ContinueOnError)
	flags.SetOutput(stderr)
	python := flags.String("python", filepath.Join(".venv", "bin", "python"), "the interpreter whose parser reads the file")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 1 {
		fmt.Fprintln(stderr, "python-exec extract: one FILE, or - for standard input")
		return 2
	}
	text, err := extractInput(flags.Arg(0), stdin)
	if err == nil {
		err = extractText(*python, text, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "python-exec extract:", err)
		return 1
	}
	return 0
}

// extractInput reads a file, or standard input, up to one byte more than the
// Python half takes: it says what is too large.
func extractInput(name string, stdin io.Reader) ([]byte, error) {
	if name != "" && name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("read the file: %w", err)
		}
		defer file.Close()
		stdin = file
	}
	text, err := io.ReadAll(io.LimitReader(stdin, extractBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return text, nil
}

// extractText has the interpreter parse a text and hands its answer on.
func extractText(python string, text []byte, stdout io.Writer) error {
	s := settings{Python: python}
	path, err := s.interpreter()
	if err != nil {
		return err
	}
	program, err := runtimeFiles.ReadFile("runtime/extract.py")
	if err != nil {
		return fmt.Errorf("read the runtime: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), extractWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-I", "-S", "-B", "-W", "ignore", "-c", string(program)) //nolint:gosec // the operator's own interpreter
	cmd.Env, cmd.Dir, cmd.Stdin = s.environment(), "/", bytes.NewReader(text)
	var answer, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &bounded{&answer, answerBytes}, &bounded{&faults, textBytes}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("parse the file: it took longer than %s", extractWithin)
		}
		lines := bytes.Split(bytes.TrimSpace(faults.Bytes()), []byte("\n"))
		return fmt.Errorf("parse the file: %w: %s", err, cut(string(lines[len(lines)-1]), textBytes))
	}
	_, err = fmt.Fprintln(stdout, answer.String())
	return err
}

// bounded takes so many bytes and refuses the rest.
type bounded struct {
	into *bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return 0, errors.New("it writes too much")
	}
	b.left -= len(p)
	return b.into.Write(p)
}
