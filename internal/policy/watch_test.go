package policy

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// onDisk lays testdata/tiny out in a folder, one of its lists with an extra
// name.
func onDisk(t *testing.T, dir, extra string) {
	t.Helper()
	for name, file := range files(t, "tiny") {
		text := string(file.Data)
		if name == "tiny.rego" {
			text = strings.Replace(text, `"eval", "exec"`, `"eval", "exec", "`+extra+`"`, 1)
		}
		write(t, filepath.Join(dir, name), text)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// banning is the rules of a folder with a further name in their list.
func banning(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "tiny.rego"))
	must(t, err)
	return strings.Replace(string(text), `"eval"`, `"`+name+`", "eval"`, 1)
}

// Each way in which a folder changes is seen, and what it holds is put in force.
func TestWatchSeesEveryWayOfChange(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, top string) (dir string)
		change  func(t *testing.T, top, dir string) // bans "fork"
	}{
		"a file is written in place": {change: func(t *testing.T, _, dir string) {
			write(t, filepath.Join(dir, "tiny.rego"), banning(t, dir, "fork"))
		}},
		"an editor renames a new file over the old one": {change: func(t *testing.T, _, dir string) {
			write(t, filepath.Join(dir, ".tiny.rego.swp"), banning(t, dir, "fork"))
			must(t, os.Rename(filepath.Join(dir, ".tiny.rego.swp"), filepath.Join(dir, "tiny.rego")))
		}},
		"an editor puts the old file aside": {change: func(t *testing.T, _, dir string) {
			text := banning(t, dir, "fork")
			must(t, os.Rename(filepath.Join(dir, "tiny.rego"), filepath.Join(dir, "tiny.rego~")))
			write(t, filepath.Join(dir, "tiny.rego"), text)
			must(t, os.Remove(filepath.Join(dir, "tiny.rego~")))
		}},
		"a file in a new folder": {change: func(t *testing.T, _, dir string) {
			text := banning(t, dir, "fork")
			must(t, os.Remove(filepath.Join(dir, "tiny.rego")))
			write(t, filepath.Join(dir, "below", "deeper", "tiny.rego"), text)
		}},
		"the folder is replaced": {change: func(t *testing.T, top, dir string) {
			onDisk(t, filepath.Join(top, "new"), "fork")
			must(t, os.Rename(dir, filepath.Join(top, "old")))
			must(t, os.Rename(filepath.Join(top, "new"), dir))
		}},
		"a link to the folder is replaced": {
			prepare: func(t *testing.T, top string) string {
				onDisk(t, filepath.Join(top, "releases", "1"), "other")
				onDisk(t, filepath.Join(top, "releases", "2"), "fork")
				must(t, os.Symlink("releases/1", filepath.Join(top, "current")))
				return filepath.Join(top, "current")
			},
			change: func(t *testing.T, top, dir string) {
				must(t, os.Symlink("releases/2", filepath.Join(top, "next")))
				must(t, os.Rename(filepath.Join(top, "next"), dir))
			},
		},
		"a ConfigMap swaps ..data": {
			prepare: func(t *testing.T, top string) string {
				dir := filepath.Join(top, "mounted")
				onDisk(t, filepath.Join(dir, "..2026_01"), "other")
				must(t, os.Symlink("..2026_01", filepath.Join(dir, "..data")))
				entries, err := os.ReadDir(filepath.Join(dir, "..2026_01"))
				must(t, err)
				for _, e := range entries { // folders too: below the links, everything is swapped at once
					must(t, os.Symlink(filepath.Join("..data", e.Name()), filepath.Join(dir, e.Name())))
				}
				return dir
			},
			change: func(t *testing.T, _, dir string) {
				onDisk(t, filepath.Join(dir, "..2026_02"), "fork")
				must(t, os.Symlink("..2026_02", filepath.Join(dir, "..data_tmp")))
				must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
				must(t, os.RemoveAll(filepath.Join(dir, "..2026_01")))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			dir := filepath.Join(top, "p")
			if c.prepare != nil {
				dir = c.prepare(t, top)
			} else {
				onDisk(t, dir, "other")
			}
			cfg := tinyConfig(files(t, "tiny"))
			cfg.FS = os.DirFS(dir)
			s, err := Load(context.Background(), cfg)
			must(t, err)
			if !decide(t, s, question("fork")).Allow {
				t.Fatal("the first policy refuses fork already")
			}
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			changed, err := watchAt(ctx, dir, slog.New(slog.DiscardHandler), time.Hour) // an event must tell it
			must(t, err)
			<-changed // it is told once at the start
			c.change(t, top, dir)
			awaitRefusal(t, s, changed)
		})
	}
}

// awaitRefusal reloads at each word of the watch until fork is refused. A look
// while the folder is being changed may find it broken.
func awaitRefusal(t *testing.T, s *Store, changed <-chan struct{}) {
	t.Helper()
	end := time.After(2 * time.Minute)
	for {
		select {
		case <-end:
			t.Fatalf("the change was not seen; last error: %s", s.Status().LastError)
		case <-changed:
			if s.Changed() {
				_ = s.Reload(context.Background())
			}
		}
		if !decide(t, s, question("fork")).Allow {
			return
		}
	}
}

func TestNothingNewIsNoChange(t *testing.T) {
	dir := t.TempDir()
	onDisk(t, dir, "other")
	cfg := tinyConfig(files(t, "tiny"))
	cfg.FS = os.DirFS(dir)
	s, err := Load(context.Background(), cfg)
	must(t, err)
	now := time.Now()
	must(t, os.Chtimes(filepath.Join(dir, "tiny.rego"), now, now))
	write(t, filepath.Join(dir, "notes.txt"), "not of the policy")
	if s.Changed() {
		t.Error("a touched file is told as a change")
	}
	write(t, filepath.Join(dir, "tiny.rego"), "package broken")
	if !s.Changed() {
		t.Error("a broken file is no change")
	}
	if err := s.Reload(context.Background()); err == nil {
		t.Fatal("a broken folder was put in force")
	}
	if s.Changed() {
		t.Error("a fault that has been told is told again")
	}
}

func TestWatchLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	ctx, stop := context.WithCancel(context.Background())
	if _, err := Watch(ctx, t.TempDir(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	stop()
	goleak.VerifyNone(t, before)
	if _, err := Watch(context.Background(), filepath.Join(t.TempDir(), "no", "such"), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a folder whose parent is not there is watched")
	}
}

func TestALinkThatLeadsBackIsTold(t *testing.T) {
	dir := t.TempDir()
	onDisk(t, dir, "other")
	must(t, os.Symlink("..", filepath.Join(dir, "corpus", "loop")))
	cfg := tinyConfig(files(t, "tiny"))
	cfg.FS = Folder(dir)
	if _, err := Load(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "does a link lead back") {
		t.Errorf("error %v", err)
	}
}
