package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

func judged(code string) executor.Source {
	return executor.Source{Language: languageID, Code: []byte(code), JudgeOnly: true}
}

// parsedAs is what parsing a text came to, with no word of the time it took.
func parsedAs(t *testing.T, p *plugin, src executor.Source) string {
	t.Helper()
	prog, err := p.Parse(t.Context(), src)
	var compile *executor.CompileError
	switch {
	case errors.As(err, &compile):
		return strconv.Quote(compile.Type + compile.Message + compile.Trace)
	case err != nil:
		return executor.StatusOf(err).String()
	}
	defer prog.Close()
	tree := prog.Tree()
	return strconv.Itoa(int(tree.Nodes)) + " " + strconv.Itoa(int(tree.Depth)) + " " + tree.Schema + string(tree.JSON)
}

// forks is how many children the interpreter has made.
func forks(p *plugin) uint64 {
	z := p.pool.current
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.next
}

func TestReaders(t *testing.T) {
	p := start(t, nil)
	settled(t, p)
	t.Run("bounded", func(t *testing.T) { readersAreBounded(t, p) })
	t.Run("the same", func(t *testing.T) { readersSayTheSame(t, p) })
}

// readersSayTheSame: what comes of a text that a reader was given among
// others is what comes of it in a child of its own.
func readersSayTheSame(t *testing.T, p *plugin) {
	t.Helper()
	texts := map[string]executor.Source{
		"no syntax": judged("def"), "indented": judged("if 1:\npass"), "not utf-8": judged("x = '\xff'"), "nul": judged("a\x00"),
		"nested": judged(strings.Repeat("(", 201)), "deep": judged(strings.Repeat("~", 60000) + "1"),
		"long": judged("print(" + strings.Repeat("1 + ", 3000) + "1)"), "empty": judged(""), "digits": judged("x = " + strings.Repeat("9", 5000)),
		"surrogate": judged(`x = "\ud800"`), "warning": judged("x = 1 is 1\ny = '\\d'"), "again": judged("x = 1 is 1\ny = '\\d'"),
	}
	large := judged(strings.Repeat("name = 1\n", 300))
	large.MaxTreeBytes = 100
	small := judged("x = [" + strings.Repeat("[1, 2, 3], ", 20000) + "]")
	small.ParseLimits.MemoryBytes = 1 << 20
	texts["large"], texts["small"] = large, small
	for i, file := range corpusFiles(t) {
		if code, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		} else if i%24 == 0 {
			texts[file] = judged(string(code))
		}
	}
	for name, src := range texts {
		among := parsedAs(t, p, src)
		src.JudgeOnly = false
		if alone := parsedAs(t, p, src); alone != among {
			t.Errorf("%s: alone\n%.300s\namong others\n%.300s", name, alone, among)
		}
	}
}

func corpusFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../policies/corpus/*/*.py")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d programs of the corpus, %v", len(files), err)
	}
	return files
}

// readersAreBounded: a reader reads many texts and then no more, is gone when
// nobody wants it, and nothing of what it reads runs.
func readersAreBounded(t *testing.T, p *plugin) {
	t.Helper()
	before := forks(p)
	for i := range mostTexts + 1 {
		if got := parsedAs(t, p, judged("x = "+strconv.Itoa(i))); !strings.Contains(got, `"x"`) {
			t.Fatal(got)
		}
	}
	if made := forks(p) - before; made > mostTexts/2 { // it is 3, unless the machine stands still
		t.Errorf("%d children were made for %d texts", made, mostTexts+1)
	}
	p.pool.mu.Lock()
	for _, r := range p.pool.readers {
		if r.texts >= mostTexts {
			t.Errorf("a reader waits that was given %d texts", r.texts)
		}
	}
	p.pool.mu.Unlock()
	prog, err := p.Parse(t.Context(), judged("print('it ran')"))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := prog.Run(t.Context(), granted(), &sink{}); err == nil {
		t.Errorf("it ran: %+v", res)
	}
	p.pool.rest()
	settled(t, p)
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	if len(p.pool.readers) != 0 {
		t.Errorf("%d readers are left", len(p.pool.readers))
	}
}

// TestReadersDie: a reader that was ended, or stands still, or went with its
// interpreter costs no text its answer.
func TestReadersDie(t *testing.T) {
	p := start(t, nil)
	waiting := func() (r *reader) {
		eventually(t, "a reader waits", func() bool { // one that is slow goes
			parsedAs(t, p, judged("x = 1"))
			p.pool.mu.Lock()
			defer p.pool.mu.Unlock()
			if n := len(p.pool.readers); n > 0 {
				r = p.pool.readers[n-1]
			}
			return r != nil
		})
		return r
	}
	for name, do := range map[string]func(r *reader){
		"ended": func(r *reader) { r.kill() },
		"still": func(r *reader) { r.signal(syscall.SIGSTOP) },
		"hung up": func(r *reader) {
			_ = r.control.CloseWrite() // it leaves between texts
			<-r.ended
		},
	} {
		do(waiting())
		if got := parsedAs(t, p, judged("answer = 1")); !strings.Contains(got, `"answer"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	old := p.zygotePID()
	waiting()
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := parsedAs(t, p, judged("answer = 1")); !strings.Contains(got, `"answer"`) {
		t.Errorf("interpreter: %s", got)
	}
}
