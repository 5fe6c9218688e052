package wire

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// Submission is a text that the plugin has parsed. It waits for a verdict: Run
// or Deny, once, and then Close. One goroutine uses it.
type Submission struct {
	client *Client
	stream grpc.BidiStreamingClient[executorpb.HostMessage, executorpb.PluginMessage]
	ctx    context.Context // of the stream; its cause says why it was cut
	cut    context.CancelCauseFunc

	tree   executor.Tree
	digest [sha256.Size]byte
	ended  *executor.Result
	grace  time.Duration // that a run has to end when it is asked to

	judged bool // a verdict was given; the caller's goroutine alone
	shown  bool // it is to be judged and never run: Source.JudgeOnly
	sent   atomic.Bool
	in     chan received // what came after the tree; nil if ended
}

// received is one message, or the end of the stream. early: it came before the
// verdict was sent.
type received struct {
	msg   *executorpb.PluginMessage
	err   error
	early bool
}

var (
	errClosed  = errors.New("submission was closed")
	errStopped = errors.New("run did not stop when it was asked to")
	errJudged  = errors.New("submission has its verdict already")
	errShown   = errors.New("submission was made to be judged and never run")
)

// Submit sends src and waits until the plugin has parsed it: until its tree is
// there whole and its digests are verified, or until the plugin has ended it.
// When ctx ends the call is cut. The host's own deadline is the parse limit
// (5 s, if none is set), the time that the plugin may wait before, and 2 s; then the error is [ErrOverrun].
func (c *Client) Submit(ctx context.Context, src executor.Source) (*Submission, error) {
	if res := c.refuseLarge(src); res != nil {
		return &Submission{client: c, ended: res, ctx: ctx, cut: func(error) {}}, nil
	}
	s := &Submission{client: c, grace: graceOf(src), shown: src.JudgeOnly}
	s.ctx, s.cut = context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() { s.cut(context.Cause(ctx)) })
	timer := time.AfterFunc(parseTime(c.about.Load(), src)+hostGrace, func() { s.cut(ErrOverrun) })
	defer timer.Stop()
	err := s.open(src)
	if !unhook() {
		err = ctx.Err()
	}
	if err != nil {
		s.cut(errClosed)
		return nil, c.fault(ctx, "submit", err)
	}
	if s.ended == nil {
		s.in = make(chan received, 1)
		go s.pump()
	}
	return s, nil
}

// refuseLarge spares the plugin what it said it does not take, and what no
// message holds.
func (c *Client) refuseLarge(src executor.Source) *executor.Result {
	limit := uint64(maxSubmitBytes)
	if about := c.about.Load(); about != nil && about.Capacity.MaxSourceBytes > 0 {
		limit = min(limit, about.Capacity.MaxSourceBytes)
	}
	if uint64(len(src.Code)) <= limit && len(src.Code)+len(src.Stdin) <= maxSubmitBytes {
		return nil
	}
	return tooLarge("source")
}

func parseWall(src executor.Source) time.Duration {
	if src.ParseLimits.Wall > 0 {
		return src.ParseLimits.Wall
	}
	return defaultParseWall
}

// parseTime is how long Parse may take: the limit, and what an executor that
// holds it itself may wait before.
func parseTime(about *executor.Description, src executor.Source) time.Duration {
	if about != nil && slices.Contains(about.Features, executor.FeatureParseWait) {
		return parseWall(src) + executor.ParseWait
	}
	return parseWall(src)
}

func graceOf(src executor.Source) time.Duration {
	if src.SessionID != "" {
		return cellGrace
	}
	return cancelGrace
}

func tooLarge(what string) *executor.Result {
	return &executor.Result{
		Status:  executor.StatusTreeTooLarge,
		Problem: &executor.Problem{Type: "TooLarge", Message: "the " + what + " is too large"},
	}
}

// Tree is what the plugin showed. The caller must not change it.
func (s *Submission) Tree() executor.Tree { return s.tree }

// Ended is the result of a submission that ended before a verdict; nil while a
// verdict is awaited.
func (s *Submission) Ended() *executor.Result { return s.ended }

// Close frees the plugin's slot, whatever the state. It may be called again.
func (s *Submission) Close() { s.cut(errClosed) }

// open sends the source and receives the tree, or the result that ends it.
func (s *Submission) open(src executor.Source) error {
	var err error
	if s.stream, err = s.client.rpc.Submit(s.ctx); err != nil {
		return s.why(err)
	}
	if err := s.send(&executorpb.HostMessage{Kind: &executorpb.HostMessage_Source{Source: sourceToWire(src)}}); err != nil {
		return s.why(err)
	}
	trailer, err := s.receiveTree(s.client.maxTree(src))
	if err != nil {
		return err
	}
	if s.ended != nil {
		return s.expectEnd()
	}
	return s.verify(src, trailer)
}

// send gives no error when the stream is over: receiving tells why.
func (s *Submission) send(m *executorpb.HostMessage) error {
	if err := s.stream.Send(m); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// why prefers the reason for which this side cut the stream.
func (s *Submission) why(err error) error {
	if cause := context.Cause(s.ctx); cause != nil {
		return cause
	}
	if err = classify(err); errors.Is(err, ErrRefused) {
		return breach("%s", err) // nothing that this side sent was out of order
	}
	return err
}

func (c *Client) maxTree(src executor.Source) uint64 {
	limit := uint64(MaxTreeBytes)
	if about := c.about.Load(); about != nil && about.Capacity.MaxTreeBytes > 0 {
		limit = min(limit, about.Capacity.MaxTreeBytes)
	}
	if src.MaxTreeBytes > 0 {
		limit = min(limit, src.MaxTreeBytes)
	}
	return limit
}

func (s *Submission) receiveTree(limit uint64) (*executorpb.TreeTrailer, error) {
	for {
		msg, err := s.stream.Recv()
		if err != nil {
			return nil, s.why(err)
		}
		switch kind := msg.GetKind().(type) {
		case *executorpb.PluginMessage_Tree:
			if err := s.addPart(kind.Tree, limit); err != nil {
				return nil, err
			}
			if t := kind.Tree.GetTrailer(); t != nil {
				return t, nil
			}
		case *executorpb.PluginMessage_Result:
			return nil, s.endEarly(kind.Result)
		default:
			return nil, breach("neither tree nor result before the verdict")
		}
	}
}

func (s *Submission) addPart(part *executorpb.TreePart, limit uint64) error {
	n := len(part.GetData())
	if n > treePartBytes {
		return breach("part of the tree has %d bytes, more than %d", n, treePartBytes)
	}
	if n == 0 && part.GetTrailer() == nil {
		return breach("part of the tree is empty")
	}
	if uint64(len(s.tree.JSON)+n) > limit {
		return breach("tree has more than %d bytes", limit)
	}
	s.tree.JSON = append(s.tree.JSON, part.GetData()...)
	return nil
}

// endEarly takes a result that came instead of a tree.
func (s *Submission) endEarly(r *executorpb.Result) error {
	if len(s.tree.JSON) > 0 {
		return breach("result in the middle of a tree")
	}
	res, err := resultFromWire(r)
	if err != nil {
		return err
	}
	if !endsBeforeVerdict(res.Status) || res.StdoutBytes+res.StderrBytes > 0 {
		return breach("result %s before the verdict", res.Status)
	}
	s.ended = &res
	return nil
}

// endsBeforeVerdict says which results may come of a text that did not run.
func endsBeforeVerdict(status executor.Status) bool {
	switch status {
	case executor.StatusCompileError, executor.StatusTreeTooLarge, executor.StatusWallLimit,
		executor.StatusCPULimit, executor.StatusMemoryLimit, executor.StatusCancelled,
		executor.StatusSessionLost, executor.StatusInternal, executor.StatusOverloaded:
		return true
	}
	return false
}

// expectEnd awaits the end of the stream after a result that ended it early. An
// end that does not come is a strike; the result stands.
func (s *Submission) expectEnd() error {
	timer := time.AfterFunc(cancelGrace, func() {
		s.client.overruns.Add(1)
		s.cut(errClosed)
	})
	defer timer.Stop()
	_, err := s.stream.Recv()
	if err == nil {
		return breach("message after the result")
	}
	s.cut(errClosed)
	return nil
}

// verify holds the tree against its trailer and the digests against the bytes.
func (s *Submission) verify(src executor.Source, t *executorpb.TreeTrailer) error {
	s.tree.Schema, s.tree.Nodes, s.tree.Depth = t.GetTreeSchema(), t.GetNodes(), t.GetDepth()
	s.digest = s.tree.Digest()
	source := src.Digest()
	var c check
	c.word("tree_schema", t.GetTreeSchema())
	c.require(string(t.GetSourceSha256()) == string(source[:]), "digest of the source is wrong")
	c.require(string(t.GetTreeSha256()) == string(s.digest[:]), "digest of the tree is wrong")
	c.require(t.GetTreeBytes() == uint64(len(s.tree.JSON)), "size of the tree is wrong")
	c.require(isObject(s.tree.JSON), "tree is not an object")
	if want := s.client.treeSchema(src.Language); want != "" {
		c.require(t.GetTreeSchema() == want, "tree is of schema %q, not %q", clip(t.GetTreeSchema(), maxWord), want)
	}
	return c.err
}

// isObject says whether doc can be a JSON object. Whether it is one, the reader
// finds out.
func isObject(doc []byte) bool {
	return len(doc) >= 2 && doc[0] == '{' && doc[len(doc)-1] == '}' && utf8.Valid(doc)
}

func (c *Client) treeSchema(language string) string {
	about := c.about.Load()
	if about == nil {
		return ""
	}
	for _, l := range about.Languages {
		if l.ID == language {
			return l.TreeSchema
		}
	}
	return ""
}

// pump receives until the stream is over, and sees what came too early.
func (s *Submission) pump() {
	defer close(s.in)
	for {
		msg, err := s.stream.Recv()
		r := received{msg: msg, err: err, early: !s.sent.Load()}
		select {
		case s.in <- r:
		case <-s.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// verdict sends v, once.
func (s *Submission) verdict(v *executorpb.Verdict) error {
	if s.ended != nil || s.judged {
		return errJudged
	}
	s.judged = true
	select {
	case r := <-s.in:
		if err := s.refuseEarly(r); err != nil {
			return err
		}
	default:
	}
	if s.ended != nil {
		return nil
	}
	s.sent.Store(true)
	v.TreeSha256 = s.digest[:]
	if err := s.send(&executorpb.HostMessage{Kind: &executorpb.HostMessage_Verdict{Verdict: v}}); err != nil {
		return s.why(err)
	}
	return nil
}

// refuseEarly judges what came before the verdict: the end of the process, a
// result (no verdict in time, say), or a breach.
func (s *Submission) refuseEarly(r received) error {
	if r.err != nil {
		return s.why(r.err)
	}
	if r.msg == nil {
		return s.why(io.EOF)
	}
	if r.msg.GetResult() == nil {
		return breach("output before the verdict")
	}
	res, err := resultFromWire(r.msg.GetResult())
	if err != nil {
		return err
	}
	if !endsBeforeVerdict(res.Status) {
		return breach("result %s before the verdict", res.Status)
	}
	s.ended = &res
	return nil
}

// Deny refuses the tree and sees that the plugin has let go of it. A plugin that
// does anything else gets a strike.
func (s *Submission) Deny(decisionID string, reasons []string) {
	defer s.Close()
	deny := &executorpb.Deny{DecisionId: clip(decisionID, maxWord), Reasons: clipAll(reasons, maxText)}
	err := s.verdict(&executorpb.Verdict{Decision: &executorpb.Verdict_Deny{Deny: deny}})
	if errors.Is(err, errJudged) || s.ended != nil {
		return
	}
	if err == nil {
		timer := time.AfterFunc(cancelGrace, func() { s.cut(ErrOverrun) })
		defer timer.Stop()
		var res executor.Result
		res, err = (&run{s: s}).collect(context.Background())
		if err == nil && res.Status != executor.StatusDenied && !endsBeforeVerdict(res.Status) {
			err = breach("result %s after a refusal", res.Status)
		}
	}
	_ = s.client.fault(context.Background(), "deny", err) // counted there; nobody waits for it
}

// Run approves the tree and waits for the end. out is called in order and must
// neither keep the chunk nor block for long. When ctx ends, the run is asked to
// stop, and after 500 ms (a cell: 900 ms) the call is cut: either way the result so far comes
// back, CANCELLED. The host's own deadline is the wall limit, if one is set, and
// 2 s; then the error is [ErrOverrun]. On an error, what was printed has been
// handed to out.
func (s *Submission) Run(ctx context.Context, g executor.Grant, out func(executor.Stream, []byte)) (executor.Result, error) {
	defer s.Close()
	if s.shown {
		return executor.Result{}, fmt.Errorf("run: %w", errShown)
	}
	if ctx.Err() != nil && s.ended == nil && !s.judged {
		s.judged = true
		return executor.Result{Status: executor.StatusCancelled}, nil // nothing has run
	}
	err := s.verdict(&executorpb.Verdict{Decision: &executorpb.Verdict_Approve{Approve: grantToWire(g)}})
	if errors.Is(err, errJudged) {
		return executor.Result{}, fmt.Errorf("run: %w", err)
	}
	if err == nil && s.ended != nil {
		return *s.ended, nil
	}
	if err == nil {
		if g.Limits.Wall > 0 {
			timer := time.AfterFunc(g.Limits.Wall+hostGrace, func() { s.cut(ErrOverrun) })
			defer timer.Stop()
		}
		var res executor.Result
		if res, err = (&run{s: s, limits: g.Limits, out: out}).collect(ctx); err == nil {
			return res, nil
		}
	}
	return executor.Result{}, s.client.fault(context.Background(), "run", err)
}
