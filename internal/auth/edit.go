package auth

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"go.yaml.in/yaml/v4"
)

// ErrNoSuchToken is Revoke's error for a name that no token has.
var ErrNoSuchToken = errors.New("there is no such token")

// Add puts a token into a tokens file, which is made (mode 0600) when it is not
// there. Comments stay. The file is replaced in one step, so that a gateway that
// reads it meanwhile sees it before or after.
func Add(path string, t Token) error {
	return edit(path, func(list *yaml.Node) error {
		list.Style &^= yaml.FlowStyle
		list.Content = append(list.Content, nodeOf(t))
		return nil
	})
}

// Revoke takes a token out of a tokens file, in one step.
func Revoke(path, name string) error {
	return edit(path, func(list *yaml.Node) error {
		for i, n := range list.Content {
			if valueOf(n, "name") == name {
				list.Content = append(list.Content[:i], list.Content[i+1:]...)
				return nil
			}
		}
		return ErrNoSuchToken
	})
}

// edit changes a file's list of tokens. The folder is locked meanwhile, against a
// second edit.
func edit(path string, change func(list *yaml.Node) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // the file is replaced, not a link to it
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("change the tokens file: %w", err)
	}
	defer folder.Close()
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock the folder of the tokens file: %w", err)
	}
	document, list, err := load(path)
	if err != nil {
		return err
	}
	if err := change(list); err != nil {
		return err
	}
	var text bytes.Buffer
	if len(list.Content) == 0 {
		list.Style |= yaml.FlowStyle // "tokens: []"
	}
	dumper, err := yaml.NewDumper(&text, yaml.WithIndent(2))
	if err != nil {
		return fmt.Errorf("write the tokens file: %w", err)
	}
	if err := errors.Join(dumper.Dump(document), dumper.Close()); err != nil {
		return fmt.Errorf("write the tokens file: %w", err)
	}
	if _, err := ParseFile(path, text.Bytes()); err != nil {
		return fmt.Errorf("change the tokens file: it would not be taken afterwards:\n%w", err)
	}
	return replace(folder, path, text.Bytes())
}

const heading = ` Named tokens: 'gateway token new NAME' adds one, 'gateway token revoke NAME' takes one out.
 A running gateway reads changes within seconds. Tokens themselves do not stand here.`

// load reads a file that ParseFile takes as a tree that keeps its comments. A
// file that is not there is an empty one.
func load(path string) (document, list *yaml.Node, err error) {
	text, err := readTokens(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = nil
	case err != nil:
		return nil, nil, err
	}
	if _, err := ParseFile(path, text); err != nil {
		return nil, nil, fmt.Errorf("change the tokens file: it must be right before:\n%w", err)
	}
	document = &yaml.Node{}
	if err := yaml.Load(text, document); err != nil || len(document.Content) == 0 || document.Content[0].ShortTag() == "!!null" {
		list = &yaml.Node{Kind: yaml.SequenceNode}
		root := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "tokens"}, list}}
		root.HeadComment = "#" + string(bytes.ReplaceAll([]byte(heading), []byte("\n"), []byte("\n#")))
		return &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}, list, nil
	}
	root := document.Content[0]
	if root.Kind == yaml.SequenceNode {
		return document, root, nil
	}
	if value := root.Content[1]; value.Kind != yaml.SequenceNode { // tokens: with nothing behind it
		*value = yaml.Node{Kind: yaml.SequenceNode}
	}
	return document, root.Content[1], nil
}

func valueOf(token *yaml.Node, key string) string {
	for i := 0; i+1 < len(token.Content); i += 2 {
		if token.Content[i].Value == key {
			return token.Content[i+1].Value
		}
	}
	return ""
}

func nodeOf(t Token) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	put := func(key string, value *yaml.Node) {
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
	}
	text := func(value string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	}
	number := func(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: value} }
	put("name", text(t.Name))
	put("sha256", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: hex.EncodeToString(t.SHA256[:])})
	scopes := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, scope := range t.Scopes {
		scopes.Content = append(scopes.Content, text(scope))
	}
	put("scopes", scopes)
	if t.Profile != "" {
		put("profile", text(t.Profile))
	}
	if !t.NotBefore.IsZero() {
		put("not_before", number(t.NotBefore.UTC().Format(time.RFC3339)))
	}
	if !t.Expires.IsZero() {
		put("expires", number(t.Expires.UTC().Format(time.RFC3339)))
	}
	if t.Rate > 0 {
		put("rate", text(FormatRate(t.Rate)))
		put("burst", number(strconv.Itoa(t.Burst)))
	}
	if t.Concurrency > 0 {
		put("concurrency", number(strconv.Itoa(t.Concurrency)))
	}
	return n
}

// FormatRate is a rate as ParseRate reads it, by the second where it is whole.
func FormatRate(perSecond float64) string {
	for _, unit := range []struct {
		name    string
		seconds float64
	}{{"s", 1}, {"m", 60}, {"h", 3600}} {
		count := perSecond * unit.seconds
		if rounded := float64(int(count + 0.5)); rounded >= 1 && rounded-count < 1e-6 && count-rounded < 1e-6 {
			return strconv.Itoa(int(rounded)) + "/" + unit.name
		}
	}
	return strconv.FormatFloat(perSecond, 'g', -1, 64) + "/s"
}

// replace puts text where the file is, in one step, and owned as it was.
func replace(folder *os.File, path string, text []byte) (err error) {
	f, err := os.CreateTemp(folder.Name(), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("write the tokens file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // it may be gone already
			err = fmt.Errorf("write the tokens file: %w", err)
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, keepOwner(f, path), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return folder.Sync()
}

// keepOwner lets a gateway that runs as another user than the one who edits go on
// reading its file.
func keepOwner(f *os.File, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() && int(owner.Gid) == os.Getegid() {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}
