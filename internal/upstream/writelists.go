package upstream

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// listWidth is where lines of a list in the policy break.
const listWidth = 110

// writeLists edits the lists of the policy so that it is no looser: what the
// upstream bans is added, imports that it does not allow are taken out, for all
// profiles. Nothing else of the file changes.
func (w *work) writeLists(gaps []Finding) (Output, string, error) {
	name := w.policy.listsFile()
	old, err := readFile(w.cfg.Folder, name, maxPolicyFile)
	if err != nil {
		return Output{}, "", fmt.Errorf("read the lists: %w", err)
	}
	text := string(old)
	for _, list := range setLists() {
		var entries []string
		for _, f := range gaps {
			if f.List == list && f.When == "" && wordOrModule(f.Entry) {
				entries = append(entries, f.Entry)
			}
		}
		if len(entries) == 0 {
			continue
		}
		imports := list == ListAllowedImports || list == ListDeniedImports
		if text, err = editSet(text, policyList(list), entries, imports); err != nil {
			return Output{}, "", fmt.Errorf("write the lists of %s: %w", name, err)
		}
	}
	return Output{name, []byte(text)}, lineDiff(name, string(old), text), nil
}

func wordOrModule(entry string) bool { return moduleForm.MatchString(entry) }

// editSet rewrites one set of literals: entries are added, or taken out.
func editSet(text, name string, entries []string, takeOut bool) (string, error) {
	form := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` := \{([^{}]*)\}`)
	at := form.FindStringSubmatchIndex(text)
	if at == nil {
		return "", fmt.Errorf("there is no set of literals %s", name)
	}
	body := text[at[2]:at[3]]
	if strings.Contains(body, "#") || strings.Contains(body, "`") {
		return "", fmt.Errorf("%s holds a comment or a raw text: edit it by hand", name)
	}
	var have []string
	for _, quoted := range regexp.MustCompile(`"([^"\\]*)"`).FindAllStringSubmatch(body, -1) {
		have = append(have, quoted[1])
	}
	if takeOut {
		have = minus(have, entries)
	} else {
		have = union(have, entries)
	}
	return text[:at[0]] + renderSet(name, have) + text[at[1]:], nil
}

// renderSet writes a set as `opa fmt` leaves it.
func renderSet(name string, entries []string) string {
	var lines []string
	line := "\t"
	for _, e := range entries {
		item := fmt.Sprintf("%q,", e)
		if len(line)+len(item) > listWidth && line != "\t" {
			lines, line = append(lines, strings.TrimRight(line, " ")), "\t"
		}
		line += item + " "
	}
	if line != "\t" {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return name + " := {\n" + strings.Join(lines, "\n") + "\n}"
}

// lineDiff shows which lines went and which came, as a unified diff without
// context; "" is no difference. It is for lists: lines are few and distinct.
func lineDiff(name, old, now string) string {
	if old == now {
		return ""
	}
	a, b := slices.Collect(strings.Lines(old)), slices.Collect(strings.Lines(now))
	before, after := len(a), len(b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- a/%s\n+++ b/%s\n", name, name)
	for len(a) > 0 || len(b) > 0 {
		if len(a) > 0 && len(b) > 0 && a[0] == b[0] {
			a, b = a[1:], b[1:]
			continue
		}
		i, j := resync(a, b)
		fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", before-len(a)+1, i, after-len(b)+1, j)
		for _, line := range a[:i] {
			out.WriteString("-" + strings.TrimSuffix(line, "\n") + "\n")
		}
		for _, line := range b[:j] {
			out.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
		}
		a, b = a[i:], b[j:]
	}
	return out.String()
}

// resync finds the shortest ways to a line that both have.
func resync(a, b []string) (i, j int) {
	for total := 1; total < len(a)+len(b); total++ {
		for i = max(0, total-len(b)+1); i <= min(total, len(a)-1); i++ {
			if j = total - i; j < len(b) && a[i] == b[j] && strings.TrimSpace(a[i]) != "" && a[i] != "}\n" {
				return i, j
			}
		}
	}
	return len(a), len(b)
}
