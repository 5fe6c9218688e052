package audit

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"
)

const mebibyte = 1 << 20

// rotated is a file that is put aside when it is too large or too old. It is
// used by one goroutine.
type rotated struct {
	file  *lumberjack.Logger
	every time.Duration // 0: age does not matter
	now   func() time.Time
	begun time.Time // when the file's first line was written; zero: it has none yet
}

func openRotated(c Config) (*rotated, error) {
	// lumberjack opens at the first line; a wrong path must be told at start.
	f, err := os.OpenFile(c.File, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the decision log: %w", err)
	}
	begun := begin(f)
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("open the decision log: %w", err)
	}
	const day = 24 * time.Hour
	return &rotated{
		file: &lumberjack.Logger{
			Filename: c.File, MaxSize: int(ceil(cmp.Or(c.RotateBytes, 100*mebibyte), mebibyte)),
			MaxBackups: cmp.Or(c.KeepFiles, 10), MaxAge: int(ceil(int64(c.KeepFor), int64(day))),
		},
		every: c.RotateEvery, now: time.Now, begun: begun,
	}, nil
}

func ceil(n, unit int64) int64 { return (n + unit - 1) / unit }

// begin is when the first event of a file was written, zero where there is none:
// a file goes on through restarts.
func begin(f *os.File) time.Time {
	for event, err := range Read(f) {
		if err == nil {
			return event.Timestamp
		}
	}
	return time.Time{}
}

// Write implements io.Writer.
func (r *rotated) Write(lines []byte) (int, error) {
	now := r.now()
	if r.every > 0 && !r.begun.IsZero() && now.Sub(r.begun) >= r.every {
		if err := r.file.Rotate(); err != nil {
			return 0, fmt.Errorf("rotate: %w", err)
		}
		r.begun = time.Time{}
	}
	if r.begun.IsZero() {
		r.begun = now
	}
	return r.file.Write(lines)
}

// Close implements io.Closer.
func (r *rotated) Close() error { return r.file.Close() }
