package upstream

import (
	"time"

	"github.com/sluice-gateway/sluice/internal/profiles"
)

// profileData is a profile as rules read it, without the parts that are empty
// and the waivers that are over.
func profileData(p profiles.Profile, now time.Time) map[string]any {
	data := map[string]any{}
	if len(p.Rules) > 0 {
		data["rules"] = p.Rules
	}
	if len(p.Limits) > 0 {
		data["limits"] = p.Limits
	}
	if len(p.Grants) > 0 {
		data["grants"] = p.Grants
	}
	if len(p.Lists) > 0 {
		lists := map[string]any{}
		for name, delta := range p.Lists {
			lists[name] = changesOf(delta)
		}
		data["lists"] = lists
	}
	data["waivers"] = waiversOf(p, now)
	return data
}

func changesOf(delta profiles.Delta) map[string]any {
	changes := map[string]any{}
	if len(delta.Add) > 0 {
		changes["add"] = delta.Add
	}
	if len(delta.Remove) > 0 {
		changes["remove"] = delta.Remove
	}
	return changes
}

// waiversOf lists the waivers that hold; nil: there are none.
func waiversOf(p profiles.Profile, now time.Time) []any {
	var waivers []any
	for _, w := range p.Waivers {
		if end, err := w.End(); err == nil && now.Before(end) {
			waivers = append(waivers, map[string]any{"rule": w.Rule, "subject": w.Subject, "reason": w.Reason, "date": w.Date})
		}
	}
	return waivers
}
