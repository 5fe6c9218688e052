package upstream

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Bounds of a pin.
const (
	maxUpstreams = 64
	maxFiles     = 64
	maxEntries   = 10_000
	maxText      = 2_000
)

var (
	commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)
	digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)
	nameForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)
	entryForm  = regexp.MustCompile(`^[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*$`)
)

func (p *Pin) faults() []error {
	var faults []error
	if len(p.Upstreams) == 0 {
		faults = append(faults, errors.New("upstreams: there is none"))
	}
	if len(p.Upstreams) > maxUpstreams {
		return append(faults, fmt.Errorf("upstreams: more than %d", maxUpstreams))
	}
	seen := map[string]bool{}
	for i, u := range p.Upstreams {
		at := fmt.Sprintf("upstreams[%d]", i)
		if u.Name != "" {
			at = "upstream " + u.Name
		}
		if seen[u.Name] {
			faults = append(faults, fmt.Errorf("%s: the name is there twice", at))
		}
		seen[u.Name] = true
		faults = append(faults, within(at, u.faults())...)
	}
	for i, e := range p.Exceptions {
		faults = append(faults, within(fmt.Sprintf("exceptions[%d] (%s)", i, e.Entry), e.faults(p))...)
	}
	return append(faults, within("policy", p.Policy.faults())...)
}

func within(at string, faults []error) []error {
	for i, err := range faults {
		faults[i] = fmt.Errorf("%s: %w", at, err)
	}
	return faults
}

func (u Upstream) faults() []error {
	var faults []error
	say := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	say(!nameForm.MatchString(u.Name), "name %q is not of letters, digits, dots and dashes", u.Name)
	say(u.Commit != "" && !commitForm.MatchString(u.Commit), "commit %q is not 40 hexadecimal digits", u.Commit)
	say(u.Date != "" && !isDate(u.Date), "date %q is not of the form 2006-01-02", u.Date)
	say(!plainText(u.Repository) || !plainText(u.Branch), "repository and branch are plain texts on one line")
	say(len(u.Profiles) == 0, "profiles: there is none to compare with")
	say(len(u.Files) == 0, "files: there is none")
	say(len(u.Files) > maxFiles, "files: more than %d", maxFiles)
	say(u.Commit == "" && !u.verified(), "neither a commit nor the sha256 of every file is recorded: it is not pinned")
	seen := map[string]bool{}
	for _, f := range u.Files {
		say(seen[f.Path], "files: %q is there twice", f.Path)
		seen[f.Path] = true
		faults = append(faults, within("file "+fmt.Sprintf("%.200q", f.Path), f.faults())...)
	}
	return faults
}

func (f File) faults() []error {
	var faults []error
	if err := pathFault(f.Path); err != nil {
		faults = append(faults, err)
	}
	if f.SHA256 != "" && !digestForm.MatchString(f.SHA256) {
		faults = append(faults, fmt.Errorf("sha256 %.100q is not 64 hexadecimal digits", f.SHA256))
	}
	for list, sets := range f.From {
		if !slices.Contains(listNames(), list) || len(sets) == 0 {
			faults = append(faults, fmt.Errorf("from: %.100q is none of %s, or names no set", list, strings.Join(listNames(), ", ")))
		}
	}
	if f.Rules == nil {
		return faults
	}
	for _, list := range listNames() {
		if err := entriesFault(f.Rules.list(list)); err != nil {
			faults = append(faults, fmt.Errorf("rules: %s: %w", list, err))
		}
	}
	return faults
}

// pathFault says why a path may not be opened in an upstream's tree.
func pathFault(name string) error {
	switch {
	case name == "" || len(name) > 1000 || !plainText(name):
		return errors.New("the path is empty, longer than 1,000 bytes or not plain text")
	case strings.HasPrefix(name, "/") || strings.Contains(name, `\`) || slices.Contains(strings.Split(name, "/"), ".."):
		return fmt.Errorf("the path %q leaves the tree", name)
	case path.Clean(name) != name || name == "." || strings.EqualFold(strings.Split(name, "/")[0], ".git"):
		return fmt.Errorf("the path %q is not a plain one inside the tree", name)
	}
	return nil
}

func entriesFault(entries []string) error {
	if len(entries) > maxEntries {
		return fmt.Errorf("more than %d entries", maxEntries)
	}
	for i, e := range entries {
		switch {
		case len(e) > maxName || !entryForm.MatchString(e):
			return fmt.Errorf("%.100q is not a name", e)
		case i > 0 && entries[i-1] >= e:
			return fmt.Errorf("the entries are not sorted, each once: %q comes after %q", e, entries[i-1])
		}
	}
	return nil
}

func (e Exception) faults(p *Pin) []error {
	var faults []error
	say := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	u, known := p.find(e.Upstream)
	say(!known, "there is no upstream %.100q", e.Upstream)
	say(known && e.Profile != "" && !slices.Contains(u.Profiles, e.Profile), "upstream %s is not compared with the profile %.100q", e.Upstream, e.Profile)
	say(!slices.Contains(listNames(), e.List), "list %.100q is none of %s", e.List, strings.Join(listNames(), ", "))
	say(e.Entry == "" || !plainText(e.Entry), "it needs an entry")
	say(!slices.Contains([]string{"", WhenBound, WhenDefined}, e.When), "when is %.100q: it is %s, %s or not there", e.When, WhenBound, WhenDefined)
	say(strings.TrimSpace(e.Reason) == "" || len(e.Reason) > maxText, "it needs a reason")
	say(!isDate(e.ReviewBy), "review_by %.100q is not of the form 2006-01-02: an exception needs a date by which to look again", e.ReviewBy)
	return faults
}

func (r Reviewed) faults() []error {
	var faults []error
	for _, digest := range []string{r.ListsSHA256, r.ProfilesSHA256} {
		if digest != "" && !digestForm.MatchString(digest) {
			faults = append(faults, fmt.Errorf("%.100q is not 64 hexadecimal digits", digest))
		}
	}
	if r.Reviewed != "" && !isDate(r.Reviewed) {
		faults = append(faults, fmt.Errorf("reviewed %.100q is not of the form 2006-01-02", r.Reviewed))
	}
	return faults
}

func (p *Pin) find(name string) (Upstream, bool) {
	i := slices.IndexFunc(p.Upstreams, func(u Upstream) bool { return u.Name == name })
	if i < 0 {
		return Upstream{}, false
	}
	return p.Upstreams[i], true
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// plainText reports whether a text may be shown on one line of a terminal.
func plainText(text string) bool {
	return len(text) <= maxText && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}
