package audit

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Files lists a log with those that were put aside of it, the oldest first. A
// log that is not there yet is an error.
func Files(log string) ([]string, error) {
	if _, err := os.Stat(log); err != nil {
		return nil, err
	}
	extension := filepath.Ext(log)
	prefix := strings.TrimSuffix(filepath.Base(log), extension) + "-"
	entries, err := os.ReadDir(filepath.Dir(log))
	if err != nil {
		return nil, err
	}
	var aside []string
	for _, e := range entries {
		stamp, is := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".gz"), prefix)
		stamp, has := strings.CutSuffix(stamp, extension)
		if _, err := time.Parse("2006-01-02T15-04-05.000", stamp); is && has && err == nil { // as lumberjack names them
			aside = append(aside, filepath.Join(filepath.Dir(log), e.Name()))
		}
	}
	slices.Sort(aside)
	return append(aside, log), nil
}

// OpenLog opens a log, compressed when its name ends in .gz.
func OpenLog(name string) (io.ReadCloser, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(name, ".gz") {
		return file, nil
	}
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", name, err), file.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{unzipped, file}, nil
}

// Tail is the end of a log.
type Tail struct {
	Last   int              // events that fit, before those that follow
	Follow bool             // go on with what is written
	Fits   func(Event) bool // nil: all
}

// followPoll is how often a log that is followed is looked at.
const followPoll = 200 * time.Millisecond

// Read gives the last events of a log, and with Follow what is written from then
// on, until ctx ends. A log that is put aside is read to its end and the new one
// after it. Lines that are no events are passed over.
func (t Tail) Read(ctx context.Context, name string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := &follower{name: name, fits: t.Fits}
		defer f.close()
		last, err := f.last(t.Last)
		if err != nil {
			yield(Event{}, err)
			return
		}
		for _, e := range last {
			if !yield(e, nil) {
				return
			}
		}
		for t.Follow && wait(ctx) {
			for _, e := range f.more() {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func wait(ctx context.Context) bool {
	timer := time.NewTimer(followPoll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// follower reads a file that grows, and the one that takes its place.
type follower struct {
	name string
	fits func(Event) bool
	file *os.File
	rest []byte // the beginning of a line whose end is not written yet
}

func (f *follower) close() {
	if f.file != nil {
		_ = f.file.Close()
	}
}

// last opens the file and reads it to its end.
func (f *follower) last(n int) (events []Event, err error) {
	if f.file, err = os.Open(f.name); err != nil {
		return nil, err
	}
	for chunk := range f.chunks() {
		events = append(events, f.events(chunk)...)
		events = events[max(0, len(events)-n):]
	}
	return events, nil
}

// more reads what was written since, also in a file that took the name.
func (f *follower) more() (events []Event) {
	for chunk := range f.chunks() {
		events = append(events, f.events(chunk)...)
	}
	now, err := os.Stat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return events // it is being put aside
	}
	before, fault := f.file.Stat()
	if err != nil || fault != nil || os.SameFile(now, before) {
		return events
	}
	next, err := os.Open(f.name)
	if err != nil {
		return events
	}
	for chunk := range f.chunks() { // what came between the last read and the renaming
		events = append(events, f.events(chunk)...)
	}
	f.close()
	f.file, f.rest = next, nil
	return append(events, f.more()...)
}

// chunks reads to the end of what is written.
func (f *follower) chunks() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		buffer := make([]byte, 256<<10)
		for {
			n, err := f.file.Read(buffer)
			if n > 0 && !yield(buffer[:n]) {
				return
			}
			if err != nil {
				return
			}
		}
	}
}

// events takes whole lines out of what was read.
func (f *follower) events(chunk []byte) (events []Event) {
	f.rest = append(f.rest, chunk...)
	end := bytes.LastIndexByte(f.rest, '\n') + 1 // behind the last whole line
	if end == 0 {
		if len(f.rest) > maxLineBytes {
			f.rest = nil
		}
		return nil
	}
	for event, err := range Read(bytes.NewReader(f.rest[:end])) {
		if err == nil && (f.fits == nil || f.fits(event)) {
			events = append(events, event)
		}
	}
	f.rest = slices.Clone(f.rest[end:])
	return events
}
