package pluginhost

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// home is the Host's own directory under StateRoot. It is locked while the Host
// lives, so that another one can tell it from what a killed gateway left.
type home struct {
	dir  string
	lock *os.File
}

const (
	homePrefix = "g"
	lockName   = "lock"
)

// openHome makes and checks the root, sweeps it and makes a home in it.
func openHome(root string) (*home, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("make state directory: %w", err)
	}
	if err := private(root); err != nil {
		return nil, err
	}
	if err := sweep(root); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(root, homePrefix)
	if err != nil {
		return nil, fmt.Errorf("make state directory: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		closeAll(lock)
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("lock state directory: %w", err)
	}
	return &home{dir: dir, lock: lock}, nil
}

// private refuses a directory that another user owns or may enter.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at state directory: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("use state directory %q: it must be a directory of this user alone (mode 0700)", dir)
	}
	return nil
}

// sweep removes the homes of gateways that are gone.
func sweep(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("sweep state directory: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), homePrefix) {
			continue
		}
		if err := sweepOne(filepath.Join(root, e.Name())); err != nil {
			return fmt.Errorf("sweep state directory: %w", err)
		}
	}
	return nil
}

func sweepOne(dir string) error {
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // being made, or not ours
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil // its gateway lives
	}
	return os.RemoveAll(dir)
}

func (h *home) close() error {
	err := os.RemoveAll(h.dir)
	return errors.Join(err, h.lock.Close())
}

// filesFolder is where the copies of a process's pinned files lie.
const filesFolder = "f"

// generationDirs makes the private directories of one process: for its sockets,
// for its state, and the one below base for its files.
func (h *home) generationDirs() (base, sockets, state string, err error) {
	base, err = os.MkdirTemp(h.dir, "p")
	if err != nil {
		return "", "", "", fmt.Errorf("make a plugin's directory: %w", err)
	}
	sockets, state = filepath.Join(base, "s"), filepath.Join(base, "d")
	for _, dir := range []string{sockets, state, filepath.Join(base, filesFolder)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", "", "", errors.Join(fmt.Errorf("make a plugin's directory: %w", err), os.RemoveAll(base))
		}
	}
	return base, sockets, state, nil
}
