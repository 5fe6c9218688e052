package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// choose finds the upstream that a source is of: the named one, the only one,
// or the only one whose commit or files are there.
func (s *Source) choose(pin *Pin, name string) (Upstream, error) {
	if name != "" {
		u, ok := pin.find(name)
		if !ok {
			return u, fmt.Errorf("%s pins no upstream %q", PinFile, name)
		}
		return u, nil
	}
	if len(pin.Upstreams) == 1 {
		return pin.Upstreams[0], nil
	}
	for _, test := range []func(Upstream) bool{s.hasCommit, s.hasFiles} {
		fits := slices.DeleteFunc(slices.Clone(pin.Upstreams), func(u Upstream) bool { return !test(u) })
		if len(fits) == 1 {
			return fits[0], nil
		}
	}
	names := make([]string, 0, len(pin.Upstreams))
	for _, u := range pin.Upstreams {
		names = append(names, u.Name)
	}
	return Upstream{}, fmt.Errorf("which upstream is %s? say --upstream NAME: %s", s.label, strings.Join(names, ", "))
}

func (s *Source) hasCommit(u Upstream) bool {
	if s.repo == nil || u.Commit == "" {
		return false
	}
	_, err := s.commit(u.Commit)
	return err == nil
}

func (s *Source) hasFiles(u Upstream) bool {
	if s.repo == nil {
		if s.root == nil {
			return len(u.Files) == 1 && digestOf(s.text) == u.Files[0].SHA256
		}
		return slices.ContainsFunc(u.Files, func(f File) bool { _, err := s.plain(f.Path); return err == nil })
	}
	head, err := s.head(u.Branch)
	if err != nil {
		if head, err = s.head(""); err != nil {
			return false
		}
	}
	return slices.ContainsFunc(u.Files, func(f File) bool { _, err := blobOf(head, f.Path); return err == nil })
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// verify holds the pin against the source.
func verify(ctx context.Context, pin *Pin, cfg Config) ([]Finding, error) {
	u, err := cfg.Source.choose(pin, cfg.Upstream)
	if err != nil {
		return nil, err
	}
	v := verification{u: u, cfg: cfg}
	read, err := v.open()
	if err != nil || read == nil {
		return v.found, err
	}
	for _, f := range u.Files {
		if err := v.file(ctx, f, read); err != nil {
			return nil, err
		}
	}
	return v.found, nil
}

type verification struct {
	u     Upstream
	cfg   Config
	found []Finding
}

func (v *verification) say(level, kind, entry, format string, args ...any) {
	v.found = append(v.found, Finding{Level: level, Kind: kind, Upstream: v.u.Name, Entry: entry, File: PinFile, Message: fmt.Sprintf(format, args...)})
}

// open finds the pinned state. Without the pinned commit there is nothing to
// read, which is a finding.
func (v *verification) open() (reader, error) {
	s, u := v.cfg.Source, v.u
	if s.repo == nil {
		if u.Commit != "" {
			v.say(LevelWarning, KindSource, "", "%s is no repository: that the commit %s exists was not looked at", s.label, u.Commit)
		}
		return s.plain, nil
	}
	if u.Commit == "" {
		head, err := s.head(u.Branch)
		if err != nil {
			return nil, err
		}
		v.say(LevelNote, KindSource, "", "no commit is pinned for %s: looked at %s", u.Name, head.Hash)
		return s.at(head), nil
	}
	c, err := s.commit(u.Commit)
	if errors.Is(err, ErrNoCommit) {
		v.say(LevelError, KindCommit, u.Commit, "the pinned commit %s is not in %s: its history was rewritten, the clone is shallow, or it is another repository", u.Commit, s.label)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if head, err := s.head(u.Branch); err != nil {
		v.say(LevelWarning, KindSource, "", "the branch was not looked at: %s", printable(err.Error()))
	} else if on, err := c.IsAncestor(head); err == nil && !on {
		v.say(LevelWarning, KindSource, u.Commit, "the pinned commit %s is no longer on the branch %s: its history was rewritten", u.Commit, u.Branch)
	}
	return s.at(c), nil
}

// file proves the digest and the rules of one file. What is refused is an
// error; what differs is a finding.
func (v *verification) file(ctx context.Context, f File, read reader) error {
	text, err := read(f.Path)
	if errors.Is(err, ErrNoFile) {
		v.say(LevelError, KindMismatch, f.Path, "%s", printable(err.Error()))
		return nil
	}
	if err != nil {
		return err
	}
	switch digest := digestOf(text); {
	case f.SHA256 == "":
		v.say(LevelNote, KindSource, f.Path, "%s has the digest %s there, and none is recorded (vendor-sync update)", f.Path, digest)
	case f.SHA256 != digest:
		v.say(LevelError, KindMismatch, f.Path, "%s has the digest %s, recorded is %s", f.Path, digest, f.SHA256)
	}
	if f.Rules == nil {
		return nil
	}
	sets, err := v.cfg.Extract.Extract(ctx, f.Path, text)
	if err != nil {
		return err
	}
	b := bind(f, sets, false)
	for _, missing := range b.missing {
		v.say(LevelError, KindMismatch, f.Path, "%s: %s", f.Path, missing)
	}
	v.rules(f, b)
	return nil
}

func (v *verification) rules(f File, b binding) {
	for _, list := range setLists() {
		recorded, found := f.Rules.list(list), b.rules.list(list)
		if found == nil && list == ListDeniedNodes && recorded != nil {
			v.say(LevelNote, KindSource, f.Path, "%s: %s is recorded by hand: it cannot be read off the file", f.Path, list)
			continue
		}
		if more, less := minus(found, recorded), minus(recorded, found); found != nil && len(more)+len(less) > 0 {
			v.say(LevelError, KindMismatch, f.Path, "%s: %s is not what is recorded:%s%s", f.Path, list, changes(" +", more), changes(" -", less))
		}
	}
	for _, flag := range []string{ListPrivateAttrs, ListPrivateNames} {
		if recorded, found := f.Rules.flag(flag), b.rules.flag(flag); recorded != found {
			v.say(LevelNote, KindSource, f.Path, "%s: %s is recorded as %t, read off the file is %t", f.Path, flag, recorded, found)
		}
	}
}

// changes writes entries with a sign before each.
func changes(sign string, entries []string) string {
	if len(entries) == 0 {
		return ""
	}
	return sign + strings.Join(entries, sign)
}
