package policy

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// today is the tests' clock.
func today() time.Time { return time.Date(2029, 6, 1, 12, 0, 0, 0, time.UTC) }

// files is testdata/NAME as a file system that a test may change.
func files(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	root := os.DirFS("testdata/" + name)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(root, path)
		m[path] = &fstest.MapFile{Data: body}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// edit replaces text in a file, which must hold it.
func edit(t testing.TB, m fstest.MapFS, file, old, with string) {
	t.Helper()
	body := string(m[file].Data)
	if !strings.Contains(body, old) {
		t.Fatalf("%s does not hold %q", file, old)
	}
	m[file] = &fstest.MapFile{Data: []byte(strings.Replace(body, old, with, 1))}
}

func tinyLanguage(m fstest.MapFS) executor.Language {
	return executor.Language{ID: "tiny", TreeSchema: "tiny/1", Schema: m["schemas/tiny.json"].Data}
}

func tinyConfig(m fstest.MapFS) Config {
	return Config{FS: m, Languages: []executor.Language{tinyLanguage(m)}, Parse: parseTiny, Now: today}
}

func load(t testing.TB, m fstest.MapFS) *Store {
	t.Helper()
	s, err := Load(context.Background(), tinyConfig(m))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func current(t testing.TB, s *Store) gateway.Policy {
	t.Helper()
	p, err := s.Current()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// question asks about code in the language of words.
func question(code string) gateway.Question {
	tree, _, _ := parseTiny(context.Background(), "tiny", []byte(code), nil)
	return gateway.Question{
		Language: "tiny", Tool: "tiny", Profile: "solve", Caller: "worker",
		Source: executor.Source{Language: "tiny", Code: []byte(code)}, Tree: tree,
	}
}

func decide(t testing.TB, s *Store, q gateway.Question) gateway.Decision {
	t.Helper()
	d, err := current(t, s).Decide(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// parseTiny parses the language of the tests: words, one statement a line, and
// "import NAME". A line that begins with ! does not parse.
func parseTiny(_ context.Context, _ string, code []byte, _ []string) (executor.Tree, *executor.Result, error) {
	names, imports := map[string][]string{}, map[string][]any{}
	for i, line := range strings.Split(string(code), "\n") {
		if strings.HasPrefix(line, "!") {
			return executor.Tree{}, &executor.Result{Status: executor.StatusCompileError}, nil
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		if len(words) == 2 && words[0] == "import" {
			root, _, _ := strings.Cut(words[1], ".")
			imports[root] = append(imports[root], map[string]any{"module": words[1], "at": at(i, line, words[1])})
			continue
		}
		for _, word := range words {
			names[word] = append(names[word], at(i, line, word))
		}
	}
	return tinyTree(code, map[string]any{"names": names, "imports": imports}), nil, nil
}

func at(line int, text, word string) string {
	column := strings.Index(text, word)
	return fmt.Sprintf("%d:%d:%d:%d", line+1, column, line+1, column+len(word))
}

func tinyTree(code []byte, sections map[string]any) executor.Tree {
	return executor.Tree{Schema: "tiny/1", JSON: marshal(tinyDocument(code, sections))}
}

func tinyDocument(code []byte, sections map[string]any) map[string]any {
	digest := executor.Source{Code: code}.Digest()
	return map[string]any{
		"schema": "tiny/1", "language": "tiny", "grammar": "1",
		"code": map[string]any{
			"sha256": hex.EncodeToString(digest[:]), "bytes": len(code), "lines": strings.Count(string(code), "\n"),
		},
		"ast": sections,
	}
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
