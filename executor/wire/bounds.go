package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Sizes of the contract.
const (
	maxMessageBytes   = 4 << 20
	maxHeaderBytes    = 64 << 10
	treePartBytes     = 256 << 10
	outputChunkBytes  = 32 << 10
	streamWindowBytes = 1 << 20
	connWindowBytes   = 4 << 20

	// MaxTreeBytes is the largest tree that the contract allows.
	MaxTreeBytes = 16 << 20
	// MaxArtifactBytes bounds all artifacts of one run together.
	MaxArtifactBytes = 2 << 20
	// maxKeptBytes bounds what is sent of one stream when no limit is set.
	maxKeptBytes = 64 << 20
	// maxSubmitBytes bounds a Source's bytes, so that the message fits.
	maxSubmitBytes = maxMessageBytes - (256 << 10)
)

// Bounds of strings, in bytes, and of lists.
const (
	maxWord      = 256
	maxText      = 8 << 10
	maxLongText  = 64 << 10
	maxValue     = 512 << 10
	maxSchema    = 1 << 20
	maxSample    = 256 << 10
	maxFew       = 64
	maxMany      = 8192
	maxMetrics   = 512 << 10
	digestLength = 32
)

// Times of the contract.
const (
	defaultParseWall   = 5 * time.Second
	defaultVerdictWait = 30 * time.Second
	cancelGrace        = 500 * time.Millisecond
	cellGrace          = 900 * time.Millisecond // a cell is interrupted before it is ended
	hostGrace          = 2 * time.Second
	// abandonAfter is how long the plugin's half waits for an author's method
	// that does not heed its context; it leaves room within cancelGrace, or
	// within cellGrace.
	abandonAfter     = 350 * time.Millisecond
	abandonCellAfter = 750 * time.Millisecond
	flushDelay       = 5 * time.Millisecond
)

// check collects the first breach of a bound.
type check struct{ err error }

func (c *check) require(ok bool, format string, args ...any) {
	if c.err == nil && !ok {
		c.err = breach(format, args...)
	}
}

func (c *check) text(field, s string, limit int) {
	c.require(len(s) <= limit, "%s has %d bytes, more than %d", field, len(s), limit)
	c.require(utf8.ValidString(s), "%s is not UTF-8", field)
}

func (c *check) word(field, s string) {
	c.text(field, s, maxWord)
	c.require(s != "", "%s is empty", field)
}

func (c *check) bytes(field string, b []byte, limit int) {
	c.require(len(b) <= limit, "%s has %d bytes, more than %d", field, len(b), limit)
}

func (c *check) json(field string, b []byte) {
	c.bytes(field, b, maxSchema)
	c.require(c.err != nil || len(b) == 0 || json.Valid(b), "%s is not JSON", field)
}

func (c *check) count(field string, n, limit int) {
	c.require(n <= limit, "%s has %d entries, more than %d", field, n, limit)
}

func (c *check) texts(field string, list []string, limit int) {
	c.count(field, len(list), maxFew)
	for _, s := range list {
		c.text(field, s, limit)
	}
}

func breach(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// clean makes s fit for a string field, which holds UTF-8 alone.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// clip is clean, cut to at most limit bytes between two characters.
func clip(s string, limit int) string {
	if len(s) > 2*limit { // spare clean the work
		s = s[:2*limit]
	}
	s = clean(s)
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

func clipAll(list []string, limit int) []string {
	if len(list) > maxFew {
		list = list[:maxFew]
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clip(s, limit)
	}
	return out
}

func cleanAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = clean(s)
	}
	return out
}

// toUnits counts d in units, rounded up, so that a small limit does not become
// none.
func toUnits(d, unit time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	n := uint64(d / unit)
	if d%unit != 0 {
		n++
	}
	return n
}

// fromUnits saturates.
func fromUnits(n uint64, unit time.Duration) time.Duration {
	if n > uint64(math.MaxInt64/unit) {
		return math.MaxInt64
	}
	return time.Duration(n) * unit
}

func clampLen[T any](list []T, limit int) []T {
	if len(list) > limit {
		return list[:limit]
	}
	return list
}
