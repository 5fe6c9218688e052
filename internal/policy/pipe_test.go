package policy

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAPipeInTheFolderIsRefused: whoever opens one waits for its other end.
func TestAPipeInTheFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "zz.rego"), 0o600); err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	go func() {
		_, err := readFolder(Folder(dir))
		told <- err
	}()
	select {
	case err := <-told:
		if err == nil || !strings.Contains(err.Error(), "zz.rego: it is not a regular file") {
			t.Errorf("read: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("still reading")
	}
}
