package wire

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Lines of slog read like hclog's and heed its level.
func TestSlogLinesAreHclogs(t *testing.T) {
	for own, want := range map[slog.Level]string{
		levelTrace: "trace", slog.LevelDebug: "debug", slog.LevelInfo: "info",
		slog.LevelWarn: "warn", slog.LevelError: "error", slog.LevelError + 1: "error",
	} {
		var out bytes.Buffer
		log := hclog.New(&hclog.LoggerOptions{Level: hclog.Trace, Output: &bytes.Buffer{}})
		slog.New(newSlogHandler(&out, log)).WithGroup("g").Log(t.Context(), own, "text", "level", 7)
		var line struct {
			Level   string         `json:"@level"`
			Message string         `json:"@message"`
			Time    string         `json:"@timestamp"`
			Group   map[string]int `json:"g"`
		}
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if _, err := time.Parse(hclog.TimeFormatJSON, line.Time); err != nil || line.Level != want || line.Message != "text" || line.Group["level"] != 7 {
			t.Errorf("%s: %s", own, out.String())
		}
	}
}

func TestSlogHeedsTheLevel(t *testing.T) {
	levels := []hclog.Level{hclog.Trace, hclog.Debug, hclog.Info, hclog.Warn, hclog.Error}
	for i, at := range levels {
		log := hclog.New(&hclog.LoggerOptions{Output: &bytes.Buffer{}})
		log.SetLevel(at)
		h := newSlogHandler(&bytes.Buffer{}, log)
		for k, own := range []slog.Level{levelTrace, slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
			if got := h.Enabled(t.Context(), own); got != (k >= i) {
				t.Errorf("at %s, %s is enabled: %v", at, own, got)
			}
		}
	}
}
