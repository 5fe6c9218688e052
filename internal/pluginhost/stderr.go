package pluginhost

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Bounds on what a plugin may write into the log.
const (
	lastWordsBytes = 64 << 10
	maxLogLine     = 16 << 10 // a longer line is no record
	maxLogText     = 1 << 10
	maxLogAttrs    = 16
	maxLogValue    = 512
	linesPerSecond = 100
)

// ring keeps the last bytes of what was written to it.
type ring struct {
	mu   sync.Mutex
	buf  []byte
	next int
	full bool
}

// Write implements io.Writer; it never fails.
func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.buf == nil {
		r.buf = make([]byte, lastWordsBytes)
	}
	n := len(p)
	if len(p) > len(r.buf) {
		p = p[len(p)-len(r.buf):]
	}
	for len(p) > 0 {
		m := copy(r.buf[r.next:], p)
		p = p[m:]
		if r.next += m; r.next == len(r.buf) {
			r.next, r.full = 0, true
		}
	}
	return n, nil
}

// String gives what is kept, as text.
func (r *ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.buf[:r.next]
	if r.full {
		kept = slices.Concat(r.buf[r.next:], r.buf[:r.next])
	}
	return strings.ToValidUTF8(string(kept), "\uFFFD")
}

// stderrLog turns what a plugin writes into records, at most so many a second;
// the plugin is never held up.
type stderrLog struct {
	log   *slog.Logger
	words *ring

	mu      sync.Mutex
	second  time.Time
	lines   int
	dropped int
}

// pump reads until r ends. Several may run at once.
func (s *stderrLog) pump(r io.Reader) {
	lines := bufio.NewReaderSize(r, maxLogLine)
	long := false
	for {
		line, err := lines.ReadSlice('\n')
		_, _ = s.words.Write(line)
		whole := !errors.Is(err, bufio.ErrBufferFull)
		if len(line) > 0 && !long {
			s.take(bytes.TrimRight(line, "\r\n"), whole, time.Now())
		}
		long = !whole
		if err != nil && whole {
			return
		}
	}
}

func (s *stderrLog) take(line []byte, whole bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.admit(now) {
		s.record(line, whole)
	}
}

// end tells what was left out at last.
func (s *stderrLog) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellDropped()
}

// admit says whether a line that came now is within the rate.
func (s *stderrLog) admit(now time.Time) bool {
	if now.Sub(s.second) >= time.Second {
		s.tellDropped()
		s.second, s.lines = now, 0
	}
	if s.lines++; s.lines <= linesPerSecond {
		return true
	}
	s.dropped++
	return false
}

func (s *stderrLog) tellDropped() {
	if s.dropped > 0 {
		s.log.Warn("plugin writes too much; lines were left out", "lines", s.dropped)
		s.dropped = 0
	}
}

func (s *stderrLog) record(line []byte, whole bool) {
	if level, message, attrs, ok := parseRecord(line); whole && ok {
		s.log.LogAttrs(context.Background(), level, message, attrs...)
		return
	}
	if text := clip(string(line), maxLogText); strings.TrimSpace(text) != "" {
		s.log.Warn("plugin said", "text", text)
	}
}

// parseRecord reads one line of hclog's JSON. Whatever the line holds, the
// record is bounded.
func parseRecord(line []byte) (slog.Level, string, []slog.Attr, bool) {
	if len(line) == 0 || line[0] != '{' {
		return 0, "", nil, false
	}
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		return 0, "", nil, false
	}
	message, isText := fields["@message"].(string)
	level, named := levelOf(fields["@level"])
	if !isText || !named {
		return 0, "", nil, false
	}
	var attrs []slog.Attr
	for _, key := range sortedKeys(fields) {
		if strings.HasPrefix(key, "@") || len(attrs) == maxLogAttrs {
			continue
		}
		attrs = append(attrs, slog.String("plugin_"+clip(key, maxLogValue), valueText(fields[key])))
	}
	return level, clip(message, maxLogText), attrs, true
}

func sortedKeys(fields map[string]any) []string {
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func levelOf(name any) (slog.Level, bool) {
	switch name {
	case "trace", "debug":
		return slog.LevelDebug, true
	case "info":
		return slog.LevelInfo, true
	case "warn":
		return slog.LevelWarn, true
	case "error":
		return slog.LevelError, true
	}
	return 0, false
}

func valueText(v any) string {
	if text, ok := v.(string); ok {
		return clip(text, maxLogValue)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return clip(string(data), maxLogValue)
}

// clip makes a text valid and at most limit bytes long.
func clip(s string, limit int) string {
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	return strings.ToValidUTF8(s, "?")
}
