package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/profiles"
)

// profilesPath is where Rego reads the profiles.
const profilesPath = "/profiles"

// profileStore is the profiles of one revision and the store from which its rules
// read them. Waivers leave the store when their day is over.
type profileStore struct {
	set   *profiles.Set
	store storage.Store

	mu   sync.Mutex
	next time.Time // when the next waiver lapses; zero: none does
}

// readProfiles reads profiles.yaml. Nil is a folder without the file.
func readProfiles(file []byte) (*profiles.Set, error) {
	if file == nil {
		return &profiles.Set{Written: map[string]profiles.Profile{}, Whole: map[string]profiles.Profile{}}, nil
	}
	return profiles.Read(file)
}

// ProfileNames lists the profiles of a policy folder, sorted; none where it has
// no profiles.yaml that can be read. Nothing else of the folder is looked at.
func ProfileNames(folder fs.FS) []string {
	text, err := ReadFile(folder, profilesFile)
	if err != nil {
		return nil
	}
	set, err := profiles.Read(text)
	if err != nil {
		return nil
	}
	return set.Names()
}

// newProfiles puts profiles where rules read them.
func newProfiles(set *profiles.Set, now time.Time) *profileStore {
	p := &profileStore{set: set}
	data, next := p.data(now)
	p.store = inmem.NewFromObjectWithOpts(map[string]any{"profiles": data}, inmem.OptReturnASTValuesOnRead(true))
	p.next = next
	return p
}

func (p *profileStore) has(name string) bool {
	_, ok := p.set.Whole[name]
	return ok
}

func (p *profileStore) names() []string { return sortedKeys(p.set.Whole) }

// lapse takes waivers out of the store whose day is over at now.
func (p *profileStore) lapse(ctx context.Context, now time.Time) error {
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
func (p *profileStore) data(now time.Time) (data map[string]any, next time.Time) {
	data = map[string]any{}
	for name, profile := range p.set.Whole {
		waivers := []any{}
		for _, w := range profile.Waivers {
			end, err := w.End()
			if err != nil || !now.Before(end) {
				continue
			}
			if next.IsZero() || end.Before(next) {
				next = end
			}
			waivers = append(waivers, map[string]any{"rule": w.Rule, "subject": w.Subject, "reason": w.Reason, "date": w.Date})
		}
		data[name] = profileData(profile, waivers)
	}
	return data, next
}

func profileData(p profiles.Profile, waivers []any) map[string]any {
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

// names is what a profile may name: rules by id, lists, and the texts that
// stand in rules.
type names struct{ rules, lists, texts map[string]bool }

// check proves that every rule and list that a profile names is there, that
// levels, limits and grants are of the known forms, and that waivers are whole
// and hold today.
func (n names) check(set *profiles.Set, now time.Time) error {
	var faults []error
	for _, name := range set.Names() {
		for part, err := range n.faults(set.Written[name], now) {
			faults = append(faults, set.Fault(name, part, err))
		}
		if err := shadowFault(set, name); err != nil {
			faults = append(faults, set.Fault(name, "shadow", err))
		}
	}
	return errors.Join(faults...)
}

// faults gives what is wrong in a profile, each with the part where it is.
func (n names) faults(p profiles.Profile, now time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		say := func(part string, err error) bool { return err == nil || yield(part, err) }
		for _, id := range sortedKeys(p.Rules) {
			if !say("rules."+id, n.level(id, p.Rules[id])) {
				return
			}
		}
		for _, list := range sortedKeys(p.Lists) {
			if !say("lists."+list, n.list(list)) {
				return
			}
		}
		for _, name := range sortedKeys(p.Limits) {
			if !say("limits."+name, limitFault(name, p.Limits[name])) {
				return
			}
		}
		for i, grant := range p.Grants {
			if !say("grants."+strconv.Itoa(i), grantFault(grant)) {
				return
			}
		}
		for i, w := range p.Waivers {
			if err := n.waiver(w, now); !say("waivers."+strconv.Itoa(i), wrap(fmt.Sprintf("waiver %d", i+1), err)) {
				return
			}
		}
	}
}

// shadowFault proves that the profile which a profile names as its shadow is
// there, and another one.
func shadowFault(set *profiles.Set, name string) error {
	shadow := set.Written[name].Shadow
	if shadow == nil {
		return nil
	}
	_, there := set.Written[shadow.Profile]
	switch share := shadow.Of(); {
	case shadow.Profile == "":
		return errors.New("shadow: it needs a profile")
	case shadow.Profile == name:
		return errors.New("shadow: it is the profile itself")
	case !there:
		return fmt.Errorf("shadow: %q is no profile; there are %s", shadow.Profile, strings.Join(set.Names(), ", "))
	case math.IsNaN(share) || share <= 0 || share > 1:
		return fmt.Errorf("shadow: share is %v: it is above 0 and at most 1", share)
	}
	return nil
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func limitFault(name string, amount float64) error {
	var limits executor.Limits
	return wrap("limits", setLimit(&limits, name, amount))
}

func grantFault(grant string) error {
	if grantForm.MatchString(grant) {
		return nil
	}
	return fmt.Errorf("%q is not import:NAME, import:*, builtin:NAME or builtin:*", grant)
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

func (n names) waiver(w profiles.Waiver, now time.Time) error {
	if w.Rule == "" || w.Subject == "" || w.Reason == "" || w.Date == "" {
		return errors.New("it needs a rule, a subject, a reason and a date")
	}
	if !n.rules[w.Rule] {
		return fmt.Errorf("no rule %q is defined", w.Rule)
	}
	end, err := w.End()
	if err != nil {
		return err
	}
	if !now.Before(end) {
		return fmt.Errorf("it ended on %s (rule %q, subject %q): renew it or take it out", w.Date, w.Rule, w.Subject)
	}
	return nil
}

// ending warns of waivers whose end is near at now.
func (p *profileStore) ending(now time.Time) []string {
	var warnings []string
	for _, name := range p.set.Names() {
		for i, w := range p.set.Written[name].Waivers {
			end, err := w.End()
			if err != nil || !now.Before(end) || end.Sub(now) > profiles.Soon {
				continue
			}
			warnings = append(warnings, p.set.Fault(name, "waivers."+strconv.Itoa(i),
				fmt.Errorf("the waiver of rule %q for %q ends on %s: renew it, or change what needs it", w.Rule, w.Subject, w.Date)).Error())
		}
	}
	return warnings
}
