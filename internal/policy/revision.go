package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// revision is one policy that passed every check. It does not change, save that
// waivers in it lapse.
type revision struct {
	host      *host
	name      string
	digest    string
	admitsAll bool
	languages map[string]*language
	profiles  *profileStore
	mask      *rego.PreparedEvalQuery // of the decision log; nil: nothing is hidden
	warnings  []string
	loadedAt  time.Time
	judged    atomic.Int64                // programs of the corpus so far
	left      func(context.Context) error // judges those that were left for later; nil: none are. The Store's lock guards it
}

// Revision implements gateway.Policy.
func (r *revision) Revision() string { return r.name }

// Sections implements gateway.Policy.
func (r *revision) Sections(language string) ([]string, error) {
	l, ok := r.languages[language]
	if !ok {
		return nil, noRules(language)
	}
	return slices.Clone(l.sections), nil
}

func noRules(language string) error {
	return fmt.Errorf("language %q: %w: the policy has no package rules.%s", language, gateway.ErrNoRules, language)
}

// sections lists what the rules of each language read; nil: all.
func (r *revision) sections() map[string][]string {
	byLanguage := map[string][]string{}
	for id, l := range r.languages {
		byLanguage[id] = slices.Clone(l.sections)
	}
	return byLanguage
}

func (r *revision) describe(st *Status) {
	st.Revision, st.Digest, st.AdmitsAll = r.name, r.digest, r.admitsAll
	st.Profiles, st.LoadedAt, st.Corpus = r.profiles.names(), r.loadedAt, int(r.judged.Load())
	st.Warnings = slices.Concat(r.warnings, r.profiles.ending(r.host.now()))
	st.Sections, st.Rules = r.sections(), map[string][]Rule{}
	for id, l := range r.languages {
		for _, rule := range l.rules {
			st.Rules[id] = append(st.Rules[id], rule)
		}
		slices.SortFunc(st.Rules[id], func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
	}
}
