package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"go.yaml.in/yaml/v4"

	"github.com/sluice-gateway/sluice/executor"
)

// profilesPath is where Rego reads the profiles.
const profilesPath = "/profiles"

// profile is one profile as it stands in profiles.yaml.
type profile struct {
	Description string               `yaml:"description"`
	Rules       map[string]string    `yaml:"rules"` // id → error, warn or off
	Lists       map[string]listDelta `yaml:"lists"` // name of a list → what differs here
	Limits      map[string]float64   `yaml:"limits"`
	Grants      []string             `yaml:"grants"`
	Waivers     []waiver             `yaml:"waivers"`
}

type listDelta struct {
	Add    []string `yaml:"add"`
	Remove []string `yaml:"remove"`
}

// waiver lets one subject of one rule pass, up to and with the day Until.
type waiver struct {
	Rule    string `yaml:"rule"`
	Subject string `yaml:"subject"`
	Reason  string `yaml:"reason"`
	Date    string `yaml:"date"`
}

// profiles are the profiles of one revision and the store from which its rules
// read them. Waivers leave the store when their day is over.
type profiles struct {
	byName map[string]profile
	store  storage.Store

	mu   sync.Mutex
	next time.Time // when the next waiver lapses; zero: none does
}

// readProfiles reads profiles.yaml, in which unknown and duplicate keys are
// errors. Nil is a folder without the file.
func readProfiles(file []byte) (map[string]profile, error) {
	byName := map[string]profile{}
	if file == nil {
		return byName, nil
	}
	if err := yaml.Load(file, &byName, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("read %s: %w", profilesFile, err)
	}
	if len(byName) == 0 {
		return nil, fmt.Errorf("read %s: it has no profile", profilesFile)
	}
	return byName, nil
}

// ProfileNames lists the profiles of a policy folder, sorted; none where it has
// no profiles.yaml that can be read. Nothing else of the folder is looked at.
func ProfileNames(folder fs.FS) []string {
	text, err := fs.ReadFile(folder, profilesFile)
	if err != nil {
		return nil
	}
	byName, err := readProfiles(text)
	if err != nil {
		return nil
	}
	return sortedKeys(byName)
}

// newProfiles puts profiles where rules read them.
func newProfiles(byName map[string]profile, now time.Time) *profiles {
	p := &profiles{byName: byName}
	data, next := p.data(now)
	p.store = inmem.NewFromObjectWithOpts(map[string]any{"profiles": data}, inmem.OptReturnASTValuesOnRead(true))
	p.next = next
	return p
}

func (p *profiles) has(name string) bool {
	_, ok := p.byName[name]
	return ok
}

func (p *profiles) names() []string { return sortedKeys(p.byName) }

// lapse takes waivers out of the store whose day is over at now.
func (p *profiles) lapse(ctx context.Context, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next.IsZero() || now.Before(p.next) {
		return nil
	}
	data, next := p.data(now)
	path := storage.MustParsePath(profilesPath)
	if err := storage.WriteOne(ctx, p.store, storage.ReplaceOp, path, data); err != nil {
		return fmt.Errorf("let waivers lapse: %w", err)
	}
	p.next = next
	return nil
}

// data is data.profiles at now, and when it will change.
func (p *profiles) data(now time.Time) (data map[string]any, next time.Time) {
	data = map[string]any{}
	for name, profile := range p.byName {
		waivers := []any{}
		for _, w := range profile.Waivers {
			end, err := w.end()
			if err != nil || !now.Before(end) {
				continue
			}
			if next.IsZero() || end.Before(next) {
				next = end
			}
			waivers = append(waivers, map[string]any{"rule": w.Rule, "subject": w.Subject, "reason": w.Reason, "date": w.Date})
		}
		data[name] = profile.data(waivers)
	}
	return data, next
}

func (p profile) data(waivers []any) map[string]any {
	lists := map[string]any{}
	for name, delta := range p.Lists {
		lists[name] = map[string]any{"add": anys(delta.Add), "remove": anys(delta.Remove)}
	}
	limits := map[string]any{}
	for name, amount := range p.Limits {
		limits[name] = amount
	}
	rules := map[string]any{}
	for id, level := range p.Rules {
		rules[id] = level
	}
	return map[string]any{
		"rules": rules, "lists": lists, "limits": limits, "grants": anys(p.Grants), "waivers": waivers,
	}
}

func anys(texts []string) []any {
	list := make([]any, 0, len(texts))
	for _, t := range texts {
		list = append(list, t)
	}
	return list
}

// end is when the waiver no longer holds.
func (w waiver) end() (time.Time, error) {
	day, err := time.Parse(time.DateOnly, w.Date)
	if err != nil {
		return time.Time{}, fmt.Errorf("date %q is not of the form 2006-01-02", w.Date)
	}
	return day.AddDate(0, 0, 1), nil
}

// names is what a profile may name: rules by id, lists, and the texts that
// stand in rules.
type names struct{ rules, lists, texts map[string]bool }

// check proves that every rule and list that a profile names is there, that
// levels, limits and grants are of the known forms, and that waivers are whole
// and hold today.
func (n names) check(byName map[string]profile, now time.Time) error {
	var faults []error
	for _, name := range sortedKeys(byName) {
		for _, err := range n.faults(byName[name], now) {
			faults = append(faults, fmt.Errorf("%s: profile %q: %w", profilesFile, name, err))
		}
	}
	return errors.Join(faults...)
}

func (n names) faults(p profile, now time.Time) []error {
	var faults []error
	for _, id := range sortedKeys(p.Rules) {
		faults = append(faults, n.level(id, p.Rules[id]))
	}
	for _, list := range sortedKeys(p.Lists) {
		faults = append(faults, n.list(list))
	}
	var limits executor.Limits
	for _, name := range sortedKeys(p.Limits) {
		if err := setLimit(&limits, name, p.Limits[name]); err != nil {
			faults = append(faults, fmt.Errorf("limits: %w", err))
		}
	}
	for _, grant := range p.Grants {
		if !grantForm.MatchString(grant) {
			faults = append(faults, fmt.Errorf("%q is not import:NAME, import:*, builtin:NAME or builtin:*", grant))
		}
	}
	for i, w := range p.Waivers {
		if err := n.waiver(w, now); err != nil {
			faults = append(faults, fmt.Errorf("waiver %d: %w", i+1, err))
		}
	}
	return slices.DeleteFunc(faults, func(err error) bool { return err == nil })
}

func (n names) level(id, level string) error {
	if !n.rules[id] {
		return fmt.Errorf("no rule %q is defined", id)
	}
	if level != levelError && level != levelWarn && level != levelOff {
		return fmt.Errorf("rule %q has the level %q: it is error, warn or off", id, level)
	}
	return nil
}

// list proves that a list is there and that a rule asks for what a profile
// changes in it, by its name: else the change would have no effect.
func (n names) list(list string) error {
	if !n.lists[list] {
		return fmt.Errorf("no list %q is defined", list)
	}
	if !n.texts[list] {
		return fmt.Errorf("list %q is not one that profiles can change: no rule names %q", list, list)
	}
	return nil
}

func (n names) waiver(w waiver, now time.Time) error {
	if w.Rule == "" || w.Subject == "" || w.Reason == "" || w.Date == "" {
		return errors.New("it needs a rule, a subject, a reason and a date")
	}
	if !n.rules[w.Rule] {
		return fmt.Errorf("no rule %q is defined", w.Rule)
	}
	end, err := w.end()
	if err != nil {
		return err
	}
	if !now.Before(end) {
		return fmt.Errorf("it ended on %s (rule %q, subject %q): renew it or take it out", w.Date, w.Rule, w.Subject)
	}
	return nil
}
