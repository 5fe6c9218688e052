package audit_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/internal/audit"
)

func eventLine(id, verdict string) string {
	result, shadow := `,"result":{"allow":true,"violations":[]}`, `,"shadow":{"profile":"next","outcome":"same"}`
	switch verdict {
	case "deny":
		result = `,"result":{"allow":false,"violations":[{"rule":"blocked-import","line":3}]}`
		shadow = `,"shadow":{"profile":"next","outcome":"newly_allowed"}`
	case "none":
		result, shadow = "", ""
	}
	return fmt.Sprintf(`{"decision_id":"d_%s","input":{"tool":"python","profile":"solve","code":{"sha256":"ab%s"}}%s,"requested_by":"alice",`+
		`"timestamp":"2026-01-02T00:00:00Z","custom":{"request_id":"%s","status":"completed"%s},"unknown":1}`+"\n", id, id, result, id, shadow)
}

func ids(events []audit.Event) (list []string) {
	for _, e := range events {
		list = append(list, e.Custom.RequestID)
	}
	return list
}

func TestFilter(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 2, 1, 0, 0, 0, time.UTC) }
	log := eventLine("1", "allow") + eventLine("2", "deny") + "not JSON\n" + eventLine("3", "none")
	for name, c := range map[string]struct {
		filter audit.Filter
		want   string
	}{
		"all":           {audit.Filter{}, "1 2 3"},
		"verdict":       {audit.Filter{Verdict: "deny"}, "2"},
		"none":          {audit.Filter{Verdict: "none"}, "3"},
		"rule":          {audit.Filter{Rule: "blocked-import"}, "2"},
		"other rule":    {audit.Filter{Rule: "blocked-call"}, ""},
		"shadow":        {audit.Filter{Shadow: "same"}, "1"},
		"other shadow":  {audit.Filter{Shadow: "undecided"}, ""},
		"differs":       {audit.Filter{Shadow: audit.Differs}, "2"},
		"caller":        {audit.Filter{Caller: "alice"}, "1 2 3"},
		"other caller":  {audit.Filter{Caller: "bob"}, ""},
		"decision":      {audit.Filter{ID: "d_3"}, "3"},
		"request":       {audit.Filter{ID: "1"}, "1"},
		"code":          {audit.Filter{Code: "AB2"}, "2"},
		"status":        {audit.Filter{Status: "completed", Profile: "solve"}, "1 2 3"},
		"since, a day":  {audit.Filter{Since: "2026-01-02"}, "1 2 3"},
		"since, ago":    {audit.Filter{Since: "30m", Now: now}, ""},
		"until, a time": {audit.Filter{Until: "2026-01-02T00:00:01Z"}, "1 2 3"},
		"until, a day":  {audit.Filter{Until: "2026-01-02"}, ""},
	} {
		fits, err := c.filter.Compile()
		if err != nil {
			t.Fatal(err)
		}
		var found []audit.Event
		for e, err := range audit.Read(strings.NewReader(log)) {
			if err == nil && fits(e) {
				found = append(found, e)
			}
		}
		if got := strings.Join(ids(found), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, wrong := range []audit.Filter{{Verdict: "denied"}, {Shadow: "differ"}, {Since: "yesterday"}, {Until: "-2h"}} {
		if _, err := wrong.Compile(); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}

func TestALineIsGivenAsItWasRead(t *testing.T) {
	for e, err := range audit.Read(strings.NewReader(eventLine("1", "deny"))) {
		if err != nil {
			t.Fatal(err)
		}
		if line, err := e.Line(); err != nil || string(line)+"\n" != eventLine("1", "deny") {
			t.Errorf("%s, %v", line, err)
		}
	}
}

func TestFilesAreTheLogAndWhatWasPutAside(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"d.jsonl", "d-2026-01-02T03-04-05.000.jsonl", "d-2026-01-01T03-04-05.000.jsonl.gz", "d-other.jsonl", "e-2026-01-01T03-04-05.000.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := audit.Files(filepath.Join(dir, "d.jsonl"))
	want := []string{"d-2026-01-01T03-04-05.000.jsonl.gz", "d-2026-01-02T03-04-05.000.jsonl", "d.jsonl"}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("%q, %v; want %q", files, err, want)
	}
	if _, err := audit.Files(filepath.Join(dir, "none.jsonl")); err == nil {
		t.Error("a log that is not there is no error")
	}
}

func TestACompressedLogIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.jsonl.gz")
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(eventLine("1", "allow")))
	_ = w.Close()
	if err := os.WriteFile(path, zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := audit.OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for e, err := range audit.Read(log) {
		if err != nil || e.Custom.RequestID != "1" {
			t.Errorf("%+v, %v", e, err)
		}
	}
}

// A log is followed through half-written lines and through being put aside.
func TestTailFollows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.jsonl")
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	add(eventLine("1", "allow") + eventLine("2", "deny") + eventLine("3", "deny"))
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	var got []string
	for e, err := range (audit.Tail{Last: 2, Follow: true}).Read(ctx, path) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Custom.RequestID)
		switch e.Custom.RequestID {
		case "3":
			whole := eventLine("4", "allow")
			add(whole[:20])
			add(whole[20:] + "not JSON\n")
		case "4":
			add(eventLine("5", "allow"))
			if err := os.Rename(path, path+".aside"); err != nil {
				t.Fatal(err)
			}
			add(eventLine("6", "allow"))
		case "6":
			stop()
		}
	}
	if want := []string{"2", "3", "4", "5", "6"}; !slices.Equal(got, want) {
		t.Errorf("followed %q, want %q", got, want)
	}
}
