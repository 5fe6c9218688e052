package wire

import (
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// newLogger writes the lines that go-plugin's host reads, at the level that the
// environment names.
func newLogger(out io.Writer) hclog.Logger {
	level := hclog.LevelFromString(os.Getenv(EnvLogLevel))
	if level == hclog.NoLevel {
		level = hclog.Info
	}
	return hclog.New(&hclog.LoggerOptions{Level: level, Output: out, JSONFormat: true})
}

// levelTrace is hclog's lowest level among slog's.
const levelTrace = slog.LevelDebug - 4

// levelOf follows the level of an hclog.Logger.
type levelOf struct{ log hclog.Logger }

// Level implements slog.Leveler.
func (l levelOf) Level() slog.Level {
	switch l.log.GetLevel() {
	case hclog.Trace:
		return levelTrace
	case hclog.Debug:
		return slog.LevelDebug
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Error:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// newSlogHandler writes the same lines as log, at the same level, for plugins
// that keep to the standard library.
func newSlogHandler(out io.Writer, log hclog.Logger) slog.Handler {
	return slog.NewJSONHandler(out, &slog.HandlerOptions{Level: levelOf{log}, ReplaceAttr: asHclog})
}

// asHclog gives slog's own keys hclog's names and forms.
func asHclog(groups []string, a slog.Attr) slog.Attr {
	if len(groups) > 0 {
		return a
	}
	switch a.Key {
	case slog.TimeKey:
		return slog.String("@timestamp", a.Value.Time().Format(hclog.TimeFormatJSON))
	case slog.LevelKey:
		level, _ := a.Value.Any().(slog.Level)
		if level < slog.LevelDebug {
			return slog.String("@level", "trace")
		}
		name, _, _ := strings.Cut(strings.ToLower(level.String()), "+")
		return slog.String("@level", name)
	case slog.MessageKey:
		return slog.String("@message", a.Value.String())
	}
	return a
}
