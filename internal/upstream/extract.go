package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Bounds of a file of an upstream and of what is said about it.
const (
	maxSource  = 1 << 20
	maxAnswer  = 8 << 20
	maxSets    = 10_000
	maxName    = 200
	parseLimit = time.Minute
)

// ErrRefused is a file of an upstream that is not read: too large, no regular
// file, or no Python.
var ErrRefused = errors.New("refused")

// Extractor finds the sets of names in a Python file without running it.
type Extractor interface {
	// Extract takes the bytes of a file; name is for messages. A file that does
	// not parse is ErrRefused.
	Extract(ctx context.Context, name string, text []byte) (*Sets, error)
}

// Sets are the sets of names at module level of one Python file.
type Sets struct {
	Sets    []Set     `json:"sets"`    // sorted by name
	Skipped []Skipped `json:"skipped"` // sorted by name
	Guards  Guards    `json:"guards"`
}

// Set is a name that is bound to a collection of texts.
type Set struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"` // set, frozenset, list, tuple or dict
	Line    int      `json:"line"`
	Entries []string `json:"entries"` // sorted, each once; of a dict its keys
}

// Skipped is a name that is bound to something that cannot be read off.
type Skipped struct {
	Name string `json:"name"`
	Line int    `json:"line"`
	Why  string `json:"why"`
}

// Guards is what a file refuses in code, as far as its form is known.
type Guards struct {
	DeniedNodes       []string `json:"denied_nodes"`
	PrivateAttributes bool     `json:"private_attributes"`
	PrivateNames      bool     `json:"private_names"`
}

func (s *Sets) find(name string) (Set, bool) {
	i := slices.IndexFunc(s.Sets, func(set Set) bool { return set.Name == name })
	if i < 0 {
		return Set{}, false
	}
	return s.Sets[i], true
}

func (s *Sets) why(name string) string {
	for _, skipped := range s.Skipped {
		if skipped.Name == name {
			return skipped.Why
		}
	}
	return "there is no set of that name"
}

// PythonExec is the Extractor that starts the executor plugin, which has the
// language's own parser.
type PythonExec struct {
	Command string // path of python-exec
	Python  string // path of the interpreter
}

// Extract implements Extractor.
func (p PythonExec) Extract(ctx context.Context, name string, text []byte) (*Sets, error) {
	if len(text) > maxSource {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrRefused, name, maxSource)
	}
	ctx, cancel := context.WithTimeout(ctx, parseLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Command, "extract", "--python", p.Python, "-") //nolint:gosec // the operator's own plugin
	cmd.Env, cmd.Stdin = []string{}, bytes.NewReader(text)
	var answer, faults limited
	cmd.Stdout, cmd.Stderr = &answer, &faults
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("parse %s with %q: %w: %.300s", name, p.Command, err, strings.TrimSpace(faults.String()))
	}
	return ReadSets(name, answer.Bytes())
}

// limited is a buffer that does not grow without end.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxAnswer {
		return 0, errors.New("it writes too much")
	}
	return l.Buffer.Write(p)
}

// ReadSets reads what the plugin says about a file. It is about hostile text
// and is held to bounds; name is for messages.
func ReadSets(name string, answer []byte) (*Sets, error) {
	var said struct {
		Sets
		Error *struct {
			Message string `json:"message"`
			Line    int    `json:"line"`
			Column  int    `json:"column"`
		} `json:"error"`
	}
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&said); err != nil {
		return nil, fmt.Errorf("read what the parser says of %s: %w", name, err)
	}
	if dec.More() {
		return nil, fmt.Errorf("read what the parser says of %s: it says more than one thing", name)
	}
	if e := said.Error; e != nil {
		return nil, fmt.Errorf("%w: %s:%d:%d: %s", ErrRefused, name, max(e.Line, 0), max(e.Column, 0), printable(e.Message))
	}
	if err := said.fault(); err != nil {
		return nil, fmt.Errorf("read what the parser says of %s: %w", name, err)
	}
	return &said.Sets, nil
}

func (s *Sets) fault() error {
	if len(s.Sets) > maxSets || len(s.Skipped) > maxSets {
		return fmt.Errorf("more than %d names", maxSets)
	}
	last := ""
	for _, set := range s.Sets {
		if err := set.fault(last); err != nil {
			return err
		}
		last = set.Name
	}
	for i, skipped := range s.Skipped {
		if !wordForm.MatchString(skipped.Name) || len(skipped.Name) > maxText {
			return fmt.Errorf("%.100q is no name", skipped.Name)
		}
		s.Skipped[i].Why = printable(skipped.Why)
	}
	return entriesFault(s.Guards.DeniedNodes)
}

// fault says what is wrong with a set that comes after the one named last.
func (s Set) fault(last string) error {
	switch {
	case !wordForm.MatchString(s.Name) || len(s.Name) > maxText || s.Line < 0:
		return fmt.Errorf("%.100q is no name of a set", s.Name)
	case last >= s.Name:
		return errors.New("the sets are not sorted")
	case !slices.Contains([]string{"set", "frozenset", "list", "tuple", "dict"}, s.Kind):
		return fmt.Errorf("%.100q is no kind of set", s.Kind)
	}
	if err := textsFault(s.Entries); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

func textsFault(entries []string) error {
	if len(entries) > maxEntries {
		return fmt.Errorf("more than %d entries", maxEntries)
	}
	for i, e := range entries {
		if !plainText(e) || i > 0 && entries[i-1] >= e {
			return fmt.Errorf("the entries are not plain texts, sorted, each once (%.100q)", e)
		}
	}
	return nil
}

// printable cuts a text to one line that a terminal may show.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !plainText(string(r)) {
			return -1
		}
		return r
	}, text)
	return fmt.Sprintf("%.300s", text)
}
