package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// maxLineBytes bounds a line that is read: the largest program, its violations,
// and room for both to be escaped.
const maxLineBytes = 4 << 20

// ErrNotALog is the error of a line that is no event of a decision log.
var ErrNotALog = errors.New("this is no line of a decision log")

// Read gives the events of a log in their order. A line that cannot be read is
// an error with its number, and reading goes on behind it; an error of r, or a
// line beyond 4 MiB, ends it. Lines of other programs in between, as on a shared
// standard output, are such errors (ErrNotALog).
func Read(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 64<<10), maxLineBytes)
		number := 0
		for lines.Scan() {
			number++
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			event, err := parse(lines.Bytes())
			if err != nil {
				err = fmt.Errorf("line %d: %w", number, err)
			}
			if !yield(event, err) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Event{}, fmt.Errorf("line %d: %w", number+1, err))
		}
	}
}

func parse(line []byte) (Event, error) {
	var event Event
	if err := json.Unmarshal(line, &event); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrNotALog, err)
	}
	if event.Timestamp.IsZero() || (event.Input == nil && len(event.Erased) == 0) {
		return Event{}, fmt.Errorf("%w: it has no timestamp or no input", ErrNotALog)
	}
	event.line = bytes.Clone(line)
	return event, nil
}
