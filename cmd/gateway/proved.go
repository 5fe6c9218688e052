package main

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sluice-gateway/sluice/policies"
)

// proved says whether a policy folder is, file by file, the one inside this
// binary, whose corpus was run when the binary was tested.
func proved(folder fs.FS) bool {
	theirs, err := policyFiles(folder)
	if err != nil {
		return false
	}
	ours, err := policyFiles(policies.FS())
	if err != nil || len(ours) != len(theirs) {
		return false
	}
	for name, text := range ours {
		if have, ok := theirs[name]; !ok || !bytes.Equal(have, text) {
			return false
		}
	}
	return true
}

// policyFiles reads what belongs to a policy; tests' data and Go files do not.
func policyFiles(folder fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Type()&fs.ModeSymlink != 0:
			return errors.New(name + " is a link: what it leads to is not compared")
		case entry.IsDir() && name == "testdata":
			return fs.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".rego", ".yaml", ".yml", ".json", ".py", ".txt"}, path.Ext(name)):
			return nil
		case strings.HasPrefix(path.Base(name), "."), strings.HasPrefix(path.Base(name), "_"):
			return nil // as go:embed leaves them out
		}
		files[name], err = fs.ReadFile(folder, name)
		return err
	})
	return files, err
}
