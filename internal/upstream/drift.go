package upstream

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// maxListed is how many commits a report names.
const maxListed = 200

// Drift is how far an upstream has gone on since it was pinned.
type Drift struct {
	Upstream  string       `json:"upstream"`
	Branch    string       `json:"branch,omitempty"`
	Pinned    string       `json:"pinned"`
	Head      string       `json:"head"`
	HeadDate  string       `json:"head_date,omitempty"`
	Moved     bool         `json:"moved"`     // a pinned file differs, or the history was rewritten
	Rewritten bool         `json:"rewritten"` // the pinned commit is not one of the branch's
	Between   int          `json:"between"`   // commits since the pinned one
	Commits   []Commit     `json:"commits"`   // those that touch pinned files, newest first
	Files     []FileDrift  `json:"files"`
	Rules     []RuleChange `json:"rules"`
}

// Commit is one commit of an upstream.
type Commit struct {
	Hash    string   `json:"hash"`
	Date    string   `json:"date"`
	Subject string   `json:"subject"`
	Files   []string `json:"files"`
}

// FileDrift is what became of a pinned file.
type FileDrift struct {
	Path   string   `json:"path"`
	State  string   `json:"state"` // same, changed, moved, gone
	Now    string   `json:"now,omitempty"`
	SHA256 string   `json:"sha256,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// RuleChange is an entry that an upstream added to a rule list or took out.
type RuleChange struct {
	List   string `json:"list"`
	Entry  string `json:"entry"`
	Change string `json:"change"` // added, removed
	Policy string `json:"policy"` // "in step" or "looser"
	Looser bool   `json:"looser"` // the policy lets pass what the upstream now refuses
}

// File states.
const (
	fileSame    = "same"
	fileChanged = "changed"
	fileMoved   = "moved"
	fileGone    = "gone"
)

// LookAhead compares the pin with the head of the branch.
func LookAhead(ctx context.Context, cfg Config) (*Report, error) {
	w, err := newWork(ctx, cfg)
	if err != nil {
		return nil, err
	}
	head, err := w.target("")
	if err != nil {
		return nil, err
	}
	d, next, err := w.drift(ctx, head)
	if err != nil {
		return nil, err
	}
	report := &Report{Command: "drift", Pins: w.pin.States(), Drift: d}
	if d.Rules, report.Findings, err = w.ahead(ctx, next); err != nil {
		return nil, err
	}
	report.Findings = append(report.Findings, d.findings()...)
	return report.conclude(), nil
}

// work is one upstream with its source, and the policy that follows it.
type work struct {
	cfg    Config
	pin    *Pin
	policy *policy
	u      Upstream
}

func newWork(ctx context.Context, cfg Config) (*work, error) {
	pin, err := Pins(cfg.Folder)
	if err != nil {
		return nil, err
	}
	if cfg.Source == nil {
		return nil, errors.New("look at the upstream: --source names where it is")
	}
	u, err := cfg.Source.choose(pin, cfg.Upstream)
	if err != nil {
		return nil, err
	}
	p, err := loadPolicy(ctx, cfg.Folder, cfg.Now)
	return &work{cfg: cfg, pin: pin, policy: p, u: u}, err
}

// state is the upstream at one point: a commit, or a folder or file without
// one.
type state struct {
	commit *object.Commit // nil: there is none
	read   reader
}

func (s state) hash() string {
	if s.commit == nil {
		return ""
	}
	return s.commit.Hash.String()
}

func (s state) date() string {
	if s.commit == nil {
		return ""
	}
	return s.commit.Committer.When.UTC().Format(time.DateOnly)
}

// target is the state at a commit, or at the branch's head.
func (w *work) target(commit string) (state, error) {
	s := w.cfg.Source
	if s.repo == nil {
		if commit != "" {
			return state{}, fmt.Errorf("%s is no repository: it has no commit %s", s.label, commit)
		}
		return state{read: s.plain}, nil
	}
	var c *object.Commit
	var err error
	if commit != "" {
		c, err = s.resolve(commit)
	} else {
		c, err = s.head(w.u.Branch)
	}
	if err != nil {
		return state{}, err
	}
	return state{commit: c, read: s.at(c)}, nil
}

// drift compares the pinned files with those at head. next is the upstream as
// it would be recorded there.
func (w *work) drift(ctx context.Context, head state) (*Drift, Upstream, error) {
	d := &Drift{Upstream: w.u.Name, Branch: w.u.Branch, Pinned: w.u.Mark(), Head: head.hash(), HeadDate: head.date(), Commits: []Commit{}, Rules: []RuleChange{}}
	next := w.u
	next.Commit, next.Date, next.Files = head.hash(), head.date(), nil
	if w.u.Commit == "" {
		next.Commit, next.Date = "", w.u.Date // it stays pinned by its digests
	}
	if err := w.history(d, head); err != nil {
		return nil, next, err
	}
	for _, f := range w.u.Files {
		fd, nf, err := w.file(ctx, f, head)
		if err != nil {
			return nil, next, err
		}
		d.Files = append(d.Files, fd)
		d.Moved = d.Moved || fd.State != fileSame
		next.Files = append(next.Files, nf)
	}
	d.Moved = d.Moved || d.Rewritten
	return d, next, nil
}

// history lists the commits since the pin that touch its files.
func (w *work) history(d *Drift, head state) error {
	if head.commit == nil || w.u.Commit == "" || w.u.Commit == head.hash() {
		return nil
	}
	pinned, err := w.cfg.Source.commit(w.u.Commit)
	if errors.Is(err, ErrNoCommit) {
		d.Rewritten = true
		return nil
	}
	if err != nil {
		return err
	}
	list, descends, err := since(pinned, head.commit)
	if err != nil {
		return err
	}
	d.Between, d.Rewritten = len(list), !descends
	paths := make([]string, 0, len(w.u.Files))
	for _, f := range w.u.Files {
		paths = append(paths, f.Path)
	}
	for _, c := range list {
		if touched := touches(c, paths); len(touched) > 0 && len(d.Commits) < maxListed {
			subject, _, _ := strings.Cut(c.Message, "\n")
			d.Commits = append(d.Commits, Commit{
				Hash: c.Hash.String(), Date: c.Committer.When.UTC().Format(time.DateOnly), Subject: printable(subject), Files: touched,
			})
		}
	}
	return nil
}

// file compares one file, and works out how it would be recorded at head.
func (w *work) file(ctx context.Context, f File, head state) (FileDrift, File, error) {
	fd, next := FileDrift{Path: f.Path, State: fileSame}, f
	text, err := head.read(f.Path)
	if errors.Is(err, ErrNoFile) {
		now, found := w.moved(f, head)
		if !found {
			fd.State = fileGone
			return fd, next, nil
		}
		fd.State, fd.Now, next.Path = fileMoved, now, now
		text, err = head.read(now)
	}
	if err != nil {
		return fd, next, err
	}
	fd.SHA256 = digestOf(text)
	next.SHA256 = fd.SHA256
	if fd.State == fileSame && fd.SHA256 != f.SHA256 {
		fd.State = fileChanged
	}
	if fd.SHA256 == f.SHA256 && f.Rules != nil {
		return fd, next, nil
	}
	sets, err := w.cfg.Extract.Extract(ctx, next.Path, text)
	if err != nil {
		return fd, next, err
	}
	b := bind(f, sets, true)
	fd.Notes = append(append(fd.Notes, b.renamed...), b.missing...)
	if f.From != nil {
		next.From = b.from
	}
	next.Rules = keepByHand(f.Rules, b)
	return fd, next, nil
}

// keepByHand keeps what was recorded by hand and cannot be read off the file.
func keepByHand(recorded *Rules, b binding) *Rules {
	rules := b.rules
	if recorded != nil && rules.DeniedNodes == nil {
		rules.DeniedNodes = recorded.DeniedNodes
	}
	for _, list := range setLists() {
		entries := rules.field(list)
		*entries = slices.DeleteFunc(*entries, func(e string) bool { return !entryForm.MatchString(e) || len(e) > maxName })
	}
	return rules
}

// moved looks for a file that is gone: the same bytes elsewhere, else the only
// file of that name.
func (w *work) moved(f File, head state) (string, bool) {
	if head.commit == nil {
		return "", false
	}
	var old plumbing.Hash
	if pinned, err := w.cfg.Source.commit(w.u.Commit); err == nil {
		old, _ = blobOf(pinned, f.Path)
	}
	files, err := head.commit.Files()
	if err != nil {
		return "", false
	}
	var same, named []string
	_ = files.ForEach(func(file *object.File) error { // what cannot be read is not where the file went
		if !file.Mode.IsRegular() || pathFault(file.Name) != nil {
			return nil
		}
		if file.Hash == old {
			same = append(same, file.Name)
		}
		if path.Base(file.Name) == path.Base(f.Path) {
			named = append(named, file.Name)
		}
		return nil
	})
	if len(same) > 0 {
		return same[0], true
	}
	if len(named) == 1 {
		return named[0], true
	}
	return "", false
}

// ahead lists how the rules differ at next, and where the policy would be
// looser than they are.
func (w *work) ahead(ctx context.Context, next Upstream) ([]RuleChange, []Finding, error) {
	rules := next.merged()
	if rules == nil {
		return []RuleChange{}, nil, nil
	}
	var gaps []Finding
	for _, profile := range next.Profiles {
		s, err := w.policy.ask(ctx, profile, rules)
		if err != nil {
			return nil, nil, err
		}
		gaps = append(gaps, compare(next, profile, rules, s)...)
	}
	gaps = slices.DeleteFunc(except(gaps, w.pin.Exceptions), func(f Finding) bool { return f.Kind != KindLooser })
	for i := range gaps {
		gaps[i].Level = LevelWarning
		at := w.policy.places[policyList(gaps[i].List)]
		gaps[i].File, gaps[i].Line = at.File, at.Line
	}
	recorded := w.u.merged()
	if recorded == nil {
		recorded = &Rules{}
	}
	return ruleChanges(recorded, rules, gaps), gaps, nil
}

func ruleChanges(old, now *Rules, gaps []Finding) []RuleChange {
	out := []RuleChange{}
	add := func(list, change string, entries []string) {
		for _, entry := range entries {
			c := RuleChange{List: list, Entry: entry, Change: change, Policy: "in step"}
			if i := slices.IndexFunc(gaps, func(f Finding) bool { return f.List == list && rooted(f) == entry }); i >= 0 {
				c.Looser, c.Policy = true, "looser"
			}
			out = append(out, c)
		}
	}
	for _, list := range setLists() {
		add(list, "added", minus(now.list(list), old.list(list)))
		add(list, "removed", minus(old.list(list), now.list(list)))
	}
	for _, flag := range []string{ListPrivateAttrs, ListPrivateNames} {
		if old.flag(flag) != now.flag(flag) {
			change := "removed"
			if now.flag(flag) {
				change = "added"
			}
			add(flag, change, []string{"_*"})
		}
	}
	return out
}

// rooted is a finding's entry as an upstream lists it.
func rooted(f Finding) string {
	if f.List == ListAllowedImports {
		return rootOf(f.Entry)
	}
	return f.Entry
}

func (d *Drift) findings() []Finding {
	var findings []Finding
	say := func(level, kind, format string, args ...any) {
		findings = append(findings, Finding{Level: level, Kind: kind, Upstream: d.Upstream, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case d.Rewritten:
		say(LevelWarning, KindMoved, "the pinned commit %s is not one of the branch: its history was rewritten", d.Pinned)
	case d.Moved:
		say(LevelWarning, KindMoved, "%s moved: %d commits since the pin, %d touch pinned files", d.Upstream, d.Between, len(d.Commits))
	case d.Between > 0:
		say(LevelNote, KindSource, "%d commits since the pin; none touches a pinned file", d.Between)
	}
	for _, f := range d.Files {
		switch f.State {
		case fileMoved:
			say(LevelWarning, KindMoved, "%s is now %s", f.Path, f.Now)
		case fileGone:
			say(LevelWarning, KindMoved, "%s is gone", f.Path)
		case fileChanged:
			say(LevelWarning, KindMoved, "%s changed: read what is not in its sets", f.Path)
		}
		for _, note := range f.Notes {
			say(LevelWarning, KindSource, "%s: %s", f.Path, note)
		}
	}
	for _, c := range d.Rules {
		say(LevelNote, KindSource, "%s", c.sentence(d.Upstream))
	}
	return findings
}

func (c RuleChange) sentence(upstream string) string {
	verb := map[string]string{
		"banned_calls added": "also bans", "banned_calls removed": "no longer bans", "banned_attributes added": "also bans the attribute",
		"banned_attributes removed": "no longer bans the attribute", "allowed_imports added": "also allows the import of",
		"allowed_imports removed": "no longer allows the import of", "denied_imports added": "also refuses the import of",
		"denied_imports removed": "no longer refuses the import of", "denied_nodes added": "also refuses",
		"denied_nodes removed": "no longer refuses", "private_attributes added": "also refuses attributes", "private_attributes removed": "no longer refuses attributes",
		"private_names added": "also refuses names", "private_names removed": "no longer refuses names",
	}[c.List+" "+c.Change]
	text := fmt.Sprintf("%s now %s %s", upstream, verb, c.Entry)
	if strings.HasPrefix(verb, "no longer") {
		text = fmt.Sprintf("%s %s %s", upstream, verb, c.Entry)
	}
	if c.Looser {
		return text + "; the policy does not follow yet"
	}
	return text
}
