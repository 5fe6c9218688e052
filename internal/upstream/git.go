package upstream

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// maxCommits bounds every walk through a history.
const maxCommits = 200_000

// commit finds a commit of the repository.
func (s *Source) commit(hash string) (*object.Commit, error) {
	c, err := s.repo.CommitObject(plumbing.NewHash(hash))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, fmt.Errorf("%w: %s in %s", ErrNoCommit, hash, s.label)
	}
	if err != nil {
		return nil, fmt.Errorf("read the commit %s: %w", hash, err)
	}
	return c, nil
}

// head is the newest commit of a branch, or of what HEAD names. A clone knows
// branches by its remote.
func (s *Source) head(branch string) (*object.Commit, error) {
	names := []plumbing.ReferenceName{plumbing.HEAD}
	if branch != "" {
		names = []plumbing.ReferenceName{plumbing.NewRemoteReferenceName("origin", branch), plumbing.NewBranchReferenceName(branch)}
		if s.clone == "" { // in somebody's checkout the branch itself counts
			names[0], names[1] = names[1], names[0]
		}
	}
	for _, name := range names {
		ref, err := s.repo.Reference(name, true)
		if errors.Is(err, plumbing.ErrReferenceNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the branch %q of %s: %w", branch, s.label, err)
		}
		return s.commit(ref.Hash().String())
	}
	if branch == "" {
		return nil, fmt.Errorf("%s has no commit that HEAD names", s.label)
	}
	return nil, fmt.Errorf("%s has no branch %q", s.label, branch)
}

// resolve finds a commit by its whole name.
func (s *Source) resolve(name string) (*object.Commit, error) {
	if !commitForm.MatchString(name) {
		return nil, fmt.Errorf("%q is not a commit: 40 hexadecimal digits", name)
	}
	return s.commit(name)
}

// at reads files as they are in a commit. Nothing is followed out of its tree.
func (s *Source) at(c *object.Commit) reader {
	return func(name string) ([]byte, error) {
		hash, err := blobOf(c, name)
		if err != nil {
			return nil, err
		}
		return s.blob(name, hash)
	}
}

// blob reads the bytes of a file, whose size is looked at first.
func (s *Source) blob(name string, hash plumbing.Hash) ([]byte, error) {
	size, err := s.repo.Storer.EncodedObjectSize(hash)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case size > maxSource:
		return nil, tooLarge(name, size)
	}
	blob, err := s.repo.BlobObject(hash)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	content, err := blob.Reader()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer content.Close()
	text, err := io.ReadAll(io.LimitReader(content, maxSource+1))
	if err == nil && len(text) > maxSource {
		err = tooLarge(name, int64(len(text)))
	}
	return text, err
}

// blobOf walks a path down the tree of a commit, one part at a time.
func blobOf(c *object.Commit, name string) (plumbing.Hash, error) {
	if err := pathFault(name); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	tree, err := c.Tree()
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read the tree of %s: %w", c.Hash, err)
	}
	parts := strings.Split(name, "/")
	hash := plumbing.ZeroHash
	for i := range parts {
		entry, err := entryOf(tree, c.Hash, path.Join(parts[:i+1]...), i == len(parts)-1)
		if errors.Is(err, ErrNoFile) {
			return plumbing.ZeroHash, fmt.Errorf("%w: %s in commit %s", ErrNoFile, name, c.Hash)
		}
		if err != nil {
			return plumbing.ZeroHash, err
		}
		hash = entry.Hash
	}
	return hash, nil
}

// entryOf finds a folder on the way, or the regular file at its end.
func entryOf(tree *object.Tree, at plumbing.Hash, name string, file bool) (*object.TreeEntry, error) {
	entry, err := tree.FindEntry(name)
	switch {
	case errors.Is(err, object.ErrEntryNotFound), errors.Is(err, object.ErrDirectoryNotFound):
		return nil, ErrNoFile
	case err != nil:
		return nil, fmt.Errorf("read the tree of %s: %w", at, err)
	case entry.Mode == filemode.Symlink:
		return nil, fmt.Errorf("%w: %s is a symbolic link in commit %s", ErrRefused, name, at)
	case file != entry.Mode.IsFile(), entry.Mode == filemode.Submodule:
		return nil, fmt.Errorf("%w: %s is not a regular file in commit %s", ErrRefused, name, at)
	}
	return entry, nil
}

// since lists the commits of head that pinned does not have, newest first, and
// says whether pinned is one of head's own.
func since(pinned, head *object.Commit) (list []*object.Commit, descends bool, err error) {
	old := map[plumbing.Hash]bool{}
	if err = walk(pinned, nil, func(c *object.Commit) { old[c.Hash] = true }); err != nil {
		return nil, false, err
	}
	if old[head.Hash] {
		return nil, head.Hash == pinned.Hash, nil
	}
	err = walk(head, func(c *object.Commit) bool {
		descends = descends || c.Hash == pinned.Hash
		return old[c.Hash]
	}, func(c *object.Commit) { list = append(list, c) })
	return list, descends, err
}

// walk visits what can be reached from a commit, each once, not beyond those at
// which to stop. A shallow history ends where it ends.
func walk(from *object.Commit, stop func(*object.Commit) bool, visit func(*object.Commit)) error {
	seen := map[plumbing.Hash]bool{from.Hash: true}
	for waiting := []*object.Commit{from}; len(waiting) > 0; {
		c := waiting[0]
		waiting = waiting[1:]
		if stop != nil && stop(c) {
			continue
		}
		visit(c)
		err := c.Parents().ForEach(func(parent *object.Commit) error {
			if len(seen) > maxCommits {
				return fmt.Errorf("read the history: more than %d commits", maxCommits)
			}
			if !seen[parent.Hash] {
				seen[parent.Hash] = true
				waiting = append(waiting, parent)
			}
			return nil
		})
		if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) && !errors.Is(err, storer.ErrStop) {
			return fmt.Errorf("read the history: %w", err)
		}
	}
	return nil
}

// touches lists which of the paths a commit changed: those in which it differs
// from every parent.
func touches(c *object.Commit, paths []string) []string {
	var touched []string
	for _, name := range paths {
		here, _ := blobOf(c, name)
		differs := c.NumParents() > 0 || !here.IsZero()
		for i := range c.NumParents() {
			parent, err := c.Parent(i)
			if err != nil {
				continue
			}
			there, _ := blobOf(parent, name)
			differs = differs && here != there
		}
		if differs {
			touched = append(touched, name)
		}
	}
	return touched
}
