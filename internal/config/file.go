package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// reader puts one YAML document over a Config and gathers what is wrong with
// it.
type reader struct {
	file   string
	faults Faults
	origin map[string]Origin
	base   string
}

// read puts text over c. An empty document changes nothing.
func (r *reader) read(c *Config, text []byte) {
	var documents []yaml.Node
	if err := yaml.Load(text, &documents, yaml.WithAllDocuments()); err != nil {
		r.syntaxFault(err)
		return
	}
	if len(documents) == 0 {
		return
	}
	root := &documents[0]
	if root.Kind == yaml.DocumentNode {
		root = root.Content[0]
	}
	if len(documents) > 1 {
		r.fault(&documents[1], "", "a second document begins; one is taken", "")
	}
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return
	}
	r.group(root, reflect.ValueOf(c).Elem(), "")
}

func (r *reader) syntaxFault(err error) {
	var located *yaml.LoadError
	if errors.As(err, &located) {
		r.faults = append(r.faults, Fault{
			Place:   fmt.Sprintf("%s:%d:%d", r.file, located.Mark.Line, located.Mark.Column),
			Problem: "is no YAML: " + located.Message,
		})
		return
	}
	r.faults = append(r.faults, Fault{Place: r.file, Problem: "is no YAML: " + err.Error()})
}

func (r *reader) fault(n *yaml.Node, key, problem, hint string) {
	r.faults = append(r.faults, Fault{Place: r.place(n), Key: key, Problem: problem, Hint: hint})
}

func (r *reader) place(n *yaml.Node) string { return fmt.Sprintf("%s:%d:%d", r.file, n.Line, n.Column) }

// pairs visits a mapping's entries once each; what is no plain key is a fault.
func (r *reader) pairs(n *yaml.Node, path string, visit func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fault(n, path, "is a group of keys, "+nodeKind(n)+" stands there", "")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
			r.fault(key, path, "a key must be plain text; merges and aliases are not taken", "")
		case value.Kind == yaml.AliasNode:
			r.fault(value, joinKey(path, key.Value), "is an alias; aliases are not taken", "")
		case seen[key.Value]:
			r.fault(key, joinKey(path, key.Value), "stands here a second time", "")
		default:
			seen[key.Value] = true
			visit(key, value)
		}
	}
}

func (r *reader) group(n *yaml.Node, v reflect.Value, path string) {
	r.pairs(n, path, func(key, value *yaml.Node) {
		field, ok := child(v, key.Value)
		if !ok {
			r.fault(key, joinKey(path, key.Value), "no such key", suggest(split(path), key.Value, namesOf(v)))
			return
		}
		r.value(value, field, joinKey(path, key.Value))
	})
}

func split(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

func (r *reader) value(n *yaml.Node, v reflect.Value, path string) {
	switch {
	case v.Type() == reflect.TypeFor[map[string]*Plugin]():
		r.plugins(n, v, path)
	case v.Type() == reflect.TypeFor[map[string]any]():
		r.free(n, v, path)
	case v.Kind() == reflect.Struct:
		r.group(n, v, path)
	default:
		r.leaf(n, v, path)
	}
}

// plugins reads the plugins section: the plugins that it names are those there
// are. One that has a default begins as it.
func (r *reader) plugins(n *yaml.Node, v reflect.Value, path string) {
	defaults := v.Interface().(map[string]*Plugin)
	named := map[string]*Plugin{}
	r.pairs(n, path, func(key, value *yaml.Node) {
		plugin := defaults[key.Value]
		if plugin == nil {
			plugin = defaultPlugin()
		}
		named[key.Value] = plugin
		if value.ShortTag() != "!!null" {
			r.group(value, reflect.ValueOf(plugin).Elem(), joinKey(path, key.Value))
		}
	})
	v.Set(reflect.ValueOf(named))
}

// free reads a plugin's own settings over its default ones.
func (r *reader) free(n *yaml.Node, v reflect.Value, path string) {
	if n.ShortTag() == "!!null" {
		return
	}
	settings, _ := v.Interface().(map[string]any)
	if settings == nil {
		settings = map[string]any{}
	}
	r.pairs(n, path, func(key, value *yaml.Node) {
		plain, err := plainValue(value)
		if err != nil {
			r.fault(value, joinKey(path, key.Value), err.Error(), "")
			return
		}
		settings[key.Value] = plain
	})
	v.Set(reflect.ValueOf(settings))
	r.setBy(n, path)
}

func (r *reader) leaf(n *yaml.Node, v reflect.Value, path string) {
	var err error
	switch {
	case v.Type() == reflect.TypeFor[[]string]() && n.Kind == yaml.SequenceNode:
		err = setList(n, v)
	case n.Kind != yaml.ScalarNode || v.Type() == reflect.TypeFor[[]string]():
		err = fmt.Errorf("takes a %s, %s stands there", kindOf(v.Type()), nodeKind(n))
	case n.ShortTag() == "!!null":
		err = errors.New(`has no value; write "" for an empty text, or leave the key out`)
	default:
		err = setText(v, n.Value)
	}
	if err != nil {
		r.fault(n, path, err.Error(), "")
		return
	}
	r.setBy(n, path)
}

func (r *reader) setBy(n *yaml.Node, path string) {
	r.origin[path] = Origin{Place: r.place(n), base: r.base}
}

func setList(n *yaml.Node, v reflect.Value) error {
	list := make([]string, 0, len(n.Content))
	for i, entry := range n.Content {
		if entry.Kind != yaml.ScalarNode || entry.ShortTag() == "!!null" {
			return fmt.Errorf("entry %d is no text", i+1)
		}
		list = append(list, entry.Value)
	}
	if len(list) == 0 {
		list = nil
	}
	v.Set(reflect.ValueOf(list))
	return nil
}

// plainValue is a node as JSON could write it.
func plainValue(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if _, twice := object[n.Content[i].Value]; twice || n.Content[i].ShortTag() != "!!str" {
				return nil, fmt.Errorf("key %q is no text, or stands there twice", n.Content[i].Value)
			}
			value, err := plainValue(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			object[n.Content[i].Value] = value
		}
		return object, nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, entry := range n.Content {
			value, err := plainValue(entry)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	case yaml.ScalarNode:
		return plainScalar(n)
	default:
		return nil, errors.New("is an alias; aliases are not taken")
	}
}

func plainScalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!int", "!!float", "!!bool", "!!null":
		var value any
		if err := n.Decode(&value); err != nil {
			return nil, fmt.Errorf("read %q: %w", n.Value, err)
		}
		return value, nil
	}
	return n.Value, nil
}

func nodeKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a group of keys"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	default:
		return "a value"
	}
}
