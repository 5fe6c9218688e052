package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v4"
)

// The bounds of a file of named tokens.
const (
	maxFileBytes = 1 << 20
	maxTokens    = 4096
)

// DefaultName is the journal's name of the operator's one token; no named token
// may have it.
const DefaultName = "default"

// ReadFile reads a file of named tokens: a list, by itself or under the key
// tokens. The error names every fault with its place, and never holds a token.
func ReadFile(path string) ([]Token, error) {
	text, err := readTokens(path)
	if err != nil {
		return nil, err
	}
	tokens, err := ParseFile(path, text)
	if err != nil {
		return nil, fmt.Errorf("read the tokens file:\n%w", err)
	}
	return tokens, nil
}

// readTokens reads a file that nobody but its owner can change.
func readTokens(path string) ([]byte, error) {
	// Not blocking: a path may name a pipe, which is refused below.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read the tokens file: %w; 'gateway token new NAME' makes it", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the tokens file: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read the tokens file: %q is not a regular file", path)
	case info.Mode().Perm()&0o037 != 0:
		return nil, fmt.Errorf("read the tokens file: others may use %q (mode %04o): run chmod 600 on it", path, info.Mode().Perm())
	case info.Size() > maxFileBytes:
		return nil, fmt.Errorf("read the tokens file: %q is larger than 1 MiB", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	if err != nil {
		return nil, fmt.Errorf("read the tokens file: %w", err)
	}
	return text, nil
}

// ParseFile reads the text of a file of named tokens; name stands in errors.
func ParseFile(name string, text []byte) ([]Token, error) {
	p := &parser{file: name, names: map[string]bool{}, digests: map[[sha256.Size]byte]string{}}
	root, err := p.document(text)
	if err != nil {
		return nil, err
	}
	list, err := p.list(root)
	if err != nil {
		return nil, err
	}
	if list != nil && len(list.Content) > maxTokens {
		return nil, p.fault(list, fmt.Sprintf("holds %d tokens, at most %d are taken", len(list.Content), maxTokens))
	}
	tokens := []Token{}
	for i := 0; list != nil && i < len(list.Content); i++ {
		tokens = append(tokens, p.token(list.Content[i]))
	}
	return tokens, errors.Join(p.faults...)
}

// parser gathers what is wrong with a file.
type parser struct {
	file    string
	faults  []error
	names   map[string]bool
	digests map[[sha256.Size]byte]string
}

func (p *parser) fault(n *yaml.Node, problem string) error {
	return fmt.Errorf("%s:%d:%d: %s", p.file, n.Line, n.Column, problem)
}

func (p *parser) add(n *yaml.Node, problem string) { p.faults = append(p.faults, p.fault(n, problem)) }

// document gives the root of the one document; nil: the file is empty.
func (p *parser) document(text []byte) (*yaml.Node, error) {
	var documents []yaml.Node
	if err := yaml.Load(text, &documents, yaml.WithAllDocuments()); err != nil {
		var located *yaml.LoadError
		if errors.As(err, &located) {
			return nil, fmt.Errorf("%s:%d:%d: is no YAML", p.file, located.Mark.Line, located.Mark.Column)
		}
		return nil, fmt.Errorf("%s: is no YAML", p.file)
	}
	if len(documents) > 1 {
		return nil, p.fault(&documents[1], "a second document begins; one is taken")
	}
	if len(documents) == 0 {
		return nil, nil
	}
	root := &documents[0]
	if root.Kind == yaml.DocumentNode {
		root = root.Content[0]
	}
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		return nil, nil
	}
	return root, nil
}

// list finds the sequence of tokens.
func (p *parser) list(root *yaml.Node) (*yaml.Node, error) {
	if root == nil || root.Kind == yaml.SequenceNode {
		return root, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, p.fault(root, "a list of tokens belongs here")
	}
	var list *yaml.Node
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		switch {
		case key.Value != "tokens":
			return nil, p.fault(key, fmt.Sprintf("there is no key %q; the list of tokens stands under tokens", shown(key.Value)))
		case list != nil:
			return nil, p.fault(key, "tokens stands here a second time")
		case value.Kind == yaml.ScalarNode && value.ShortTag() == "!!null":
			list = &yaml.Node{Kind: yaml.SequenceNode, Line: value.Line, Column: value.Column}
		case value.Kind != yaml.SequenceNode:
			return nil, p.fault(value, "a list of tokens belongs here")
		default:
			list = value
		}
	}
	return list, nil
}

// shown is a text of the file, as far as it may stand in an error: what could be
// a token does not.
func shown(text string) string {
	if len(text) >= ShortToken {
		return text[:3] + "…"
	}
	return text
}

// field reads one key of a token from its node.
type field struct {
	name string
	read func(t *Token, n *yaml.Node) error
}

func fields() []field {
	return []field{
		{"name", func(t *Token, n *yaml.Node) error { t.Name = n.Value; return NameFault(n.Value) }},
		{"sha256", func(t *Token, n *yaml.Node) (err error) { t.SHA256, err = parseDigest(n.Value); return err }},
		{"scopes", func(t *Token, n *yaml.Node) (err error) { t.Scopes, err = readScopes(n); return err }},
		{"profile", func(t *Token, n *yaml.Node) error { t.Profile = n.Value; return nil }},
		{"not_before", func(t *Token, n *yaml.Node) (err error) { t.NotBefore, err = ParseTime(n.Value); return err }},
		{"expires", func(t *Token, n *yaml.Node) (err error) { t.Expires, err = ParseTime(n.Value); return err }},
		{"rate", func(t *Token, n *yaml.Node) error { return setRate(t, n.Value) }},
		{"burst", func(t *Token, n *yaml.Node) (err error) { t.Burst, err = ParseCount(n.Value); return err }},
		{"concurrency", func(t *Token, n *yaml.Node) (err error) { t.Concurrency, err = ParseCount(n.Value); return err }},
	}
}

func (p *parser) token(n *yaml.Node) (t Token) {
	if n.Kind != yaml.MappingNode {
		p.add(n, "a token is a group of keys: name, sha256, scopes …")
		return t
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if seen[key.Value] {
			p.add(key, shown(key.Value)+" stands here a second time")
			continue
		}
		seen[key.Value] = true
		p.field(&t, key, value)
	}
	for _, needed := range []string{"name", "sha256", "scopes"} {
		if !seen[needed] {
			p.add(n, "the token has no "+needed)
		}
	}
	p.whole(n, t)
	return t
}

func (p *parser) field(t *Token, key, value *yaml.Node) {
	all := fields()
	at := slices.IndexFunc(all, func(f field) bool { return f.name == key.Value })
	switch {
	case key.Kind != yaml.ScalarNode || at < 0:
		p.add(key, unknownKey(key.Value, all))
	case value.Kind == yaml.AliasNode || value.ShortTag() == "!!null":
		p.add(value, key.Value+" has no value")
	case (value.Kind == yaml.ScalarNode) == (key.Value == "scopes"):
		p.add(value, key.Value+" takes "+map[bool]string{true: "a list", false: "a single value"}[key.Value == "scopes"])
	default:
		if err := all[at].read(t, value); err != nil {
			p.add(value, key.Value+" "+err.Error())
		}
	}
}

func unknownKey(key string, all []field) string {
	if slices.Contains([]string{"token", "secret", "password"}, key) {
		return "a token itself never stands here: write its digest as sha256 ('gateway token new' does)"
	}
	var names []string
	for _, f := range all {
		names = append(names, f.name)
	}
	return fmt.Sprintf("there is no key %q; did you mean %s?", shown(key), nearest(key, names))
}

// whole checks what no field can see alone.
func (p *parser) whole(n *yaml.Node, t Token) {
	if t.Name != "" && p.names[t.Name] {
		p.add(n, fmt.Sprintf("there is another token %q", t.Name))
	}
	if other, twice := p.digests[t.SHA256]; twice {
		p.add(n, fmt.Sprintf("the sha256 is that of %q too", other))
	}
	if !t.Expires.IsZero() && !t.Expires.After(t.NotBefore) {
		p.add(n, "it expires before it begins to be valid")
	}
	if t.Burst > 0 && t.Rate <= 0 {
		p.add(n, "burst has no meaning without rate")
	}
	p.names[t.Name] = true
	if t.SHA256 != [sha256.Size]byte{} {
		p.digests[t.SHA256] = t.Name
	}
}

func nearest(unknown string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int {
		return levenshtein.ComputeDistance(shown(unknown), a) - levenshtein.ComputeDistance(shown(unknown), b)
	})
}

var tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// NameFault says what is wrong with a token's name; nil: nothing is.
func NameFault(name string) error {
	switch {
	case name == DefaultName:
		return fmt.Errorf("must not be %q: that is the operator's token", name)
	case !tokenName.MatchString(name):
		return errors.New("must be 1 to 63 of A-Z, a-z, 0-9, '.', '_' and '-', and begin with a letter or digit")
	}
	return nil
}

func parseDigest(text string) (digest [sha256.Size]byte, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != sha256.Size {
		return digest, errors.New("must be 64 hexadecimal digits: the SHA-256 of the token")
	}
	copy(digest[:], raw)
	if digest == sha256.Sum256(nil) || digest == [sha256.Size]byte{} {
		return digest, errors.New("is that of no token")
	}
	return digest, nil
}

func readScopes(n *yaml.Node) ([]string, error) {
	var list []string
	for _, entry := range n.Content {
		if entry.Kind != yaml.ScalarNode {
			return nil, errors.New("takes a list of plain words")
		}
		list = append(list, entry.Value)
	}
	return list, ScopesFault(list)
}

// ScopesFault says what is wrong with a token's scopes; nil: nothing is.
func ScopesFault(list []string) error {
	if len(list) == 0 {
		return errors.New("is empty: such a token could do nothing; known are " + strings.Join(Scopes(), ", "))
	}
	for i, scope := range list {
		if !slices.Contains(Scopes(), scope) {
			return fmt.Errorf("names %q, which is none; did you mean %s?", shown(scope), nearest(scope, Scopes()))
		}
		if slices.Contains(list[:i], scope) {
			return fmt.Errorf("names %q twice", scope)
		}
	}
	return nil
}

// ParseTime reads a moment: RFC 3339, or a date, which is its beginning in UTC.
func ParseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write it like \"2026-12-31\" or \"2026-12-31T23:59:59Z\"", shown(text))
}

// ParseCount reads a whole number from 1 on.
func ParseCount(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is no whole number from 1 on", shown(text))
	}
	return int(n), nil
}

// setRate sets a token's rate and, where none is set, its burst: "60/m" is 60
// requests a minute, 60 of them at once.
func setRate(t *Token, text string) error {
	perSecond, burst, err := ParseRate(text)
	if err != nil {
		return err
	}
	t.Rate = perSecond
	if t.Burst == 0 {
		t.Burst = burst
	}
	return nil
}

// ParseRate reads "5", "5/s", "60/m" or "1000/h": requests a second, and how many
// of the unit's may come at once.
func ParseRate(text string) (perSecond float64, burst int, err error) {
	number, unit, _ := strings.Cut(text, "/")
	count, err := strconv.ParseFloat(number, 64)
	seconds, known := map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600}[unit]
	const most = 1e6
	if err != nil || !known || !(count > 0 && count <= most) {
		return 0, 0, fmt.Errorf("%q is no rate; write it like \"5/s\", \"60/m\" or \"1000/h\"", shown(text))
	}
	return count / seconds, max(1, int(count)), nil
}
