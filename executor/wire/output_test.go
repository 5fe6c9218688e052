package wire

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

var _ executor.Output = (*output)(nil)

func quiet(l executor.Limits) *output {
	return newOutput(l, func(*executorpb.PluginMessage) error { return nil }, func() {})
}

func TestArtifacts(t *testing.T) {
	o := quiet(executor.Limits{ArtifactBytes: 10})
	data := []byte("12345")
	if err := o.Artifact("text/plain", "a", data); err != nil {
		t.Fatal(err)
	}
	data[0] = 'x' // the author's own again
	for name, err := range map[string]error{
		"over the limit": o.Artifact("text/plain", "b", []byte("123456")),
		"of no type":     o.Artifact("", "b", nil),
		"long name":      o.Artifact("text/plain", strings.Repeat("n", maxWord+1), nil),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	for range maxFew - 1 {
		if err := o.Artifact("text/plain", "", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Artifact("text/plain", "", nil); !errors.Is(err, errArtifact) {
		t.Errorf("one too many: %v", err)
	}
	var res executor.Result
	o.close(&res)
	if len(res.Artifacts) != maxFew || string(res.Artifacts[0].Data) != "12345" {
		t.Errorf("%d artifacts, the first %q", len(res.Artifacts), res.Artifacts[0].Data)
	}
	if o.Artifact("text/plain", "late", nil) == nil {
		t.Error("an artifact was taken after the end")
	}
	if err := quiet(executor.Limits{}).Artifact("text/plain", "", make([]byte, MaxArtifactBytes+1)); !errors.Is(err, errArtifact) {
		t.Errorf("without a limit: %v", err)
	}
}

func TestOutputAfterTheEndIsLost(t *testing.T) {
	var sent int
	o := newOutput(executor.Limits{}, func(*executorpb.PluginMessage) error { sent++; return nil }, func() {})
	var res executor.Result
	o.close(&res)
	if n, err := o.Stdout().Write([]byte("late")); n != 4 || err != nil || sent != 0 {
		t.Errorf("%d, %v, sent %d", n, err, sent)
	}
}

// Chunks are at most 32 KiB, and together they are what was written.
func TestOutputChunks(t *testing.T) {
	var got []byte
	o := newOutput(executor.Limits{}, func(m *executorpb.PluginMessage) error {
		chunk := m.GetOutput().GetData()
		if len(chunk) == 0 || len(chunk) > outputChunkBytes {
			t.Errorf("chunk of %d bytes", len(chunk))
		}
		got = append(got, chunk...)
		return nil
	}, func() {})
	want := bytes.Repeat([]byte("0123456789"), 10_000)
	for rest := want; len(rest) > 0; {
		n := min(len(rest), 3333)
		_, _ = o.Stdout().Write(rest[:n])
		rest = rest[n:]
	}
	o.close(new(executor.Result))
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes came of %d", len(got), len(want))
	}
}

// TestCeilingCuts: what is kept of both streams is within the ceiling, and what
// is cut is counted.
func TestCeilingCuts(t *testing.T) {
	over := 0
	var kept bytes.Buffer
	o := newOutput(executor.Limits{OutputCeilingBytes: 3}, func(m *executorpb.PluginMessage) error {
		kept.Write(m.GetOutput().GetData())
		return nil
	}, func() { over++ })
	for _, w := range []struct {
		to   interface{ Write([]byte) (int, error) }
		text string
	}{{o.Stderr(), "a"}, {o.Stdout(), "bcde"}, {o.Stderr(), "f"}} {
		if n, err := w.to.Write([]byte(w.text)); n != len(w.text) || err != nil {
			t.Errorf("Write: %d, %v", n, err)
		}
	}
	var r executor.Result
	o.close(&r)
	if kept.String() != "abc" || over != 1 || r.StdoutBytes != 4 || r.StdoutOmitted != 2 || r.StderrBytes != 2 || r.StderrOmitted != 1 {
		t.Errorf("kept %q, over %d, %+v", kept.String(), over, r)
	}
}
