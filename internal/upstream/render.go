package upstream

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Formats of a report.
const (
	FormatText     = "text"
	FormatJSON     = "json"
	FormatSARIF    = "sarif"
	FormatMarkdown = "markdown"
)

// Formats lists what Render can write.
func Formats() []string { return []string{FormatText, FormatJSON, FormatSARIF, FormatMarkdown} }

// Render writes a report. dir is the policy folder as results should name it.
func (r *Report) Render(w io.Writer, format, dir string) error {
	var text string
	switch format {
	case FormatText:
		text = r.text()
	case FormatMarkdown:
		text = r.markdown()
	case FormatJSON, FormatSARIF:
		var value any = r
		if format == FormatSARIF {
			value = r.sarif(dir)
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(value)
	default:
		return fmt.Errorf("write the report: %q is none of %s", format, strings.Join(Formats(), ", "))
	}
	_, err := io.WriteString(w, text)
	return err
}

func (r *Report) text() string {
	var out strings.Builder
	for _, p := range r.Pins {
		fmt.Fprintf(&out, "%s: %s\n", p.Name, p.line())
	}
	if d := r.Drift; d != nil {
		d.text(&out)
	}
	if u := r.Update; u != nil {
		u.text(&out)
	}
	for _, f := range grouped(r.Findings) {
		fmt.Fprintf(&out, "%s: %s\n", f.Level, f.line())
	}
	fmt.Fprintf(&out, "%s\n", r.verdict())
	return out.String()
}

func (p PinState) line() string {
	text := "pinned by the digest of its file"
	if p.Commit != "" {
		text = "commit " + p.Commit
	}
	if p.Branch != "" {
		text += " of " + p.Branch
	}
	if p.Date != "" {
		text += ", " + p.Date
	}
	if !p.Verified {
		text += ", unverified"
	}
	return text + ", compared with " + strings.Join(p.Profiles, ", ")
}

func (f Finding) line() string {
	text := f.Kind + ": " + f.Message
	if f.Kind == KindLooser {
		text += fmt.Sprintf(" (list %s, entry %s, rule %s, profile %s)", f.List, f.Entry, f.Rule, f.Profile)
	}
	if f.Reason != "" {
		text += ": " + f.Reason
	}
	if f.File != "" && f.Line > 0 {
		text += fmt.Sprintf(" [%s:%d]", f.File, f.Line)
	}
	return text
}

// grouped joins what is stricter to one line per list.
func grouped(findings []Finding) []Finding {
	var out []Finding
	for _, f := range findings {
		i := slices.IndexFunc(out, func(o Finding) bool {
			return f.Kind == KindStricter && o.Kind == KindStricter && o.Upstream == f.Upstream && o.Profile == f.Profile && o.List == f.List
		})
		if i >= 0 {
			out[i].Entry += ", " + f.Entry
			continue
		}
		out = append(out, f)
	}
	for i, f := range out {
		if f.Kind == KindStricter {
			out[i].Message = fmt.Sprintf("profile %s is stricter than %s in %s: %s", f.Profile, f.Upstream, f.List, f.Entry)
		}
	}
	return out
}

func (r *Report) verdict() string {
	switch r.Exit {
	case ExitInStep:
		return "in step"
	case ExitMoved:
		return "the upstream moved"
	case ExitUnverified:
		return "unverified"
	}
	return "not in step"
}

func (d *Drift) text(out *strings.Builder) {
	fmt.Fprintf(out, "%s %s: pinned %s, head %s %s\n", d.Upstream, d.Branch, d.Pinned, d.Head, d.HeadDate)
	for _, c := range d.Commits {
		fmt.Fprintf(out, "  %.12s %s %s (%s)\n", c.Hash, c.Date, c.Subject, strings.Join(c.Files, ", "))
	}
}

func (c *Changes) text(out *strings.Builder) {
	if c.Old != c.New {
		fmt.Fprintf(out, "%s: %s -> %s\n", c.Upstream, c.Old, c.New)
	}
	for _, f := range c.Files {
		now := f.Path
		if f.Now != "" {
			now += " -> " + f.Now
		}
		fmt.Fprintf(out, "  %s: %s, sha256 %s\n", now, f.State, f.SHA256)
	}
	for _, rule := range c.Rules {
		fmt.Fprintf(out, "  %s\n", rule.sentence(c.Upstream))
	}
	out.WriteString(c.Diff)
	for _, name := range c.Written {
		fmt.Fprintf(out, "wrote %s\n", name)
	}
	for _, todo := range c.ToDo {
		fmt.Fprintf(out, "to do: %s\n", todo)
	}
}

func (r *Report) markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "## vendor-sync %s: %s\n\n", r.Command, r.verdict())
	table(&out, []string{"upstream", "pinned", "branch", "date", "verified"}, len(r.Pins), func(i int) []string {
		p := r.Pins[i]
		return []string{p.Name, p.Commit, p.Branch, p.Date, fmt.Sprint(p.Verified)}
	})
	if d := r.Drift; d != nil {
		d.markdown(&out)
	}
	if u := r.Update; u != nil {
		rulesTable(&out, u.Rules)
		for _, todo := range u.ToDo {
			fmt.Fprintf(&out, "- [ ] %s\n", cell(todo))
		}
		if u.Diff != "" {
			fmt.Fprintf(&out, "\n```diff\n%s```\n", u.Diff)
		}
	}
	found := grouped(r.Findings)
	table(&out, []string{"level", "kind", "upstream", "profile", "list", "entry", "rule", "what"}, len(found), func(i int) []string {
		f := found[i]
		return []string{f.Level, f.Kind, f.Upstream, f.Profile, f.List, f.Entry, f.Rule, f.Message}
	})
	return strings.TrimRight(out.String(), "\n") + "\n"
}

func (d *Drift) markdown(out *strings.Builder) {
	fmt.Fprintf(out, "Head is %s %s; %d commits since the pin, these touch its files:\n\n", d.Head, d.HeadDate, d.Between)
	table(out, []string{"commit", "date", "subject", "files"}, len(d.Commits), func(i int) []string {
		c := d.Commits[i]
		return []string{c.Hash[:12], c.Date, c.Subject, strings.Join(c.Files, " ")}
	})
	table(out, []string{"file", "state", "now", "sha256"}, len(d.Files), func(i int) []string {
		f := d.Files[i]
		return []string{f.Path, f.State, f.Now, f.SHA256}
	})
	rulesTable(out, d.Rules)
}

func rulesTable(out *strings.Builder, rules []RuleChange) {
	table(out, []string{"list", "entry", "upstream", "policy"}, len(rules), func(i int) []string {
		c := rules[i]
		return []string{c.List, c.Entry, c.Change, c.Policy}
	})
}

// table writes a table; one without rows is left out.
func table(out *strings.Builder, head []string, rows int, row func(int) []string) {
	if rows == 0 {
		return
	}
	fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for i := range rows {
		cells := row(i)
		for j, text := range cells {
			cells[j] = cell(text)
		}
		fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	out.WriteString("\n")
}

// cell writes a text of an upstream so that it stays text in a table: no
// markup, no mention of anybody, no link.
func cell(text string) string {
	var out strings.Builder
	for _, r := range printable(text) {
		if strings.ContainsRune("\\`*[]<>|#!~&", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
		if r == '@' || r == ':' {
			out.WriteRune('\u200b') // no mention, no address
		}
	}
	return out.String()
}
