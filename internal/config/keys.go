package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// EnvPrefix begins the name of every environment variable that sets a key.
const EnvPrefix = "SLUICE_"

// Key is one setting, as help texts and flags need it.
type Key struct {
	Path    string // "limits.wall"
	Kind    string // string, bool, int, duration, size, list or object
	Help    string
	Default string // as it would be written in the file
}

// Flag is the key's flag without its dashes: "limits-wall".
func (k Key) Flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(k.Path) }

// Env is the key's environment variable: "SLUICE_LIMITS_WALL".
func (k Key) Env() string { return envName(k.Path) }

func envName(path string) string {
	return EnvPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(path))
}

// Keys lists every key of the default configuration, in the order of the
// struct; those of the default plugins stand there under the plugins' names.
func Keys() []Key {
	defaults := Defaults()
	leaves := leavesOf(&defaults)
	keys := make([]Key, 0, len(leaves))
	for _, l := range leaves {
		keys = append(keys, Key{Path: l.path, Kind: kindOf(l.value.Type()), Help: l.help, Default: formatValue(l.value)})
	}
	return keys
}

// leaf is one key of one Config, with the place of its value.
type leaf struct {
	path   string
	help   string
	isPath bool
	value  reflect.Value // settable
}

// leavesOf lists the keys that c has now, those of its plugins included.
func leavesOf(c *Config) []leaf {
	return appendLeaves(nil, reflect.ValueOf(c).Elem(), "")
}

func appendLeaves(to []leaf, v reflect.Value, prefix string) []leaf {
	for _, f := range reflect.VisibleFields(v.Type()) {
		path, value := prefix+f.Tag.Get("key"), v.FieldByIndex(f.Index)
		plugins, isPlugins := value.Interface().(map[string]*Plugin)
		switch {
		case isPlugins:
			for _, name := range sortedNames(plugins) {
				to = appendLeaves(to, reflect.ValueOf(plugins[name]).Elem(), path+"."+name+".")
			}
		case f.Type.Kind() == reflect.Struct:
			to = appendLeaves(to, value, path+".")
		default:
			to = append(to, leaf{path: path, help: f.Tag.Get("help"), isPath: f.Tag.Get("is") == "path", value: value})
		}
	}
	return to
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// child is the field of a struct that a key names.
func child(v reflect.Value, key string) (value reflect.Value, ok bool) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Tag.Get("key") == key {
			return v.FieldByIndex(f.Index), true
		}
	}
	return reflect.Value{}, false
}

// namesOf lists the keys of a struct.
func namesOf(v reflect.Value) []string {
	var names []string
	for _, f := range reflect.VisibleFields(v.Type()) {
		names = append(names, f.Tag.Get("key"))
	}
	return names
}

const pluginsKey = "plugins"

// setPath sets one key of c from text, as flags and the environment do. A
// plugin that is named for the first time is made; what stands below a
// plugin's config is free.
func setPath(c *Config, path, text string) *Fault {
	segments := strings.Split(path, ".")
	v := reflect.ValueOf(c).Elem()
	for i, segment := range segments {
		if v.Type() == reflect.TypeFor[map[string]any]() {
			return setFree(v, segments[i:], text)
		}
		if v.Type() == reflect.TypeFor[map[string]*Plugin]() {
			v = pluginAt(v, segment)
			continue
		}
		if v.Kind() != reflect.Struct {
			return &Fault{Key: path, Problem: strings.Join(segments[:i], ".") + " has no keys of its own"}
		}
		next, ok := child(v, segment)
		if !ok {
			return &Fault{Key: path, Problem: "no such key", Hint: suggest(segments[:i], segment, namesOf(v))}
		}
		v = next
	}
	if v.Kind() == reflect.Struct || v.Type() == reflect.TypeFor[map[string]*Plugin]() {
		return &Fault{Key: path, Problem: "is a group of keys and has no value of its own"}
	}
	if err := setText(v, text); err != nil {
		return &Fault{Key: path, Problem: err.Error()}
	}
	return nil
}

func pluginAt(plugins reflect.Value, name string) reflect.Value {
	m := plugins.Interface().(map[string]*Plugin)
	if m[name] == nil {
		m[name] = defaultPlugin()
	}
	return reflect.ValueOf(m[name]).Elem()
}

// setFree sets a value inside a plugin's own settings.
func setFree(v reflect.Value, segments []string, text string) *Fault {
	if v.IsNil() {
		v.Set(reflect.ValueOf(map[string]any{}))
	}
	at := v.Interface().(map[string]any)
	last := len(segments) - 1
	for _, s := range segments[:last] {
		below, ok := at[s].(map[string]any)
		if !ok {
			below = map[string]any{}
			at[s] = below
		}
		at = below
	}
	at[segments[last]] = parseAny(text)
	return nil
}

func joinKey(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return fmt.Sprintf("%s.%s", prefix, key)
}
