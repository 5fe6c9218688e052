package upstream

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Changes is what update or review recorded and what is left to do by hand.
type Changes struct {
	Upstream string       `json:"upstream,omitempty"`
	Old      string       `json:"old,omitempty"`
	New      string       `json:"new,omitempty"`
	Files    []FileDrift  `json:"files,omitempty"`
	Rules    []RuleChange `json:"rules,omitempty"`
	ToDo     []string     `json:"to_do"`          // for a person, in order
	Diff     string       `json:"diff,omitempty"` // of the lists, with write-lists
	Written  []string     `json:"written"`        // files of the policy folder
}

// Output is a file of the policy folder as a command wants it.
type Output struct {
	Name string
	Text []byte
}

// Update re-records an upstream at a commit, or at the branch's head when that
// is "". It changes nothing itself: the files to write are handed back, the
// lists of the policy among them only if writeLists.
func Update(ctx context.Context, cfg Config, commit string, writeLists bool) (*Report, []Output, error) {
	w, err := newWork(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	at, err := w.target(commit)
	if err != nil {
		return nil, nil, err
	}
	d, next, err := w.drift(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if i := slices.IndexFunc(d.Files, func(f FileDrift) bool { return f.State == fileGone }); i >= 0 {
		return nil, nil, fmt.Errorf("update %s: %w: %s: say in %s where it went", w.u.Name, ErrNoFile, d.Files[i].Path, PinFile)
	}
	rules, gaps, err := w.ahead(ctx, next)
	if err != nil {
		return nil, nil, err
	}
	report := &Report{Command: "update", Pins: []PinState{}, Findings: gaps}
	report.Update = &Changes{Upstream: next.Name, Old: w.u.Mark(), New: next.Mark(), Files: d.Files, Rules: rules, ToDo: w.todo(next, gaps), Written: []string{}}
	outputs, err := w.outputs(next, gaps, writeLists, report.Update)
	if err != nil {
		return nil, nil, err
	}
	report.Pins = append(report.Pins, (&Pin{Upstreams: []Upstream{next}}).States()...)
	for _, f := range d.Files {
		for _, note := range f.Notes {
			report.Findings = append(report.Findings, Finding{Level: LevelWarning, Kind: KindSource, Upstream: next.Name, Entry: f.Path, Message: note})
		}
	}
	return report.conclude(), outputs, nil
}

func (w *work) outputs(next Upstream, gaps []Finding, writeLists bool, changes *Changes) ([]Output, error) {
	old, err := readFile(w.cfg.Folder, PinFile, maxPinBytes)
	if err != nil {
		return nil, fmt.Errorf("read the pin: %w", err)
	}
	text, err := recordUpstream(old, next)
	if err != nil {
		return nil, err
	}
	var outputs []Output
	if string(text) != string(old) {
		outputs = append(outputs, Output{PinFile, text})
	}
	if writeLists {
		lists, diff, err := w.writeLists(gaps)
		if err != nil {
			return nil, err
		}
		changes.Diff = diff
		if diff != "" {
			outputs = append(outputs, lists)
		}
	}
	for _, o := range outputs {
		changes.Written = append(changes.Written, o.Name)
	}
	return outputs, nil
}

// todo is what is left for a person after an update.
func (w *work) todo(next Upstream, gaps []Finding) []string {
	todo := []string{}
	for _, f := range gaps {
		switch f.List {
		case ListAllowedImports, ListDeniedImports:
			todo = append(todo, fmt.Sprintf("take %s out of allowed_imports for profile %s, or argue an exception", f.Entry, f.Profile))
		case ListPrivateAttrs, ListPrivateNames:
			todo = append(todo, fmt.Sprintf("refuse the private name %s in profile %s (rule %s), or argue an exception", f.Entry, f.Profile, f.Rule))
		default:
			todo = append(todo, fmt.Sprintf("add %s to %s (rule %s) for profile %s, or argue an exception", f.Entry, policyList(f.List), f.Rule, f.Profile))
		}
	}
	if w.policy.marks[next.Name] != next.Mark() {
		todo = append(todo, fmt.Sprintf("write %s: %s under custom.upstream in the METADATA of package rules.python", next.Name, next.Mark()))
	}
	if w.u.Mark() != next.Mark() || len(todo) > 0 {
		todo = append(todo, "read what changed upstream beside the sets, then run `vendor-sync review`")
	}
	return todo
}

// Review compares as Check does and re-records the digests of the policy.
func Review(ctx context.Context, cfg Config) (*Report, []Output, error) {
	cfg.Strict = StrictNot
	report, err := Check(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	p, err := loadPolicy(ctx, cfg.Folder, cfg.Now)
	if err != nil {
		return nil, nil, err
	}
	lists, profiles, err := p.digests(ctx)
	if err != nil {
		return nil, nil, err
	}
	old, err := readFile(cfg.Folder, PinFile, maxPinBytes)
	if err != nil {
		return nil, nil, fmt.Errorf("read the pin: %w", err)
	}
	pin, err := ReadPin(old)
	if err != nil {
		return nil, nil, err
	}
	report.Command, report.Update = "review", &Changes{ToDo: []string{}, Written: []string{}}
	report.Findings = slices.DeleteFunc(report.Findings, func(f Finding) bool { return f.Kind == KindReview })
	if pin.Policy.ListsSHA256 == lists && pin.Policy.ProfilesSHA256 == profiles {
		return report.conclude(), nil, nil
	}
	text, err := recordReview(old, Reviewed{ListsSHA256: lists, ProfilesSHA256: profiles, Reviewed: cfg.Now.UTC().Format(time.DateOnly)})
	if err != nil {
		return nil, nil, err
	}
	report.Update.Written = []string{PinFile}
	return report.conclude(), []Output{{PinFile, text}}, nil
}
