package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Bounds of a folder, so that a wrong path is told and not read whole.
const (
	maxFiles     = 20_000
	maxFileBytes = 4 << 20
	maxRegoBytes = 1 << 20 // of all Rego files: compiled they take some hundred times as much
	maxAllBytes  = 64 << 20
	maxFolders   = 8
)

// Names in a folder; see docs and the package gateway's contract.
const (
	entryFile    = "main.rego"
	profilesFile = "profiles.yaml"
	schemasDir   = "schemas"
	corpusDir    = "corpus"
	testDir      = "testdata"
	regoExt      = ".rego"
	testSuffix   = "_test.rego"
)

// folder is the files of a policy that count, by path, as they were read.
type folder struct {
	rego     map[string]string
	schemas  map[string][]byte
	corpus   map[string][]byte
	profiles []byte   // nil: there is no profiles.yaml
	unread   []string // files that OPA's own tools read, and a gateway does not

	bytes, regoBytes int
}

// readFolder reads every file that counts. Hidden names are passed over (a
// ConfigMap's ..data among them), and so are Rego tests and testdata. Links are
// followed, to folders too: a ConfigMap is made of them.
func readFolder(fsys fs.FS) (*folder, error) {
	f := &folder{rego: map[string]string{}, schemas: map[string][]byte{}, corpus: map[string][]byte{}}
	w := &walker{fsys: fsys, take: f.take}
	if err := w.walk(".", 0); err != nil {
		return nil, err
	}
	if _, ok := f.rego[entryFile]; !ok {
		return nil, fmt.Errorf("read policy folder: no %s", entryFile)
	}
	return f, nil
}

// walker reads what is below a folder, links followed.
type walker struct {
	fsys fs.FS
	take func(fsys fs.FS, name string) error
	seen int // files
}

func (w *walker) walk(dir string, depth int) error {
	if depth > maxFolders {
		return fmt.Errorf("%s: it lies more than %d folders deep: does a link lead back?", dir, maxFolders)
	}
	entries, err := fs.ReadDir(w.fsys, dir)
	if err != nil {
		return about(dir, err)
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if strings.HasPrefix(entry.Name(), ".") || name == testDir {
			continue
		}
		isFolder, err := w.isFolder(name, entry)
		switch {
		case err != nil:
		case isFolder:
			err = w.walk(name, depth+1)
		default:
			err = w.file(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) isFolder(name string, entry fs.DirEntry) (bool, error) {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.IsDir(), nil
	}
	info, err := fs.Stat(w.fsys, name)
	if err != nil {
		return false, about(name, err)
	}
	return info.IsDir(), nil
}

func (w *walker) file(name string) error {
	if w.seen++; w.seen > maxFiles {
		return fmt.Errorf("read policy folder: more than %d files: is this a policy folder?", maxFiles)
	}
	return w.take(w.fsys, name)
}

// take reads name if it is a file that counts.
func (f *folder) take(fsys fs.FS, name string) error {
	keep := f.keeper(name)
	if keep == nil {
		if base := path.Base(name); base == "data.json" || base == "data.yaml" || base == "data.yml" {
			f.unread = append(f.unread, name)
		}
		return nil
	}
	body, err := readFile(fsys, name)
	if err != nil {
		return about(name, err)
	}
	if f.bytes += len(body); f.bytes > maxAllBytes {
		return fmt.Errorf("%s: with it the policy folder is larger than %d bytes", name, maxAllBytes)
	}
	keep(body)
	if _, ok := f.rego[name]; ok {
		f.regoBytes += len(body)
	}
	if f.regoBytes > maxRegoBytes {
		return fmt.Errorf("%s: with it the Rego files are larger than %d bytes", name, maxRegoBytes)
	}
	return nil
}

// about is an error that begins with the file that it is about.
func about(name string, err error) error {
	if name == "." {
		return fmt.Errorf("read policy folder: %w", err)
	}
	if at := new(fs.PathError); errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// keeper says where a file goes; nil: it does not count.
func (f *folder) keeper(name string) func(body []byte) {
	top, _, _ := strings.Cut(name, "/")
	switch ext := path.Ext(name); {
	case top == corpusDir:
		return func(body []byte) { f.corpus[name] = body }
	case name == profilesFile:
		return func(body []byte) { f.profiles = body }
	case top == schemasDir && ext == ".json":
		return func(body []byte) { f.schemas[name] = body }
	case ext == regoExt && !strings.HasSuffix(name, testSuffix):
		return func(body []byte) { f.rego[name] = string(body) }
	}
	return nil
}

// readFile looks before it opens: opening a pipe waits for its other end.
func readFile(fsys fs.FS, name string) (body []byte, err error) {
	if info, err := fs.Stat(fsys, name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	body, err = io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(body) > maxFileBytes {
		err = fmt.Errorf("it is larger than %d bytes", maxFileBytes)
	}
	return body, err
}

// errNotRegular is the end of a pipe, a socket or a device.
var errNotRegular = errors.New("it is not a regular file")

// digest covers what decides: rules, profiles and schemas with their paths. The
// corpus only proves them.
func (f *folder) digest() string {
	files := map[string]string{}
	for name, body := range f.rego {
		files[name] = body
	}
	for name, body := range f.schemas {
		files[name] = string(body)
	}
	if f.profiles != nil {
		files[profilesFile] = string(f.profiles)
	}
	h := sha256.New()
	for _, name := range sortedKeys(files) {
		fmt.Fprintf(h, "%d:%s%d:%s", len(name), name, len(files[name]), files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// contents is a digest of all files that count, the corpus included; of a folder
// that cannot be read, of the reason.
func contents(fsys fs.FS) string {
	h := sha256.New()
	f, err := readFolder(fsys)
	if err != nil {
		fmt.Fprintf(h, "error %v", err)
		return hex.EncodeToString(h.Sum(nil))
	}
	fmt.Fprintln(h, f.digest())
	for _, name := range sortedKeys(f.corpus) {
		fmt.Fprintf(h, "%d:%s%d:%s", len(name), name, len(f.corpus[name]), f.corpus[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
