package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FileEnv names the configuration file when no flag does.
const FileEnv = EnvPrefix + "CONFIG"

// FileDefault is read from the working directory when it is there and no other
// file is named.
const FileDefault = "config.yaml"

// maxFileBytes bounds the file; the reference configuration has about 8 KiB.
const maxFileBytes = 1 << 20

// Sources is where a configuration comes from.
type Sources struct {
	File   string              // empty: FileEnv, then FileDefault if it is there
	Dir    string              // the working directory
	Getenv func(string) string // the environment
	Names  []string            // of the environment's variables; those that begin with EnvPrefix must be known
	Flags  []Override          // in the order of the command line
}

// Override is one flag's value.
type Override struct {
	Path  string // "limits.wall"
	Text  string
	Place string // "--limits-wall", "--set"
}

// Origin says who set a key.
type Origin struct {
	Place string // "config.yaml:12:3", "SLUICE_LIMITS_WALL", "--limits-wall"; empty: the default
	base  string
}

// Loaded is a configuration together with where it came from.
type Loaded struct {
	Config
	File     string // absolute; empty: no file
	Warnings []string

	origin map[string]Origin
	base   string // where relative paths of the defaults are taken from
}

// Origin says who set the key at path; an empty Place is the default.
func (l *Loaded) Origin(path string) Origin { return l.origin[path] }

// Load reads the sources. The error, if any, is Faults: all of them.
func Load(from Sources) (*Loaded, error) {
	l := &Loaded{Config: Defaults(), origin: map[string]Origin{}}
	faults := l.readFile(from)
	base := from.Dir
	if l.File != "" {
		base = filepath.Dir(l.File)
	}
	faults = append(faults, l.readEnv(from)...)
	faults = append(faults, l.readFlags(from)...)
	faults = append(faults, l.strangers(from)...)
	l.base = base
	l.resolvePaths(base)
	faults = append(faults, l.validate()...)
	if len(faults) > 0 {
		return nil, faults
	}
	l.Warnings = l.lower()
	return l, nil
}

func (l *Loaded) readFile(from Sources) Faults {
	name, place := from.File, "--config"
	if name == "" {
		name, place = from.Getenv(FileEnv), FileEnv
	}
	optional := name == ""
	if optional {
		name = FileDefault
	}
	path := absolute(from.Dir, name)
	text, err := readBounded(path)
	switch {
	case optional && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil && optional:
		return Faults{{Place: name, Problem: err.Error()}}
	case err != nil:
		return Faults{{Place: place, Problem: err.Error()}}
	}
	l.File = path
	r := reader{file: name, origin: l.origin, base: filepath.Dir(path)}
	r.read(&l.Config, text)
	return r.faults
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the configuration: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("read the configuration: %s is a folder", path)
	case info.Size() > maxFileBytes:
		return nil, fmt.Errorf("read the configuration: %s is larger than 1 MiB", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return text, nil
}

// readEnv looks up the variable of every key that there is now, so the keys of
// a plugin that the file names can be set too.
func (l *Loaded) readEnv(from Sources) (faults Faults) {
	for _, key := range l.settable() {
		name := envName(key)
		if text := from.Getenv(name); text != "" {
			faults = append(faults, l.set(Override{Path: key, Text: text, Place: name}, from.Dir)...)
		}
	}
	return faults
}

// strangers tells of variables that look like keys and are none. Those that a
// plugin may see are its own affair.
func (l *Loaded) strangers(from Sources) (faults Faults) {
	known := []string{FileEnv}
	for _, key := range l.settable() {
		known = append(known, envName(key))
	}
	for _, p := range l.Plugins {
		known = append(known, p.Env...)
	}
	for _, name := range slices.Sorted(slices.Values(from.Names)) {
		if !strings.HasPrefix(name, EnvPrefix) || from.Getenv(name) == "" || slices.Contains(known, name) {
			continue
		}
		fault := Fault{Place: name, Problem: "sets no key", Hint: "'gateway config print' lists the keys"}
		if near, ok := nearest(name, known); ok {
			fault.Hint = fmt.Sprintf("did you mean %s?", near)
		}
		faults = append(faults, fault)
	}
	return faults
}

// settable lists the keys of the leaves and of the plugins' own settings.
func (l *Loaded) settable() []string {
	var paths []string
	for _, leaf := range leavesOf(&l.Config) {
		paths = append(paths, leaf.path)
		if settings, ok := leaf.value.Interface().(map[string]any); ok {
			for _, name := range sortedNames(settings) {
				paths = append(paths, leaf.path+"."+name)
			}
		}
	}
	return paths
}

func (l *Loaded) readFlags(from Sources) (faults Faults) {
	for _, flag := range from.Flags {
		faults = append(faults, l.set(flag, from.Dir)...)
	}
	return faults
}

func (l *Loaded) set(o Override, base string) Faults {
	if fault := setPath(&l.Config, o.Path, o.Text); fault != nil {
		fault.Place = o.Place
		return Faults{*fault}
	}
	l.origin[o.Path] = Origin{Place: o.Place, base: base}
	return nil
}

// ParseSet reads the value of --set, "key.path=value".
func ParseSet(text string) (Override, error) {
	path, value, ok := strings.Cut(text, "=")
	if path = strings.TrimSpace(path); !ok || path == "" {
		return Override{}, fmt.Errorf("%q is not of the form key.path=value", text)
	}
	return Override{Path: path, Text: value, Place: "--set"}, nil
}

// resolvePaths makes every path absolute, from the folder of who named it.
func (l *Loaded) resolvePaths(base string) {
	for _, leaf := range leavesOf(&l.Config) {
		if settings, ok := leaf.value.Interface().(map[string]any); ok {
			l.resolveFree(settings, leaf.path, base)
			continue
		}
		if !leaf.isPath {
			continue
		}
		text := leaf.value.String()
		if text == "" || (leaf.path == "audit.file" && text == AuditOff) {
			continue
		}
		leaf.value.SetString(absolute(l.baseOf(leaf.path, base), text))
	}
	for name, p := range l.Plugins {
		p.resolveFiles(l.baseOf(pluginsKey+"."+name+".files", base))
	}
}

// resolveFree does the same to what looks like a relative path in a plugin's
// own settings.
func (l *Loaded) resolveFree(settings map[string]any, path, base string) {
	for name, value := range settings {
		text, ok := value.(string)
		if !ok || !strings.HasPrefix(text, ".") || !strings.Contains(text, "/") {
			continue
		}
		from := l.baseOf(path, base)
		if o, ok := l.origin[path+"."+name]; ok {
			from = o.base
		}
		settings[name] = absolute(from, text)
	}
}

func (l *Loaded) baseOf(path, base string) string {
	if o, ok := l.origin[path]; ok {
		return o.base
	}
	return base
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
