package certs

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A lock keeps another process (here: another opening of the folder) out, and
// is gone when its holder is, whatever it left behind.
func TestLocksEndWithTheirHolder(t *testing.T) {
	dir := t.TempDir() + "/s"
	one, err := openStorage(dir)
	if err != nil {
		t.Fatal(err)
	}
	other, err := openStorage(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.Lock(t.Context(), "issue a/b"); err != nil {
		t.Fatal(err)
	}
	if got, err := other.TryLock(t.Context(), "issue a/b"); got || err != nil {
		t.Errorf("a held lock is taken: %v, %v", got, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := other.Lock(short, "issue a/b"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting ends in %v", err)
	}
	_ = one.held["issue a/b"].Close() // as when its process is killed
	if got, err := other.TryLock(t.Context(), "issue a/b"); !got || err != nil {
		t.Errorf("a left lock is not taken: %v, %v", got, err)
	}
	if err := other.Unlock(t.Context(), "issue a/b"); err != nil {
		t.Error(err)
	}
	if err := other.Unlock(t.Context(), "issue a/b"); err == nil {
		t.Error("a lock is given back twice")
	}
}
