package wire

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// output joins what a program writes into chunks, keeps the first bytes of each
// stream up to its limit, and of both up to the ceiling, and counts the rest. It implements executor.Output.
type output struct {
	limits executor.Limits
	send   func(*executorpb.PluginMessage) error
	over   func() // called once, when the ceiling is passed

	mu        sync.Mutex
	closed    bool
	buf       []byte // of the stream cur, not sent yet
	cur       executor.Stream
	timer     *time.Timer
	stdout    tally
	stderr    tally
	ceiled    bool
	artifacts []executor.Artifact
	stored    uint64
}

// tally counts one stream.
type tally struct{ written, kept uint64 }

func newOutput(l executor.Limits, send func(*executorpb.PluginMessage) error, over func()) *output {
	return &output{limits: l, send: send, over: over}
}

// Stdout implements executor.Output.
func (o *output) Stdout() io.Writer { return writer{o, executor.Stdout} }

// Stderr implements executor.Output.
func (o *output) Stderr() io.Writer { return writer{o, executor.Stderr} }

type writer struct {
	o      *output
	stream executor.Stream
}

// Write never fails: a program cannot see where a limit lies.
func (w writer) Write(p []byte) (int, error) {
	w.o.write(w.stream, p)
	return len(p), nil
}

func (o *output) write(stream executor.Stream, p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	count, limit := &o.stdout, keepLimit(o.limits.StdoutBytes)
	if stream == executor.Stderr {
		count, limit = &o.stderr, keepLimit(o.limits.StderrBytes)
	}
	count.written += uint64(len(p))
	limit -= count.kept
	if ceiling := o.limits.OutputCeilingBytes; ceiling > 0 {
		limit = min(limit, ceiling-o.stdout.kept-o.stderr.kept)
	}
	keep := p[:min(uint64(len(p)), limit)]
	count.kept += uint64(len(keep))
	o.join(stream, keep)
	o.watchCeiling()
}

func (o *output) watchCeiling() {
	limit := o.limits.OutputCeilingBytes
	if limit > 0 && !o.ceiled && o.stdout.written+o.stderr.written > limit {
		o.ceiled = true
		o.over()
	}
}

// join appends p to the chunk at hand and sends chunks that are full.
func (o *output) join(stream executor.Stream, p []byte) {
	if len(p) > 0 && stream != o.cur {
		o.flush()
		o.cur = stream
	}
	for len(p) > 0 {
		n := min(len(p), outputChunkBytes-len(o.buf))
		o.buf = append(o.buf, p[:n]...)
		p = p[n:]
		if len(o.buf) == outputChunkBytes {
			o.flush()
		}
	}
	if len(o.buf) > 0 && o.timer == nil {
		o.timer = time.AfterFunc(flushDelay, o.tick)
	}
}

func (o *output) tick() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = nil
	o.flush()
}

// flush sends the chunk at hand. A broken stream ends the run by its context,
// so a failure is not told to the writer.
func (o *output) flush() {
	if len(o.buf) == 0 {
		return
	}
	stream := executorpb.Output_STDOUT
	if o.cur == executor.Stderr {
		stream = executorpb.Output_STDERR
	}
	_ = o.send(&executorpb.PluginMessage{Kind: &executorpb.PluginMessage_Output{
		Output: &executorpb.Output{Stream: stream, Data: o.buf},
	}})
	o.buf = nil // the message still holds it
}

var errArtifact = errors.New("artifact is too large")

// Artifact implements executor.Output.
func (o *output) Artifact(mediaType, name string, data []byte) error {
	limit := uint64(MaxArtifactBytes)
	if l := o.limits.ArtifactBytes; l > 0 {
		limit = min(limit, l)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return errors.New("run is over")
	case mediaType == "" || len(mediaType) > maxWord || len(name) > maxWord:
		return errors.New("artifact needs a media type and a name of at most 256 bytes")
	case len(o.artifacts) == maxFew:
		return fmt.Errorf("%w: more than %d", errArtifact, maxFew)
	case o.stored+uint64(len(data)) > limit:
		return fmt.Errorf("%w: more than %d bytes in all", errArtifact, limit)
	}
	o.stored += uint64(len(data))
	o.artifacts = append(o.artifacts, executor.Artifact{
		MediaType: clip(mediaType, maxWord), Name: clip(name, maxWord), Data: append([]byte(nil), data...),
	})
	return nil
}

// close sends what is left and writes the counts into r. What is written
// afterwards is lost.
func (o *output) close(r *executor.Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	if o.timer != nil {
		o.timer.Stop()
	}
	o.closed = true
	r.StdoutBytes, r.StderrBytes = o.stdout.written, o.stderr.written
	r.StdoutOmitted, r.StderrOmitted = o.stdout.written-o.stdout.kept, o.stderr.written-o.stderr.kept
	r.Artifacts = o.artifacts
}

// sent is the number of bytes that left.
func (o *output) sent() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.stdout.kept + o.stderr.kept
}
