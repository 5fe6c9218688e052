package library

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// keepFrom takes modules out of the list allowed_imports for every profile but
// those named. Lines are put in; nothing else of the file changes.
func keepFrom(text string, modules, except []string) (string, error) {
	var root yaml.Node
	if err := yaml.Load([]byte(text), &root); err != nil {
		return "", fmt.Errorf("read profiles.yaml: %w", err)
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 {
		return "", fmt.Errorf("read profiles.yaml: it is no mapping")
	}
	lines := strings.SplitAfter(text, "\n")
	file := root.Content[0]
	for i := len(file.Content) - 2; i >= 0; i -= 2 { // from the end: lines before keep their numbers
		name, profile := file.Content[i].Value, file.Content[i+1]
		if slices.Contains(except, name) || (member(profile, "extends") != nil && !slices.Contains(except, member(profile, "extends").Value)) {
			continue // it may import them, or has what the one that it extends takes out
		}
		at, more, err := removal(name, profile, modules)
		if err != nil {
			return "", err
		}
		lines = slices.Insert(lines, at, more...)
	}
	return strings.Join(lines, ""), nil
}

func member(node *yaml.Node, key string) *yaml.Node {
	for i := 0; node != nil && node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// removal is the lines that take modules out for a profile, and behind which
// line they go.
func removal(name string, profile *yaml.Node, modules []string) (at int, lines []string, err error) {
	remove := member(member(member(profile, "lists"), "allowed_imports"), "remove")
	if remove == nil || remove.Kind != yaml.SequenceNode || len(remove.Content) == 0 || remove.Style&yaml.FlowStyle != 0 {
		return 0, nil, fmt.Errorf("profiles.yaml: the profile %s has no lists.allowed_imports.remove with one entry a line: write one, or let the profile import the library (--profiles)", name)
	}
	last := remove.Content[len(remove.Content)-1]
	for _, module := range modules {
		lines = append(lines, strings.Repeat(" ", last.Column-3)+"- "+module+"\n")
	}
	return last.Line, lines, nil
}
