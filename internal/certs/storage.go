package certs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/caddyserver/certmagic"
)

// storage is certmagic's folder of files with locks of the kernel's.
//
// certmagic's own locks are files with a time in them. A process that was
// killed leaves them, and the next waits until they are stale; a disk that is
// full leaves them empty (certmagic issue 232). A lock of the kernel's ends with
// its process.
type storage struct {
	*certmagic.FileStorage
	mu   sync.Mutex
	held map[string]*os.File
}

var (
	_ certmagic.Storage   = (*storage)(nil)
	_ certmagic.TryLocker = (*storage)(nil)
)

// openStorage makes the folder if it must; others may not look into it.
func openStorage(path string) (*storage, error) {
	if err := os.MkdirAll(filepath.Join(path, "locks"), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of certificates: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open the folder of certificates: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others may use the folder of certificates %s (mode %04o), and private keys lie in it: run chmod 700 on it", path, info.Mode().Perm())
	}
	return &storage{FileStorage: &certmagic.FileStorage{Path: path}, held: map[string]*os.File{}}, nil
}

// lockPoll is how often a lock that another process holds is tried again.
const lockPoll = 100 * time.Millisecond

// Lock implements certmagic.Locker.
func (s *storage) Lock(ctx context.Context, name string) error {
	for {
		got, err := s.TryLock(ctx, name)
		if got || err != nil {
			return err
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TryLock implements certmagic.TryLocker.
func (s *storage) TryLock(_ context.Context, name string) (bool, error) {
	file, err := os.OpenFile(filepath.Join(s.Path, "locks", certmagic.StorageKeys.Safe(name)+".flock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, fmt.Errorf("open a lock: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		_ = file.Close() // it is held by another
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return false, fmt.Errorf("take a lock: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[name] = file
	return true, nil
}

// Unlock implements certmagic.Locker.
func (s *storage) Unlock(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, ok := s.held[name]
	if !ok {
		return errors.New("unlock: the lock is not held")
	}
	delete(s.held, name)
	return file.Close()
}
