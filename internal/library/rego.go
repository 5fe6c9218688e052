package library

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxColumn is where lines of a list are broken.
const maxColumn = 100

// addToList puts entries into a list of literals of a Rego file, on lines of
// their own at its end; those that it has are left out.
func addToList(text, list string, entries []string) (string, error) {
	begin, end, err := findList(text, list)
	if err != nil {
		return "", err
	}
	have := entriesOf(text[begin:end])
	var line strings.Builder
	var added strings.Builder
	for _, entry := range entries {
		if slices.Contains(have, entry) {
			continue
		}
		quoted := strconv.Quote(entry)
		if line.Len() > 0 && line.Len()+len(quoted)+2 > maxColumn {
			added.WriteString(line.String() + "\n")
			line.Reset()
		}
		if line.Len() == 0 {
			line.WriteString("\t" + quoted + ",")
		} else {
			line.WriteString(" " + quoted + ",")
		}
	}
	if line.Len() > 0 {
		added.WriteString(line.String() + "\n")
	}
	return text[:end] + added.String() + text[end:], nil
}

// takeFromList takes entries out of a list of literals.
func takeFromList(text, list string, entries []string) (string, error) {
	begin, end, err := findList(text, list)
	if err != nil {
		return "", err
	}
	body := text[begin:end]
	for _, entry := range entries {
		one := regexp.MustCompile(` ?` + regexp.QuoteMeta(strconv.Quote(entry)) + `,`)
		body = one.ReplaceAllString(body, "")
	}
	var lines []string
	for line := range strings.Lines(body) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, "\t"+strings.TrimSpace(line)+"\n")
		}
	}
	return text[:begin] + strings.Join(lines, "") + text[end:], nil
}

// findList is where the lines of a list that is written over several lines begin
// and end.
func findList(text, list string) (begin, end int, err error) {
	head := "\n" + list + " := {\n"
	at := strings.Index("\n"+text, head)
	if at < 0 {
		return 0, 0, fmt.Errorf("there is no list %s := { … } over several lines", list)
	}
	begin = at + len(head) - 1
	length := strings.Index(text[begin:], "\n}")
	if length < 0 {
		return 0, 0, fmt.Errorf("the list %s has no end", list)
	}
	return begin, begin + length + 1, nil
}

var literal = regexp.MustCompile(`"([^"\\]*)"`)

func entriesOf(body string) (entries []string) {
	for _, m := range literal.FindAllStringSubmatch(body, -1) {
		entries = append(entries, m[1])
	}
	return entries
}
