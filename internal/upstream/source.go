package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5"
)

// Sentinels of a source.
var (
	// ErrNoCommit is a commit that the source does not have.
	ErrNoCommit = errors.New("the commit is not there")
	// ErrNoFile is a file that the tree does not have.
	ErrNoFile = errors.New("the file is not there")
)

// Source is an upstream that was opened: a repository, a plain folder or one
// file. It is read-only and not safe for concurrent use.
type Source struct {
	label string          // as it may be shown: without credentials
	repo  *git.Repository // nil: a folder or a file
	root  *os.Root        // of a folder
	text  []byte          // of a file
	clone string          // a temporary clone
}

// Open opens a checkout, a bare repository, a folder or a file by its path, or
// a repository by a file:, https: or (on this machine) http: address. The
// caller closes it.
func Open(ctx context.Context, where string) (*Source, error) {
	if where == "" {
		return nil, errors.New("open the upstream: --source names nothing")
	}
	if !strings.Contains(where, "://") {
		return openPath(where, where)
	}
	address, err := url.Parse(where)
	if err != nil {
		return nil, errors.New("open the upstream: the address cannot be read")
	}
	switch address.Scheme {
	case "file":
		if address.Host != "" && address.Host != "localhost" {
			return nil, fmt.Errorf("open the upstream: %s names another machine", address.Redacted())
		}
		return openPath(filepath.FromSlash(address.Path), address.Redacted())
	case "https":
		return fetch(ctx, address)
	case "http":
		if !onThisMachine(address.Hostname()) {
			return nil, fmt.Errorf("open the upstream: %s is not encrypted: use https", address.Redacted())
		}
		return fetch(ctx, address)
	}
	return nil, fmt.Errorf("open the upstream: %q is no address that is read: a path, or file:, https: (clone it by other means and give the path)", address.Scheme+":")
}

func onThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func openPath(path, label string) (*Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open the upstream: %w", err)
	}
	if info.Mode().IsRegular() {
		text, err := readFile(os.DirFS(filepath.Dir(path)), filepath.Base(path), maxSource)
		if err != nil {
			return nil, fmt.Errorf("open the upstream: %w: %w", ErrRefused, err)
		}
		return &Source{label: label, text: text}, nil
	}
	repo, err := git.PlainOpenWithOptions(path, &git.PlainOpenOptions{EnableDotGitCommonDir: true})
	switch {
	case err == nil:
		return &Source{label: label, repo: repo}, nil
	case !errors.Is(err, git.ErrRepositoryNotExists):
		return nil, fmt.Errorf("open the upstream %s: %w", label, err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open the upstream: %w", err)
	}
	return &Source{label: label, root: root}, nil
}

// fetch clones a repository with all its branches into a temporary folder.
func fetch(ctx context.Context, address *url.URL) (*Source, error) {
	dir, err := os.MkdirTemp("", "vendor-sync-")
	if err != nil {
		return nil, fmt.Errorf("fetch the upstream: %w", err)
	}
	s := &Source{label: address.Redacted(), clone: dir}
	s.repo, err = git.PlainCloneContext(ctx, dir, true, &git.CloneOptions{URL: address.String(), NoCheckout: true, Tags: git.NoTags})
	if err != nil {
		text := strings.ReplaceAll(err.Error(), address.String(), address.Redacted())
		return nil, errors.Join(fmt.Errorf("fetch the upstream %s: %s", address.Redacted(), text), s.Close())
	}
	return s, nil
}

// Close releases the source and takes a temporary clone away.
func (s *Source) Close() error {
	var err error
	if s.root != nil {
		err = s.root.Close()
	}
	if s.clone != "" {
		err = errors.Join(err, os.RemoveAll(s.clone))
	}
	return err
}

// reader reads one file of a state of the upstream.
type reader func(path string) ([]byte, error)

// plain reads from a folder or is the file, which has any path.
func (s *Source) plain(path string) ([]byte, error) {
	if s.root == nil {
		return s.text, nil
	}
	parts := strings.Split(path, "/")
	for i := range parts {
		part := filepath.Join(parts[:i+1]...)
		info, err := s.root.Lstat(part)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%w: %s in %s", ErrNoFile, path, s.label)
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", path, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return nil, fmt.Errorf("%w: %s is a symbolic link", ErrRefused, part)
		}
	}
	file, err := s.root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrRefused, path)
	case info.Size() > maxSource:
		return nil, tooLarge(path, info.Size())
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSource+1))
	if err == nil && len(text) > maxSource {
		err = tooLarge(path, int64(len(text)))
	}
	return text, err
}

func tooLarge(path string, size int64) error {
	return fmt.Errorf("%w: %s has %d bytes, at most %d are read", ErrRefused, path, size, maxSource)
}
