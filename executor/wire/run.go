package wire

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// run is what follows a verdict, on the host's side. Without out, no output may
// come.
type run struct {
	s      *Submission
	limits executor.Limits
	out    func(executor.Stream, []byte)

	stdout, stderr uint64 // received
}

// collect receives until the result. It asks the run to stop when ctx ends, and
// cuts the stream when that does not help.
func (r *run) collect(ctx context.Context) (executor.Result, error) {
	unhook := context.AfterFunc(ctx, func() { r.s.stop(ctx) })
	defer unhook()
	for m := range r.s.in {
		if m.early {
			return r.tooEarly(m)
		}
		if m.err != nil {
			return r.cutShort(m.err)
		}
		switch kind := m.msg.GetKind().(type) {
		case *executorpb.PluginMessage_Output:
			if err := r.output(kind.Output); err != nil {
				return executor.Result{}, err
			}
		case *executorpb.PluginMessage_Result:
			return r.finish(kind.Result)
		default:
			return executor.Result{}, breach("neither output nor result after the verdict")
		}
	}
	return r.cutShort(io.EOF)
}

// stop asks softly and sees to it that the stream ends.
func (s *Submission) stop(ctx context.Context) {
	timer := time.AfterFunc(s.grace, func() { s.cut(errStopped) })
	context.AfterFunc(s.ctx, func() { timer.Stop() })
	reason := "client_gone"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = "deadline"
	}
	_ = s.send(&executorpb.HostMessage{Kind: &executorpb.HostMessage_Cancel{
		Cancel: &executorpb.Cancel{Reason: reason},
	}}) // the timer does what a lost message cannot
}

// cutShort says what became of a run whose stream ended without a result.
func (r *run) cutShort(err error) (executor.Result, error) {
	if err = r.s.why(err); !errors.Is(err, errStopped) {
		return executor.Result{}, err
	}
	r.s.client.overruns.Add(1)
	return executor.Result{Status: executor.StatusCancelled, StdoutBytes: r.stdout, StderrBytes: r.stderr}, nil // a cell's state is not known
}

// tooEarly takes what came while the verdict was on its way.
func (r *run) tooEarly(m received) (executor.Result, error) {
	if err := r.s.refuseEarly(m); err != nil {
		return executor.Result{}, err
	}
	return *r.s.ended, nil
}

func (r *run) output(o *executorpb.Output) error {
	n := len(o.GetData())
	switch {
	case r.out == nil:
		return breach("output after a refusal")
	case n == 0 || n > outputChunkBytes:
		return breach("output of %d bytes, not 1 to %d", n, outputChunkBytes)
	}
	switch o.GetStream() {
	case executorpb.Output_STDOUT:
		return r.take(executor.Stdout, o.GetData(), &r.stdout, r.limits.StdoutBytes)
	case executorpb.Output_STDERR:
		return r.take(executor.Stderr, o.GetData(), &r.stderr, r.limits.StderrBytes)
	}
	return breach("output of no stream")
}

func (r *run) take(stream executor.Stream, data []byte, count *uint64, limit uint64) error {
	*count += uint64(len(data))
	if *count > keepLimit(limit) {
		return breach("more output than the limit of %d bytes", keepLimit(limit))
	}
	r.out(stream, data)
	return nil
}

// keepLimit is the bound that holds on one stream, on both sides.
func keepLimit(limit uint64) uint64 {
	if limit == 0 || limit > maxKeptBytes {
		return maxKeptBytes
	}
	return limit
}

// finish checks the result and awaits the end of the stream.
func (r *run) finish(w *executorpb.Result) (executor.Result, error) {
	res, err := resultFromWire(w)
	if err != nil {
		return res, err
	}
	if res.StdoutBytes-res.StdoutOmitted != r.stdout || res.StderrBytes-res.StderrOmitted != r.stderr {
		return executor.Result{}, breach("result counts other output than came")
	}
	if res.Status == executor.StatusDenied && r.out != nil {
		return executor.Result{}, breach("result DENIED after an approval")
	}
	timer := time.NewTimer(cancelGrace)
	defer timer.Stop()
	select {
	case m := <-r.s.in:
		if m.msg != nil {
			return executor.Result{}, breach("message after the result")
		}
	case <-timer.C:
		r.s.client.overruns.Add(1)
	}
	return res, nil
}
