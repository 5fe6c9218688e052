package audit

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// A file is rotated by the age of its first line, which outlives a restart.
func TestRotationByAge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decisions.jsonl")
	log := func(age time.Duration) {
		t.Helper()
		j, err := Open(Config{File: path, Log: slog.New(slog.DiscardHandler), RotateEvery: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		j.Record(gateway.Entry{Time: time.Now().Add(-age), RequestID: "r"})
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	files := func() int {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	log(2 * time.Hour) // the first line of the file is two hours old
	if n := files(); n != 1 {
		t.Fatalf("%d files after the first line", n)
	}
	log(0)
	if n := files(); n != 2 {
		t.Errorf("%d files after the second line, want the old one put aside", n)
	}
	log(0)
	if n := files(); n != 2 {
		t.Errorf("%d files after the third line, want none put aside", n)
	}
	raw, err := os.ReadFile(path)
	if err != nil || bytes.Count(raw, []byte("\n")) != 2 {
		t.Errorf("the file holds %s (%v), want two lines", raw, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"timestamp":"2026-01-02T02:04:05Z","input":{"code":{"sha256":"ab"}},"result":{"allow":true,"violations":[]}}`,
		"not JSON\n{}", `{"input":null}`, `{"timestamp":1}`, "\x00", "[]", "{\"timestamp\":\"2026-01-02T02:04:05Z\",\"erased\":[\"/input\",\"/result\"]}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		for event, err := range Read(bytes.NewReader(log)) {
			if err == nil && event.Timestamp.IsZero() {
				t.Errorf("an event without a time was read from %q", log)
			}
			_, _ = event.Verdict(), event.Revision()
		}
	})
}
