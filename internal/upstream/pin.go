package upstream

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"go.yaml.in/yaml/v4"
)

// PinFile is the name of the pin in a policy folder.
const PinFile = "upstream.yaml"

// maxPinBytes bounds the pin; the shipped one has a few KiB.
const maxPinBytes = 1 << 20

// Pin is upstream.yaml: what the policy follows and where it means to differ.
type Pin struct {
	Upstreams  []Upstream  `yaml:"upstreams"`
	Exceptions []Exception `yaml:"exceptions"`
	Policy     Reviewed    `yaml:"policy"`
}

// Upstream is one source. Without a commit it is pinned by the digests of its
// files alone.
type Upstream struct {
	Name       string   `yaml:"name"`
	Repository string   `yaml:"repository"` // empty: no address is known
	Branch     string   `yaml:"branch"`     // empty: what the repository's HEAD names
	Profiles   []string `yaml:"profiles"`   // compared with these only
	Commit     string   `yaml:"commit"`     // 40 hexadecimal digits; empty: none is known
	Date       string   `yaml:"date"`       // of the commit, 2006-01-02
	Files      []File   `yaml:"files"`
}

// File is one file of an upstream.
type File struct {
	Path   string `yaml:"path"`   // from the repository's root, with slashes
	SHA256 string `yaml:"sha256"` // of its bytes; empty: not fetched yet
	// From names the sets of the file that make up a rule list. A list that is
	// not here is found by the names of the sets, then by what they hold.
	From  map[string][]string `yaml:"from"`
	Rules *Rules              `yaml:"rules"` // nil: not known yet
}

// Rules are the rule sets of a file, each sorted. A nil list is one that the
// file does not have.
type Rules struct {
	AllowedImports    []string `yaml:"allowed_imports,flow,omitempty"`   // roots; nothing else may be imported
	DeniedImports     []string `yaml:"denied_imports,flow,omitempty"`    // roots
	BannedCalls       []string `yaml:"banned_calls,flow,omitempty"`      // builtins
	BannedAttributes  []string `yaml:"banned_attributes,flow,omitempty"` // on any object
	DeniedNodes       []string `yaml:"denied_nodes,flow,omitempty"`      // classes of Python's ast
	PrivateAttributes bool     `yaml:"private_attributes,omitempty"`     // attributes that begin with _ are refused
	PrivateNames      bool     `yaml:"private_names,omitempty"`          // names that begin with _ are refused
}

// Exception is a difference that is meant. It is an error once there is no such
// difference.
type Exception struct {
	Upstream string `yaml:"upstream"`
	Profile  string `yaml:"profile"` // empty: all of the upstream's
	List     string `yaml:"list"`
	Entry    string `yaml:"entry"`
	When     string `yaml:"when"` // as Finding.When
	Reason   string `yaml:"reason"`
	ReviewBy string `yaml:"review_by"` // 2006-01-02: look again by then
}

// Reviewed records the policy that was last compared with the pin by a person.
type Reviewed struct {
	ListsSHA256    string `yaml:"lists_sha256"`    // of the lists in allowlist.rego
	ProfilesSHA256 string `yaml:"profiles_sha256"` // of what each profile makes of them
	Reviewed       string `yaml:"reviewed"`        // 2006-01-02
}

// Mark is what stands for an upstream in the policy's annotation: its commit,
// or the digest of its file; empty while neither is known.
func (u Upstream) Mark() string {
	if u.Commit != "" || len(u.Files) == 0 {
		return u.Commit
	}
	return u.Files[0].SHA256
}

// verified reports whether every file has a digest.
func (u Upstream) verified() bool {
	return !slices.ContainsFunc(u.Files, func(f File) bool { return f.SHA256 == "" })
}

// ReadPin reads the pin, in which unknown and duplicate keys are errors, and
// proves that it is well formed. The error holds all faults.
func ReadPin(text []byte) (*Pin, error) {
	if len(text) > maxPinBytes {
		return nil, fmt.Errorf("read %s: it is larger than %d bytes", PinFile, maxPinBytes)
	}
	var pin Pin
	if err := yaml.Load(text, &pin, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("read %s: %w", PinFile, err)
	}
	if faults := pin.faults(); len(faults) > 0 {
		return nil, fmt.Errorf("read %s: %w", PinFile, errors.Join(faults...))
	}
	return &pin, nil
}

// Pins reads the pin of a policy folder.
func Pins(folder fs.FS) (*Pin, error) {
	text, err := readFile(folder, PinFile, maxPinBytes)
	if err != nil {
		return nil, fmt.Errorf("read the pin: %w", err)
	}
	return ReadPin(text)
}

// readFile reads a regular file of at most so many bytes.
func readFile(folder fs.FS, name string, most int64) ([]byte, error) {
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is larger than %d bytes", name, most)
	}
	return text, err
}
