package pluginhost

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// PinnedFile is a file that a plugin's program reads when it starts, its script,
// with the digest that it must have.
type PinnedFile struct {
	Path   string // absolute
	SHA256 string // hex
}

// maxFiles bounds the pinned files of a plugin, together, in bytes.
const maxFiles = 64 << 20

func (p Plugin) checkFiles() error {
	if len(p.Files) > 0 && p.Trust == TrustBuilt {
		return fmt.Errorf("plugin %q: files have no meaning with trust: built", p.Name)
	}
	for _, f := range p.Files {
		if sum, err := hex.DecodeString(f.SHA256); err != nil || len(sum) != sha256.Size || !filepath.IsAbs(f.Path) {
			return fmt.Errorf("plugin %q: file %q needs an absolute path and a sha256 of 64 hex digits", p.Name, f.Path)
		}
	}
	return nil
}

// copyFiles puts copies of the pinned files into dir, where they lie as they did
// below their common folder, and gives the arguments with the copies' names: what
// was checked is what is read. An argument that is a file without a digest is
// refused: the program's own digest says nothing of it.
func (p Plugin) copyFiles(dir string) (args []string, err error) {
	args = slices.Clone(p.Args)
	if p.Trust != TrustPinned {
		return args, nil
	}
	copies, err := p.copies(dir)
	if err != nil {
		return nil, err
	}
	for i, arg := range args {
		if name, ok := copies[filepath.Clean(arg)]; ok {
			args[i] = name
			continue
		}
		if info, err := os.Stat(arg); filepath.IsAbs(arg) && err == nil && info.Mode().IsRegular() {
			return nil, fmt.Errorf("%w: the argument %q is a file whose sha256 is not pinned: name it under files", errMistrust, arg)
		}
	}
	return args, nil
}

// copies gives the copy's name of each pinned file.
func (p Plugin) copies(dir string) (map[string]string, error) {
	names, left := map[string]string{}, int64(maxFiles)
	common := p.commonFolder()
	for _, f := range p.Files {
		below, err := filepath.Rel(common, f.Path)
		if err != nil {
			return nil, fmt.Errorf("copy a plugin's file: %w", err)
		}
		text, err := readPinned(f, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(text))
		name := filepath.Join(dir, below)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, fmt.Errorf("copy a plugin's file: %w", err)
		}
		if err := os.WriteFile(name, text, 0o400); err != nil {
			return nil, fmt.Errorf("copy a plugin's file: %w", err)
		}
		names[filepath.Clean(f.Path)] = name
	}
	return names, nil
}

func (p Plugin) commonFolder() string {
	common := ""
	for i, f := range p.Files {
		folder := filepath.Dir(f.Path)
		if i == 0 {
			common = folder
		}
		for common != "/" && folder != common && !strings.HasPrefix(folder, common+"/") {
			common = filepath.Dir(common)
		}
	}
	return common
}

// readPinned reads a file once, and proves what it has read.
func readPinned(f PinnedFile, most int64) ([]byte, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, fmt.Errorf("open a plugin's file: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("look at a plugin's file: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %q is not a regular file", errMistrust, f.Path)
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, fmt.Errorf("read a plugin's file: %w", err)
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("%w: the pinned files have more than %d bytes together", errMistrust, maxFiles)
	}
	if got := sha256.Sum256(text); !strings.EqualFold(hex.EncodeToString(got[:]), f.SHA256) {
		return nil, fmt.Errorf("%w: the sha256 of %q is %x, and %s is pinned", errMistrust, f.Path, got, f.SHA256)
	}
	return text, nil
}
