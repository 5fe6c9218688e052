package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Off is the file name that turns the journal off.
const Off = "off"

// Config says where the decision log goes.
type Config struct {
	File   string            // "": Stdout; Off: nowhere; else a path, rotated, mode 0600
	Stdout io.Writer         // needed when File is ""
	Log    *slog.Logger      // is told of losses; needed
	Labels map[string]string // stand in every line; nil: none

	// Mask changes an event before it is written, as JSON, and names what it
	// took out in "erased" and what it replaced in "masked". At its error the
	// event is written without input and result. nil: all is written as it is.
	Mask func(event map[string]any) error
	// Masks says whether Mask may change anything now: where it does not, no event
	// is decoded for it. nil: it may.
	Masks func() bool

	Queue       int           // lines that may wait; 0: 4096
	RotateBytes int64         // of one file before it is rotated; 0: 100 MiB; in whole MiB
	RotateEvery time.Duration // age of one file before it is rotated; 0: no bound
	KeepFiles   int           // rotated files that are kept; 0: 10
	KeepFor     time.Duration // age at which rotated files are removed; 0: no bound; in whole days
}

// queueBytes bounds the programs' texts that wait to be written.
const queueBytes = 32 << 20

// Journal is a gateway.Journal. Safe for concurrent use.
type Journal struct {
	log    *slog.Logger
	mask   func(map[string]any) error
	masks  func() bool
	labels map[string]string
	out    io.Writer
	shut   io.Closer

	mu      sync.RWMutex // guards closed against a send on entries
	closed  bool
	entries chan gateway.Entry
	texts   atomic.Int64 // bytes of programs in entries
	done    chan struct{}
	lost    atomic.Uint64
}

// Open opens the journal, and fails when its file cannot be written.
func Open(c Config) (*Journal, error) {
	j := &Journal{log: c.Log, mask: c.Mask, masks: c.Masks, labels: c.Labels, done: make(chan struct{})}
	if j.labels == nil {
		j.labels = map[string]string{}
	}
	if err := j.openOutput(c); err != nil {
		return nil, err
	}
	if j.out == nil {
		close(j.done)
		return j, nil
	}
	j.entries = make(chan gateway.Entry, cmp.Or(c.Queue, 4096))
	go j.write()
	return j, nil
}

func (j *Journal) openOutput(c Config) error {
	switch c.File {
	case Off:
		return nil
	case "":
		j.out = c.Stdout
		return nil
	}
	file, err := openRotated(c)
	if err != nil {
		return err
	}
	j.out, j.shut = file, file
	return nil
}

// Record implements gateway.Journal. It never waits: when the lines that wait
// are too many, the line is lost and counted.
func (j *Journal) Record(e gateway.Entry) {
	if j.entries == nil {
		return
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	text := int64(len(e.Code))
	if j.closed || j.texts.Add(text) > queueBytes {
		j.texts.Add(-text)
		j.lost.Add(1)
		return
	}
	select {
	case j.entries <- e:
	default:
		j.texts.Add(-text)
		j.lost.Add(1)
	}
}

// Lost counts the lines that were not written since Open.
func (j *Journal) Lost() uint64 { return j.lost.Load() }

// Close writes what waits, closes the file and tells the log of losses. Lines
// recorded afterwards are lost and counted. It may be called more than once.
func (j *Journal) Close() error {
	j.mu.Lock()
	first := !j.closed
	if first && j.entries != nil {
		close(j.entries)
	}
	j.closed = true
	j.mu.Unlock()
	<-j.done
	if !first || j.shut == nil {
		return nil
	}
	if err := j.shut.Close(); err != nil {
		return fmt.Errorf("close the decision log: %w", err)
	}
	return nil
}

// batchBytes bounds what one Write takes. A batch is whole lines, so that a
// rotation never cuts one.
const batchBytes = 64 << 10

func (j *Journal) write() {
	defer close(j.done)
	told := uint64(0)
	for e := range j.entries {
		batch, count := j.batch(e)
		if _, err := j.out.Write(batch); err != nil {
			j.lost.Add(count)
			j.log.Error("write the decision log", "lines", count, "error", err)
		}
		told = j.tell(told)
	}
	j.tell(told)
}

// batch adds to first what else waits.
func (j *Journal) batch(first gateway.Entry) (batch []byte, count uint64) {
	batch = j.line(batch, first, &count)
	for len(batch) < batchBytes {
		select {
		case e, open := <-j.entries:
			if !open {
				return batch, count
			}
			batch = j.line(batch, e, &count)
		default:
			return batch, count
		}
	}
	return batch, count
}

// line appends an entry's line.
func (j *Journal) line(to []byte, e gateway.Entry, count *uint64) []byte {
	j.texts.Add(-int64(len(e.Code)))
	raw, err := j.encode(eventOf(e, j.labels))
	if err != nil {
		j.lost.Add(1)
		j.log.Error("write the decision log", "request_id", e.RequestID, "error", err)
		return to
	}
	*count++
	return append(append(to, raw...), '\n')
}

// encode is an event as JSON, masked. A mask that cannot be applied hides all
// that it might have hidden.
func (j *Journal) encode(event Event) ([]byte, error) {
	raw, err := json.Marshal(event)
	if err != nil || j.mask == nil || (j.masks != nil && !j.masks()) {
		return raw, err
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	if err := j.mask(object); err != nil {
		j.log.Error("mask the decision log: the line is written without input and result", "decision_id", event.DecisionID, "error", err)
		event.Input, event.Result, event.Custom.Shadow, event.Erased = nil, nil, nil, []string{"/input", "/result"}
		return json.Marshal(event)
	}
	return json.Marshal(object)
}

func (j *Journal) tell(told uint64) uint64 {
	lost := j.lost.Load()
	if lost > told {
		j.log.Warn("lines of the decision log were lost", "lost", lost-told, "lost_since_start", lost)
	}
	return lost
}
