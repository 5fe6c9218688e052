//go:build !race

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// walkBox matches a box of commands with the exit status that it ends with, and
// the box of what they print.
var walkBox = regexp.MustCompile("(?ms)^```sh(?: exit=([0-9]))?\n(.*?)^```\n+```text\n(.*?)^```")

// The ten-minute path (not under the race detector, which slows the processes that it starts): every box of docs/writing-policies.md in one shell, and
// what it prints. UPDATE_DOCS=1 writes what was printed into the page.
func TestWritingPolicies(t *testing.T) {
	page := filepath.Join(repository(t), "docs", "writing-policies.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	boxes := walkBox.FindAllSubmatchIndex(text, -1)
	if len(boxes) < 10 || bytes.Count(text, []byte("\n```sh")) != len(boxes) {
		t.Fatalf("%d boxes with what they print, of %d", len(boxes), bytes.Count(text, []byte("\n```sh")))
	}
	var script strings.Builder
	for i, box := range boxes {
		fmt.Fprintf(&script, "%s\necho \"=== box %d exit $?\"\n", text[box[4]:box[5]], i)
	}
	printed := walk(t, script.String())
	update := os.Getenv("UPDATE_DOCS") != ""
	for i := len(boxes) - 1; i >= 0; i-- {
		box, got := boxes[i], printed[i]
		status := "0"
		if box[2] >= 0 {
			status = string(text[box[2]:box[3]])
		}
		if got.status != status {
			t.Errorf("box %d ends with status %s, not %s:\n%s\n%s", i+1, got.status, status, text[box[4]:box[5]], got.text)
		}
		if want := string(text[box[6]:box[7]]); stable(want) != stable(got.text) {
			if !update {
				t.Errorf("box %d prints\n%s\nand the page says\n%s", i+1, got.text, want)
			}
			text = append(append(append([]byte{}, text[:box[6]]...), got.text...), text[box[7]:]...)
		}
	}
	if update {
		if err := os.WriteFile(page, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

type boxOutput struct{ text, status string }

// walk runs the boxes as a user would in a checkout, on a port of its own.
func walk(t *testing.T, script string) []boxOutput {
	t.Helper()
	root, dir := repository(t), t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "policies"), os.DirFS(filepath.Join(root, "policies"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".venv", "config.yaml", "bin/plugins"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	gateway, err := exec.LookPath("gateway")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(gateway, filepath.Join(dir, "bin", "gateway")); err != nil {
		t.Fatal(err)
	}
	listen := freeAddress(t)
	script = strings.ReplaceAll(script, "127.0.0.1:7860", listen)
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-u", "-o", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SLUICE_LISTEN="+listen, "SLUICE_ADMIN_LISTEN=", "NO_COLOR=1", "SLUICE_CONFIG=config.yaml")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var boxes []boxOutput
	for part := range strings.SplitAfterSeq(strings.ReplaceAll(out.String(), dir, "/home/me/sluice"), "\n") {
		if m := boxEnd.FindStringSubmatch(part); m != nil {
			boxes[len(boxes)-1].status = m[1]
			boxes = append(boxes, boxOutput{})
			continue
		}
		if len(boxes) == 0 {
			boxes = append(boxes, boxOutput{})
		}
		boxes[len(boxes)-1].text += part
	}
	return boxes
}

var boxEnd = regexp.MustCompile(`^=== box [0-9]+ exit ([0-9]+)\n$`)

// stable leaves out what differs from run to run, or with the size of the corpus:
// revisions, ids, seconds, lines of lists.
func stable(text string) string {
	for _, r := range [][2]string{
		{`\b[0-9a-f]{12}\b`, "REVISION"}, {`d_[0-9a-f]{16}`, "DECISION"}, {`\([0-9.]+ s\)`, "(SECONDS)"},
		{`[0-9]+ (line|program|decision|rule)s?`, "N $1"}, {`[0-9]+ same`, "N same"}, {`reading .*`, "reading"},
		{`rego:[0-9]+`, "rego:N"}, {`(?m)^([a-z-]+) +[0-9]+ `, "$1 N "},
	} {
		text = regexp.MustCompile(r[0]).ReplaceAllString(text, r[1])
	}
	return strings.TrimSpace(text)
}
