package config

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// YAML writes the configuration in force as a file that Load reads back; a
// comment behind a key that is no default says who set it.
func (l *Loaded) YAML() ([]byte, error) {
	w := writer{Loaded: l, defaults: l.defaultTexts()}
	text, err := yaml.Dump(w.node(reflect.ValueOf(&l.Config).Elem(), ""), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	return text, nil
}

// writer writes a configuration beside the default of each key, as text.
type writer struct {
	*Loaded
	defaults map[string]string
}

// defaultTexts has the default of every key that there is, paths resolved as
// those of the configuration are.
func (l *Loaded) defaultTexts() map[string]string {
	empty := &Loaded{Config: Defaults()}
	for name := range l.Plugins {
		if empty.Plugins[name] == nil {
			empty.Plugins[name] = defaultPlugin()
		}
	}
	empty.resolvePaths(l.base)
	texts := map[string]string{}
	for _, leaf := range leavesOf(&empty.Config) {
		texts[leaf.path] = formatValue(leaf.value)
	}
	return texts
}

// Map is the configuration in force as JSON writes it: durations and sizes with
// their units.
func (l *Loaded) Map() map[string]any {
	return plainMap(reflect.ValueOf(&l.Config).Elem())
}

func plainMap(v reflect.Value) map[string]any {
	out := map[string]any{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		out[f.Tag.Get("key")] = plainOf(v.FieldByIndex(f.Index))
	}
	return out
}

func plainOf(v reflect.Value) any {
	switch value := v.Interface().(type) {
	case time.Duration, Size:
		return formatValue(v)
	case map[string]any:
		if value == nil {
			return map[string]any{}
		}
		return value
	case []string:
		return append([]string{}, value...)
	case map[string]*Plugin:
		out := map[string]any{}
		for name, p := range value {
			out[name] = plainMap(reflect.ValueOf(p).Elem())
		}
		return out
	default:
		if v.Kind() == reflect.Struct {
			return plainMap(v)
		}
		return value
	}
}

func (l *writer) node(v reflect.Value, path string) *yaml.Node {
	group := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range reflect.VisibleFields(v.Type()) {
		key := f.Tag.Get("key")
		at := joinKey(path, key)
		value := v.FieldByIndex(f.Index)
		if plugins, ok := value.Interface().(map[string]*Plugin); ok {
			below := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			for _, name := range sortedNames(plugins) {
				below.Content = append(below.Content, textNode(name), l.node(reflect.ValueOf(plugins[name]).Elem(), at+"."+name))
			}
			group.Content = append(group.Content, textNode(key), below)
			continue
		}
		if f.Type.Kind() == reflect.Struct {
			group.Content = append(group.Content, textNode(key), l.node(value, at))
			continue
		}
		group.Content = append(group.Content, textNode(key), l.leafNode(value, at))
	}
	return group
}

func textNode(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

func (l *writer) leafNode(v reflect.Value, path string) *yaml.Node {
	n := &yaml.Node{}
	switch value := v.Interface().(type) {
	case time.Duration, Size:
		n.Kind, n.Value = yaml.ScalarNode, formatValue(v)
	default:
		if err := n.Encode(value); err != nil {
			n = textNode(formatValue(v))
		}
	}
	if n.Kind == yaml.SequenceNode || n.Kind == yaml.MappingNode {
		n.Style = yaml.FlowStyle
	}
	if place := l.setBy(path); place != "" && formatValue(v) != l.defaults[path] {
		n.LineComment = "# " + place
	}
	return n
}

// setBy says who set a key, and who set single keys below it: what a plugin's own
// settings say may come from several places.
func (l *Loaded) setBy(path string) string {
	var places []string
	if o, ok := l.origin[path]; ok {
		places = append(places, o.Place)
	}
	for _, at := range sortedNames(l.origin) {
		if name, below := strings.CutPrefix(at, path+"."); below {
			places = append(places, name+": "+l.origin[at].Place)
		}
	}
	return strings.Join(places, ", ")
}
