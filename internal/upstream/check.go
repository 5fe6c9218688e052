package upstream

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// Strict says what fails that is a note or a warning else.
type Strict int

// How strict a check is.
const (
	StrictNot    Strict = iota // differences alone fail
	StrictHashes               // so does a policy that was edited and not reviewed
	StrictAll                  // so do upstreams that are not verified and exceptions that are overdue
)

// Config is what the commands work on.
type Config struct {
	Folder fs.FS     // the policy folder
	Now    time.Time // for exceptions and waivers with a date
	Strict Strict
	// Source, if there is one, is the opened upstream, and Extract finds the rule
	// sets of its files.
	Source   *Source
	Upstream string // which upstream the source is of; empty: found out
	Extract  Extractor
}

// Check compares the policy with its pin, and the pin with the source if there
// is one. The error is about input that cannot be read; what is found is in the
// report.
func Check(ctx context.Context, cfg Config) (*Report, error) {
	pin, err := Pins(cfg.Folder)
	if err != nil {
		return nil, err
	}
	p, err := loadPolicy(ctx, cfg.Folder, cfg.Now)
	if err != nil {
		return nil, err
	}
	report := &Report{Command: "check", Pins: pin.States()}
	if report.Findings, err = p.differences(ctx, pin); err != nil {
		return nil, err
	}
	report.Findings = append(report.Findings, p.annotation(pin)...)
	report.Findings = append(report.Findings, standing(pin, cfg)...)
	review, err := p.reviewed(ctx, pin, cfg.Strict)
	if err != nil {
		return nil, err
	}
	report.Findings = append(report.Findings, review...)
	if cfg.Source != nil {
		found, err := verify(ctx, pin, cfg)
		if err != nil {
			return nil, err
		}
		report.Findings = append(report.Findings, found...)
	}
	return report.conclude(), nil
}

// differences compares the policy with every upstream whose rules are known, in
// each of its profiles; exceptions are applied.
func (p *policy) differences(ctx context.Context, pin *Pin) ([]Finding, error) {
	var findings []Finding
	for _, u := range pin.Upstreams {
		rules := u.merged()
		for _, profile := range u.Profiles {
			if _, ok := p.profiles[profile]; !ok {
				return nil, fmt.Errorf("compare with %s: profiles.yaml has no profile %q", u.Name, profile)
			}
			if rules == nil {
				continue
			}
			s, err := p.ask(ctx, profile, rules)
			if err != nil {
				return nil, err
			}
			findings = append(findings, compare(u, profile, rules, s)...)
		}
	}
	for i := range findings {
		at := p.places[policyList(findings[i].List)]
		findings[i].File, findings[i].Line = at.File, at.Line
	}
	return except(findings, pin.Exceptions), nil
}

// annotation proves that the rules say that they follow these pins and no
// others.
func (p *policy) annotation(pin *Pin) []Finding {
	var findings []Finding
	say := func(name, format string, args ...any) {
		findings = append(findings, Finding{
			Level: LevelError, Kind: KindAnnotation, Upstream: name, Message: fmt.Sprintf(format, args...), File: p.marked.File, Line: p.marked.Line,
		})
	}
	for _, u := range pin.Upstreams {
		mark, ok := p.marks[u.Name]
		switch {
		case !ok:
			say(u.Name, "the METADATA of package rules.python (custom.upstream) does not name %s", u.Name)
		case mark != u.Mark():
			say(u.Name, "the METADATA of package rules.python says that it follows %s at %s, %s pins %s", u.Name, mark, PinFile, u.Mark())
		}
	}
	for name := range p.marks {
		if _, ok := pin.find(name); !ok {
			say(name, "the METADATA of package rules.python follows %s, which %s does not pin", name, PinFile)
		}
	}
	return findings
}

// standing says what is open in the pin itself.
func standing(pin *Pin, cfg Config) []Finding {
	var findings []Finding
	for _, u := range pin.Upstreams {
		for _, f := range u.Files {
			switch {
			case f.SHA256 == "":
				findings = append(findings, Finding{
					Level: leveled(cfg.Strict, LevelNote, LevelWarning, LevelError), Kind: KindUnverified, Upstream: u.Name, Entry: f.Path, File: PinFile,
					Message: fmt.Sprintf("%s of %s was never fetched: no digest and no rules are known (vendor-sync update --source)", f.Path, u.Name),
				})
			case f.Rules == nil:
				findings = append(findings, Finding{
					Level: LevelNote, Kind: KindSource, Upstream: u.Name, Entry: f.Path, File: PinFile,
					Message: fmt.Sprintf("%s of %s has no rules that are recorded", f.Path, u.Name),
				})
			}
		}
	}
	for _, e := range pin.Exceptions {
		last, err := time.Parse(time.DateOnly, e.ReviewBy)
		if err == nil && !cfg.Now.Before(last.AddDate(0, 0, 1)) {
			findings = append(findings, Finding{
				Level: leveled(cfg.Strict, LevelWarning, LevelWarning, LevelError), Kind: KindOverdue, Upstream: e.Upstream, Profile: e.Profile,
				List: e.List, Entry: e.Entry, When: e.When, File: PinFile,
				Message: fmt.Sprintf("the exception for %s of %s (%s) was to be looked at by %s", e.Entry, e.Upstream, e.List, e.ReviewBy),
			})
		}
	}
	return findings
}

// reviewed says whether the policy is the one that was last reviewed.
func (p *policy) reviewed(ctx context.Context, pin *Pin, strict Strict) ([]Finding, error) {
	lists, profiles, err := p.digests(ctx)
	if err != nil {
		return nil, err
	}
	var changed []string
	if lists != pin.Policy.ListsSHA256 {
		changed = append(changed, "the lists in "+p.listsFile())
	}
	if profiles != pin.Policy.ProfilesSHA256 {
		changed = append(changed, "what the profiles make of them")
	}
	if len(changed) == 0 {
		return nil, nil
	}
	message := "not reviewed since they changed: " + changed[0]
	for _, c := range changed[1:] {
		message += ", " + c
	}
	return []Finding{{
		Level: leveled(strict, LevelNote, LevelError, LevelError), Kind: KindReview, File: p.listsFile(), Line: 1,
		Message: message + " (run `vendor-sync review`)",
	}}, nil
}

func (p *policy) listsFile() string { return p.places["allowed_imports"].File }

// leveled picks the level for how strict a check is.
func leveled(strict Strict, levels ...string) string {
	return levels[min(int(max(strict, 0)), len(levels)-1)]
}

// ParseStrict reads the value of --strict.
func ParseStrict(text string) (Strict, error) {
	i := slices.Index([]string{"", "hashes", "all"}, text)
	if i < 0 {
		return StrictNot, fmt.Errorf("--strict is hashes or all, not %q", text)
	}
	return Strict(i), nil
}
