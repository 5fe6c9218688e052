package policy

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Times and bounds of a watch.
const (
	watchRest   = 200 * time.Millisecond // without an event, after which a folder has come to rest
	watchLimit  = 5 * time.Second        // after which one that does not rest is told all the same
	watchLook   = 30 * time.Second       // between looks without an event: network file systems send none
	maxWatchers = 1000                   // folders below; the rest is seen by looking
)

// Watch tells on the channel that the folder may have changed and has come to
// rest, until ctx ends. It sees files that are written, renamed into place,
// added and taken away at any depth, and the folder itself or a link to it being
// replaced, as editors, deployments and ConfigMaps do it. It tells too often
// rather than too seldom; [Store.Changed] says whether there is something new.
func Watch(ctx context.Context, dir string, log *slog.Logger) (<-chan struct{}, error) {
	return watchAt(ctx, dir, log, watchLook)
}

func watchAt(ctx context.Context, dir string, log *slog.Logger, look time.Duration) (<-chan struct{}, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("watch the policy folder: %w", err)
	}
	w := &watch{dir: dir, log: log, look: look, changed: make(chan struct{}, 1)}
	first, err := w.open()
	if err != nil {
		return nil, fmt.Errorf("watch the policy folder: %w", err)
	}
	go w.run(ctx, first)
	return w.changed, nil
}

type watch struct {
	dir     string
	log     *slog.Logger
	look    time.Duration // between looks without an event
	changed chan struct{}
}

// run watches with a new watcher after every change, so that it never looks at
// what has been replaced. What changes while there is none is told by the tell
// that follows.
func (w *watch) run(ctx context.Context, watcher *fsnotify.Watcher) {
	for {
		w.tell()
		if watcher != nil {
			w.await(ctx, watcher)
			_ = watcher.Close() // nothing of it is used again
		} else {
			pause(ctx, w.look)
		}
		if ctx.Err() != nil {
			return
		}
		var err error
		if watcher, err = w.open(); err != nil {
			w.log.Warn("the policy folder cannot be watched; it is looked at instead", "every", w.look, "error", err)
		}
	}
}

func (w *watch) tell() {
	select {
	case w.changed <- struct{}{}:
	default: // it is told already
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// open watches the folder, all below it, and its parent for the folder itself.
func (w *watch) open() (*fsnotify.Watcher, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	if err := w.addAll(watcher); err != nil {
		_ = watcher.Close()
		return nil, err
	}
	return watcher, nil
}

func (w *watch) addAll(watcher *fsnotify.Watcher) error {
	if err := watcher.Add(filepath.Dir(w.dir)); err != nil {
		return err
	}
	root, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		return nil //nolint:nilerr // the folder is away for now: its parent tells when it is back
	}
	if root != w.dir {
		// A link may lead through others: what is replaced is the first of them.
		_ = watcher.Add(filepath.Dir(root))
	}
	left := maxWatchers
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // it went away meanwhile
		}
		if left--; left < 0 {
			return fs.SkipAll
		}
		_ = watcher.Add(path) // it went away meanwhile, or the kernel's bound is reached: looking sees it
		return nil
	})
}

// await returns when the folder has changed and come to rest, when it is time to
// look, or when ctx ends.
func (w *watch) await(ctx context.Context, watcher *fsnotify.Watcher) {
	look := time.NewTimer(w.look)
	defer look.Stop()
	var rest, limit <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			return
		case <-rest:
			return
		case <-limit:
			return
		case event, open := <-watcher.Events:
			if !open {
				return
			}
			if !w.concerns(event.Name) {
				continue
			}
			rest = time.After(watchRest)
			if limit == nil {
				limit = time.After(watchLimit)
			}
		case err := <-watcher.Errors:
			w.log.Debug("events of the policy folder were lost: it is looked at", "error", err)
			return
		}
	}
}

// concerns says whether an event is about the folder: its neighbours are not.
func (w *watch) concerns(name string) bool {
	parent := filepath.Dir(w.dir)
	return filepath.Dir(name) != parent || name == w.dir || strings.HasPrefix(filepath.Base(name), ".")
}
