package profiles

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// File is the name of the file in a policy's folder.
const File = "profiles.yaml"

// Bounds of a file. Each profile inherits by itself, so that time and memory for
// that grow with their product.
const (
	maxProfiles = 200
	maxDepth    = 16      // profiles from which one inherits, one from the other
	maxEntries  = 200_000 // levels, entries of lists, grants and waivers of all, with what they inherit
)

// Soon is how long before its end a waiver is warned of.
const Soon = 14 * 24 * time.Hour

// Profile is one profile.
type Profile struct {
	Description string             `yaml:"description"`
	Extends     string             `yaml:"extends"` // the profile that it starts from; empty: none
	Rules       map[string]string  `yaml:"rules"`   // id → error, warn or off
	Lists       map[string]Delta   `yaml:"lists"`   // name of a list → what differs here
	Limits      map[string]float64 `yaml:"limits"`
	Grants      []string           `yaml:"grants"`
	Waivers     []Waiver           `yaml:"waivers"`
	Shadow      *Shadow            `yaml:"shadow"` // asked beside it, never in force; not inherited

	lines map[string]int // of "", "rules.ID", "lists.NAME", "limits.NAME", "grants", "waivers.N"
}

// Delta is what a profile changes in a list.
type Delta struct {
	Add    []string `yaml:"add"`
	Remove []string `yaml:"remove"`
}

// Shadow names the profile that is asked beside another one, to see what it would
// do.
type Shadow struct {
	Profile string   `yaml:"profile"`
	Share   *float64 `yaml:"share"` // of the decisions, above 0 to 1; nil: all
}

// Of is the share of the decisions that it is asked about.
func (s *Shadow) Of() float64 {
	if s.Share == nil {
		return 1
	}
	return *s.Share
}

// Waiver lets one subject of one rule pass, up to and with the day Date.
type Waiver struct {
	Rule    string `yaml:"rule"`
	Subject string `yaml:"subject"`
	Reason  string `yaml:"reason"`
	Date    string `yaml:"date"`
}

// End is when the waiver no longer holds.
func (w Waiver) End() (time.Time, error) {
	day, err := time.Parse(time.DateOnly, w.Date)
	if err != nil {
		return time.Time{}, fmt.Errorf("date %q is not of the form 2006-01-02", w.Date)
	}
	return day.AddDate(0, 0, 1), nil
}

// Set is the profiles of one file.
type Set struct {
	// Written is each profile as it stands in the file.
	Written map[string]Profile
	// Whole is each profile with what it inherits.
	Whole map[string]Profile
}

// Names lists the profiles, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.Written)) }

// Read reads the file's text.
func Read(text []byte) (*Set, error) {
	s := &Set{Written: map[string]Profile{}, Whole: map[string]Profile{}}
	if err := yaml.Load(text, &s.Written, yaml.WithKnownFields()); err != nil {
		return nil, placed(err)
	}
	switch {
	case len(s.Written) == 0:
		return nil, fmt.Errorf("read %s: it has no profile", File)
	case len(s.Written) > maxProfiles:
		return nil, fmt.Errorf("%s: it has %d profiles, at most %d are taken: the corpus is judged under each", File, len(s.Written), maxProfiles)
	}
	if err := s.locate(text); err != nil {
		return nil, placed(err)
	}
	var faults []error
	entries := 0
	for _, name := range s.Names() {
		whole, err := s.inherit(name, nil)
		if err != nil {
			faults = append(faults, s.Fault(name, "extends", err))
			continue
		}
		if entries += whole.entries(); entries > maxEntries {
			return nil, s.Fault(name, "", fmt.Errorf("up to here the profiles have more than %d entries, with what they inherit", maxEntries))
		}
		s.Whole[name] = whole
	}
	return s, errors.Join(faults...)
}

func (p Profile) entries() int {
	n := len(p.Rules) + len(p.Grants) + len(p.Waivers)
	for _, delta := range p.Lists {
		n += len(delta.Add) + len(delta.Remove)
	}
	return n
}

// line is how the YAML library begins each of its faults.
var line = regexp.MustCompile(`\bline (\d+)(?:, column \d+)?: ([^\n]*)`)

// placed is an error of the YAML library in the form of all others:
// profiles.yaml:LINE: what.
func placed(err error) error {
	found := line.FindAllStringSubmatch(err.Error(), -1)
	if len(found) == 0 {
		return fmt.Errorf("read %s: %w", File, err)
	}
	faults := make([]error, 0, len(found))
	for _, f := range found {
		faults = append(faults, fmt.Errorf("%s:%s: %s", File, f[1], f[2]))
	}
	return errors.Join(faults...)
}

// Fault is an error about a part of a profile ("rules.ID" and the like), with
// its line.
func (s *Set) Fault(name, part string, err error) error {
	p := s.Written[name]
	line := p.lines[part]
	if line == 0 {
		line = p.lines[""]
	}
	return fmt.Errorf("%s:%d: profile %q: %w", File, line, name, err)
}

// inherit is a profile with what it inherits; below are those that extend it.
func (s *Set) inherit(name string, below []string) (Profile, error) {
	own := s.Written[name]
	if slices.Contains(below, name) {
		return own, fmt.Errorf("it extends itself: %s", strings.Join(append(below, name), " → "))
	}
	if own.Extends == "" {
		return own, nil
	}
	if len(below) >= maxDepth {
		return own, fmt.Errorf("it inherits from more than %d profiles, one from the other", maxDepth)
	}
	if _, ok := s.Written[own.Extends]; !ok {
		return own, fmt.Errorf("it extends %q, which is no profile; there are %s", own.Extends, strings.Join(s.Names(), ", "))
	}
	base, err := s.inherit(own.Extends, append(below, name))
	if err != nil {
		return own, err
	}
	return own.over(base), nil
}

// over is p on top of base: a level or limit of p replaces base's, an entry that
// p puts into a list is not taken out of it any more and the other way round,
// grants and waivers are added.
func (p Profile) over(base Profile) Profile {
	p.Rules, p.Limits = merged(base.Rules, p.Rules), merged(base.Limits, p.Limits)
	lists := maps.Clone(base.Lists)
	if lists == nil {
		lists = map[string]Delta{}
	}
	for name, delta := range p.Lists {
		below := lists[name]
		lists[name] = Delta{
			Add:    union(without(below.Add, delta.Remove), delta.Add),
			Remove: union(without(below.Remove, delta.Add), delta.Remove),
		}
	}
	p.Lists = lists
	p.Grants = union(base.Grants, p.Grants)
	p.Waivers = append(slices.Clone(base.Waivers), p.Waivers...)
	return p
}

func merged[V any](base, own map[string]V) map[string]V {
	all := maps.Clone(base)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, own)
	return all
}

func union(one, other []string) []string {
	return append(without(one, other), other...)
}

func without(list, out []string) []string {
	gone := make(map[string]bool, len(out))
	for _, entry := range out {
		gone[entry] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(entry string) bool { return gone[entry] })
}

// locate notes the line of each part.
func (s *Set) locate(text []byte) error {
	var root yaml.Node
	if err := yaml.Load(text, &root); err != nil {
		return err
	}
	if root.Kind == yaml.DocumentNode && len(root.Content) == 1 {
		root = *root.Content[0]
	}
	for name, node := range members(&root) {
		p := s.Written[name.Value]
		p.lines = map[string]int{"": name.Line}
		for key, value := range members(node) {
			p.lines[key.Value] = key.Line
			for entry := range members(value) {
				p.lines[key.Value+"."+entry.Value] = entry.Line
			}
			if value.Kind == yaml.SequenceNode {
				for i, item := range value.Content {
					p.lines[key.Value+"."+strconv.Itoa(i)] = item.Line
				}
			}
		}
		s.Written[name.Value] = p
	}
	return nil
}

// members are the keys and values of a mapping; of another node, none.
func members(node *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}
