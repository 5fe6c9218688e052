package audit

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Off is the file name that turns the journal off.
const Off = "off"

// Config says where the journal goes.
type Config struct {
	File   string              // "": Stdout; Off: nowhere; else a path, rotated, mode 0600
	Stdout io.Writer           // needed when File is ""
	Log    *slog.Logger        // is told of losses; needed
	Mask   func(string) string // over recorded source; nil: as it is
	Queue  int                 // lines that may wait; 0: 4096

	MaxMegabytes int // of one file before it is rotated; 0: 100
	MaxBackups   int // rotated files that are kept; 0: 10
}

// Journal is a gateway.Journal. Safe for concurrent use.
type Journal struct {
	log  *slog.Logger
	mask func(string) string
	out  io.Writer
	shut io.Closer

	mu     sync.RWMutex // guards closed against a send on lines
	closed bool
	lines  chan []byte
	done   chan struct{}
	lost   atomic.Uint64
}

// Open opens the journal, and fails when its file cannot be written.
func Open(c Config) (*Journal, error) {
	j := &Journal{log: c.Log, mask: c.Mask, done: make(chan struct{})}
	if j.mask == nil {
		j.mask = func(s string) string { return s }
	}
	if err := j.openOutput(c); err != nil {
		return nil, err
	}
	if j.out == nil {
		close(j.done)
		return j, nil
	}
	j.lines = make(chan []byte, orDefault(c.Queue, 4096))
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
	// lumberjack opens at the first line; a wrong path must be told at start.
	f, err := os.OpenFile(c.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	file := &lumberjack.Logger{Filename: c.File, MaxSize: orDefault(c.MaxMegabytes, 100), MaxBackups: orDefault(c.MaxBackups, 10)}
	j.out, j.shut = file, file
	return nil
}

func orDefault(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// Record implements gateway.Journal. It never waits: when the lines that wait
// are too many, the line is lost and counted.
func (j *Journal) Record(e gateway.Entry) {
	if j.lines == nil {
		return
	}
	raw, err := encode(e, j.mask)
	if err != nil {
		j.lost.Add(1)
		return
	}
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.closed {
		j.lost.Add(1)
		return
	}
	select {
	case j.lines <- raw:
	default:
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
	if first && j.lines != nil {
		close(j.lines)
	}
	j.closed = true
	j.mu.Unlock()
	<-j.done
	if !first || j.shut == nil {
		return nil
	}
	if err := j.shut.Close(); err != nil {
		return fmt.Errorf("close the journal: %w", err)
	}
	return nil
}

// batchBytes bounds what one Write takes. A batch is whole lines, so that a
// rotation never cuts one.
const batchBytes = 64 << 10

func (j *Journal) write() {
	defer close(j.done)
	told := uint64(0)
	for raw := range j.lines {
		batch, count := j.batch(raw)
		if _, err := j.out.Write(batch); err != nil {
			j.lost.Add(count)
			j.log.Error("write the journal", "lines", count, "error", err)
		}
		told = j.tell(told)
	}
	j.tell(told)
}

// batch adds to first what else waits.
func (j *Journal) batch(first []byte) (batch []byte, count uint64) {
	batch, count = first, 1
	for len(batch) < batchBytes {
		select {
		case raw, open := <-j.lines:
			if !open {
				return batch, count
			}
			batch, count = append(batch, raw...), count+1
		default:
			return batch, count
		}
	}
	return batch, count
}

func (j *Journal) tell(told uint64) uint64 {
	lost := j.lost.Load()
	if lost > told {
		j.log.Warn("lines of the journal were lost", "lost", lost-told, "lost_since_start", lost)
	}
	return lost
}
