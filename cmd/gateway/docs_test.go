package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// fence matches a fenced block of a document and its language.
var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```")

type block struct{ language, text string }

func blocks(t *testing.T, name string) []block {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository(t), name))
	if err != nil {
		t.Fatal(err)
	}
	var found []block
	for _, m := range fence.FindAllStringSubmatch(string(data), -1) {
		found = append(found, block{m[1], m[2]})
	}
	return found
}

// TestReadmeCommands runs the README's curl commands against a gateway and
// compares with the answer that stands under them.
func TestReadmeCommands(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("the README's commands need curl: install it")
	}
	url := startGateway(t).url
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".token"), []byte(testToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := blocks(t, "README.md")
	curls := 0
	for i, b := range found {
		if b.language != "sh" || !strings.HasPrefix(b.text, "curl") {
			continue
		}
		curls++
		got := shell(t, dir, strings.ReplaceAll(b.text, "http://127.0.0.1:7860", url))
		if i+1 < len(found) && found[i+1].language == "json" {
			if want := found[i+1].text; strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("README's command printed\n%s\nand README says\n%s", got, want)
			}
		} else if !strings.Contains(got, `"status":"rejected"`) || !strings.Contains(got, "line 1, column 8") {
			t.Errorf("README's refused program gave %s", got)
		}
	}
	if curls < 2 {
		t.Errorf("README holds %d curl commands, want the approved and the refused one", curls)
	}
}

func shell(t *testing.T, dir, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, stderr.String())
	}
	return string(out)
}

// TestDocsNameFilesThatExist follows every relative link of the documents.
func TestDocsNameFilesThatExist(t *testing.T) {
	root := repository(t)
	link := regexp.MustCompile(`\]\(([^)#]+)(?:#[^)]*)?\)`)
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(docs, filepath.Join(root, "README.md"), filepath.Join(root, "ARCHITECTURE.md"),
		filepath.Join(root, "CONTRIBUTING.md"), filepath.Join(root, "SECURITY.md")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", filepath.Base(name), m[1])
			}
		}
	}
}
