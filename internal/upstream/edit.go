package upstream

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// lineWidth is where lists of the pin break.
const lineWidth = 120

// edit changes the pin as a tree, so that comments and order stay.
func edit(text []byte, change func(root *yaml.Node) error) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Load(text, &document); err != nil {
		return nil, fmt.Errorf("read %s: %w", PinFile, err)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
		return nil, fmt.Errorf("read %s: it is not one document", PinFile)
	}
	if err := change(document.Content[0]); err != nil {
		return nil, err
	}
	out, err := yaml.Dump(&document, yaml.WithLineWidth(lineWidth))
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", PinFile, err)
	}
	out = spaced(out)
	if _, err := ReadPin(out); err != nil {
		return nil, fmt.Errorf("write %s: it would not be well formed: %w", PinFile, err)
	}
	return out, nil
}

// spaced puts an empty line before every block at the left edge.
func spaced(text []byte) []byte {
	var out []string
	for line := range strings.Lines(string(text)) {
		if n := len(out); n > 0 && !strings.ContainsAny(line[:1], " -\n") && strings.ContainsAny(out[n-1][:1], " -") {
			out = append(out, "\n")
		}
		out = append(out, line)
	}
	return []byte(strings.Join(out, ""))
}

// member is the value of a key in a mapping; nil: there is none.
func member(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content) && node.Kind == yaml.MappingNode; i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// put sets a key; the comment of an old value that was null goes with it.
func put(node *yaml.Node, key string, value *yaml.Node) {
	if old := member(node, key); old != nil {
		if old.Tag != "!!null" || value.Tag == "!!null" {
			value.LineComment = old.LineComment
		}
		value.HeadComment, value.FootComment = old.HeadComment, old.FootComment
		*old = *value
		return
	}
	node.Content = append(node.Content, scalar(key), value)
}

func drop(node *yaml.Node, key string) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			node.Content = slices.Delete(node.Content, i, i+2)
			return
		}
	}
}

func scalar(text string) *yaml.Node {
	if text == "" {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	node := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if isDate(text) {
		node.Tag = "!!timestamp"
	}
	return node
}

func texts(entries []string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, e := range entries {
		node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: e})
	}
	return node
}

// recordReview writes down the policy that was reviewed.
func recordReview(text []byte, r Reviewed) ([]byte, error) {
	return edit(text, func(root *yaml.Node) error {
		block := member(root, "policy")
		if block == nil || block.Kind != yaml.MappingNode {
			block = &yaml.Node{Kind: yaml.MappingNode}
			put(root, "policy", block)
			block = member(root, "policy")
		}
		put(block, "lists_sha256", scalar(r.ListsSHA256))
		put(block, "profiles_sha256", scalar(r.ProfilesSHA256))
		put(block, "reviewed", scalar(r.Reviewed))
		return nil
	})
}

// recordUpstream writes down an upstream at another state. Files keep their
// order.
func recordUpstream(text []byte, u Upstream) ([]byte, error) {
	return edit(text, func(root *yaml.Node) error {
		list := member(root, "upstreams")
		for _, node := range list.Content {
			if name := member(node, "name"); name == nil || name.Value != u.Name {
				continue
			}
			if u.Commit != "" {
				put(node, "commit", scalar(u.Commit))
				put(node, "date", scalar(u.Date))
			}
			files := member(node, "files")
			for i, f := range u.Files {
				recordFile(files.Content[i], f)
			}
			return nil
		}
		return fmt.Errorf("write %s: there is no upstream %q", PinFile, u.Name)
	})
}

func recordFile(node *yaml.Node, f File) {
	put(node, "path", scalar(f.Path))
	put(node, "sha256", scalar(f.SHA256))
	if len(f.From) > 0 {
		from := &yaml.Node{Kind: yaml.MappingNode}
		for _, list := range listNames() {
			if sets, ok := f.From[list]; ok {
				put(from, list, texts(sets))
			}
		}
		put(node, "from", from)
	}
	if f.Rules == nil {
		return
	}
	rules := member(node, "rules")
	if rules == nil || rules.Kind != yaml.MappingNode {
		put(node, "rules", &yaml.Node{Kind: yaml.MappingNode})
		rules = member(node, "rules")
	}
	for _, list := range setLists() {
		entries := f.Rules.list(list)
		if entries == nil {
			drop(rules, list)
			continue
		}
		put(rules, list, texts(entries))
	}
	for _, flag := range []string{ListPrivateAttrs, ListPrivateNames} {
		if f.Rules.flag(flag) {
			put(rules, flag, scalar("true"))
		} else {
			drop(rules, flag)
		}
	}
	if len(rules.Content) == 0 {
		drop(node, "rules")
	}
}

// Replace writes a file of the policy folder anew, whole or not at all.
func Replace(dir, name string, text []byte) error {
	target := filepath.Join(dir, name)
	if old, err := os.ReadFile(target); err == nil && bytes.Equal(old, text) {
		return nil
	}
	file, err := os.CreateTemp(dir, "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(text)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(file.Name(), target)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	return nil
}
