package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folder is a policy folder on this host, for Config.FS. Links in it are
// followed as long as they are relative and stay in it, as those of a ConfigMap
// do: one that leads out is an error, so that no file of the host gets into a
// policy, a message or a log. The folder itself may be a link, and be replaced
// between two loads.
func Folder(dir string) fs.FS { return diskFolder(dir) }

// diskFolder opens the folder anew for each name: one that was replaced is read.
type diskFolder string

var (
	_ fs.ReadDirFS = diskFolder("")
	_ fs.StatFS    = diskFolder("")
)

// Open implements fs.FS.
func (d diskFolder) Open(name string) (fs.File, error) { return d.open(name) }

func (d diskFolder) open(name string) (file *os.File, err error) {
	err = d.in(name, func(root *os.Root) error {
		file, err = root.Open(filepath.FromSlash(name))
		return err
	})
	return file, err
}

// Stat implements fs.StatFS.
func (d diskFolder) Stat(name string) (info fs.FileInfo, err error) {
	err = d.in(name, func(root *os.Root) error {
		info, err = root.Stat(filepath.FromSlash(name))
		return err
	})
	return info, err
}

// ReadDir implements fs.ReadDirFS.
func (d diskFolder) ReadDir(name string) ([]fs.DirEntry, error) {
	file, err := d.open(name)
	if err != nil {
		return nil, err
	}
	entries, err := file.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, errors.Join(err, file.Close())
}

func (d diskFolder) in(name string, use func(*os.Root) error) error {
	if !fs.ValidPath(name) {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return fmt.Errorf("open the policy folder: %w", err)
	}
	err = use(root)
	if err != nil && strings.HasSuffix(err.Error(), "path escapes from parent") { // os has no name for it
		err = &fs.PathError{Op: "open", Path: name, Err: errLeadsOut}
	}
	return errors.Join(err, root.Close())
}

// errLeadsOut is the end of a link that leaves the folder.
var errLeadsOut = errors.New("it is or passes a link that leads out of the policy folder, or an absolute one")
