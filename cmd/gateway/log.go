package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"

	"github.com/sluice-gateway/sluice/internal/config"
)

// newLogger writes to w as the configuration asks: text on a terminal, JSON
// else, unless a format is named.
func newLogger(c config.Log, w io.Writer) *slog.Logger {
	return loggerAt(levelOf(c), c, w)
}

func levelOf(c config.Log) (level slog.Level) {
	must(level.UnmarshalText([]byte(c.Level))) // the configuration was checked
	return level
}

// loggerAt is newLogger with a level that may change meanwhile.
func loggerAt(level slog.Leveler, c config.Log, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: readableDurations}
	if c.Format == "text" || (c.Format == "auto" && isTerminal(w)) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// readableDurations writes 1.5s where slog's JSON would count nanoseconds.
func readableDurations(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// colored says whether w may be sent colours (see no-color.org).
func (a *app) colored(w io.Writer) bool {
	return isTerminal(w) && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}
