package wire

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// job is one submission on the plugin's side.
type job struct {
	srv    *server
	stream grpc.BidiStreamingServer[executorpb.HostMessage, executorpb.PluginMessage]
	src    executor.Source

	ctx      context.Context // its cause is an error of the package executor
	cancel   context.CancelCauseFunc
	treeSent atomic.Bool
	disorder atomic.Bool
	verdicts chan *executorpb.Verdict

	parsed   time.Duration
	giveTurn func() // of the session

	mu   sync.Mutex
	held int // the handler, and an author's method that has not returned
	prog executor.Program
}

var (
	errOrder     = errors.New("message out of order")
	errAbandoned = errors.New("method did not heed its context")
	errNoProgram = errors.New("Parse gave neither a program nor an error")
)

// Submit implements the contract.
func (s *server) Submit(stream grpc.BidiStreamingServer[executorpb.HostMessage, executorpb.PluginMessage]) error {
	first, err := stream.Recv()
	if err != nil {
		return status.Error(codes.InvalidArgument, "no source")
	}
	source := first.GetSource()
	if source == nil {
		return status.Error(codes.InvalidArgument, "the first message is not a source")
	}
	if !s.ready() {
		return status.Error(codes.FailedPrecondition, "not configured yet")
	}
	s.counters.begin()
	j := &job{srv: s, stream: stream, src: sourceFromWire(source), verdicts: make(chan *executorpb.Verdict, 1)}
	return j.serve()
}

// serve sees the submission to its one Result, or to the end of the stream.
func (j *job) serve() error {
	j.ctx, j.cancel = context.WithCancelCause(context.WithoutCancel(j.stream.Context()))
	unhook := context.AfterFunc(j.stream.Context(), func() { j.cancel(executor.ErrCancelled) })
	defer unhook()
	res := j.admit()
	j.cancel(executor.ErrCancelled)
	if j.disorder.Load() {
		j.srv.counters.end(invalid)
		return status.Error(codes.InvalidArgument, errOrder.Error())
	}
	if res.Usage.Parse == 0 {
		res.Usage.Parse = j.parsed
	}
	res.SessionState = j.sessionState(res)
	err := j.stream.Send(&executorpb.PluginMessage{Kind: &executorpb.PluginMessage_Result{Result: resultToWire(res)}})
	j.srv.counters.end(res.Status.String())
	return err
}

// sessionState is what an author leaves to the kit: a session that a cell did
// not lose is kept.
func (j *job) sessionState(res executor.Result) string {
	switch {
	case res.Status == executor.StatusSessionLost:
		return executor.SessionLost
	case j.src.SessionID == "":
		return ""
	case res.SessionState == "":
		return executor.SessionKept
	}
	return res.SessionState
}

// admit refuses what may not be parsed now, and gives the rest a slot.
func (j *job) admit() executor.Result {
	about := j.srv.about
	switch {
	case j.srv.draining.Load():
		return executor.Result{Status: executor.StatusOverloaded}
	case j.src.SessionID != "" && !j.srv.keepsSessions():
		return executor.Result{Status: executor.StatusSessionLost}
	case !slices.ContainsFunc(about.Languages, func(l executor.Language) bool { return l.ID == j.src.Language }):
		j.srv.log.Error("submission in a language that was not described", "submission", j.src.ID)
		return executor.Result{Status: executor.StatusInternal}
	case about.Capacity.MaxSourceBytes > 0 && uint64(len(j.src.Code)) > about.Capacity.MaxSourceBytes:
		return *tooLarge("source")
	}
	go j.listen()
	if res := j.takeTurn(); res != nil {
		return *res
	}
	if !j.srv.counters.take(about.Capacity.MaxConcurrent) {
		j.giveTurn()
		return executor.Result{Status: executor.StatusOverloaded}
	}
	j.held = 1
	defer j.letGo()
	return j.handle()
}

func (s *server) keepsSessions() bool {
	_, ok := s.exec.(executor.SessionKeeper)
	return ok
}

// takeTurn waits until the session's cell before this one has gone, as long as
// parsing may take. A host that keeps the order itself never waits here.
func (j *job) takeTurn() *executor.Result {
	j.giveTurn = func() {}
	if j.src.SessionID == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(j.ctx, parseWall(j.src))
	defer cancel()
	give := j.srv.turns.take(ctx, j.src.SessionID)
	switch {
	case give != nil:
		j.giveTurn = give
		return nil
	case j.ctx.Err() != nil:
		return &executor.Result{Status: executor.StatusCancelled}
	}
	return &executor.Result{Status: executor.StatusOverloaded}
}

// listen reads what the host sends after the source. It ends with the stream.
func (j *job) listen() {
	judged := false
	for {
		msg, err := j.stream.Recv()
		if err != nil {
			if !judged || !errors.Is(err, io.EOF) {
				j.cancel(executor.ErrCancelled)
			}
			return
		}
		switch kind := msg.GetKind().(type) {
		case *executorpb.HostMessage_Cancel:
			j.cancel(executor.ErrCancelled)
			continue
		case *executorpb.HostMessage_Verdict:
			if j.treeSent.Load() && !judged {
				judged = true
				j.verdicts <- kind.Verdict
				continue
			}
		}
		j.disorder.Store(true)
		j.cancel(errOrder)
		return
	}
}

// handle is the order of the contract: parse, show, verdict, run.
func (j *job) handle() executor.Result {
	prog, err := j.parse()
	if err != nil {
		return j.failed("parse", err)
	}
	tree, res := j.tree(prog)
	if res != nil {
		return *res
	}
	digest := tree.Digest()
	if err := j.show(tree, digest); err != nil {
		return executor.Result{Status: executor.StatusCancelled} // the stream is gone
	}
	verdict := j.await()
	switch {
	case verdict == nil:
		return executor.Result{Status: executor.StatusCancelled}
	case string(verdict.GetTreeSha256()) != string(digest[:]):
		j.srv.log.Error("verdict for another tree", "submission", j.src.ID)
		return executor.Result{Status: executor.StatusVerdictMismatch}
	case verdict.GetDeny() != nil:
		return executor.Result{Status: executor.StatusDenied}
	case verdict.GetApprove() == nil || j.src.JudgeOnly:
		j.disorder.Store(true)
		return executor.Result{}
	}
	return j.run(prog, grantFromWire(verdict.GetApprove()))
}

func (j *job) parse() (executor.Program, error) {
	ctx, cancel := context.WithTimeoutCause(j.ctx, parseTime(&j.srv.about, j.src), executor.ErrWall)
	defer cancel()
	began := time.Now()
	prog, err := attend(ctx, j, "parse", func() (executor.Program, error) {
		prog, err := j.srv.exec.Parse(ctx, j.src)
		if err == nil && prog == nil {
			err = errNoProgram
		}
		if prog != nil {
			j.keep(prog)
		}
		return prog, err
	})
	j.parsed = time.Since(began)
	return prog, reason(ctx, err)
}

// tree asks for the tree and holds it against the bounds.
func (j *job) tree(prog executor.Program) (executor.Tree, *executor.Result) {
	tree, err := attend(j.ctx, j, "tree", func() (executor.Tree, error) { return prog.Tree(), nil })
	if err = reason(j.ctx, err); err != nil {
		res := j.failed("tree", err)
		return tree, &res
	}
	limit := uint64(MaxTreeBytes)
	for _, l := range []uint64{j.srv.about.Capacity.MaxTreeBytes, j.src.MaxTreeBytes} {
		if l > 0 {
			limit = min(limit, l)
		}
	}
	if uint64(len(tree.JSON)) > limit {
		return tree, tooLarge("syntax tree")
	}
	if !isObject(tree.JSON) || tree.Schema == "" {
		res := j.failed("tree", errors.New("tree is not an object with a schema"))
		return tree, &res
	}
	return tree, nil
}

// show sends the tree in parts.
func (j *job) show(tree executor.Tree, digest [digestLength]byte) error {
	source := j.src.Digest()
	for rest := tree.JSON; ; {
		part := &executorpb.TreePart{Data: rest[:min(len(rest), treePartBytes)]}
		rest = rest[len(part.Data):]
		if len(rest) == 0 {
			part.Trailer = &executorpb.TreeTrailer{
				TreeSchema: clip(tree.Schema, maxWord), SourceSha256: source[:], TreeSha256: digest[:],
				TreeBytes: uint64(len(tree.JSON)), Nodes: tree.Nodes, Depth: tree.Depth,
			}
			j.treeSent.Store(true)
		}
		err := j.stream.Send(&executorpb.PluginMessage{Kind: &executorpb.PluginMessage_Tree{Tree: part}})
		if err != nil || part.Trailer != nil {
			return err
		}
	}
}

// await waits for the verdict; nil: it did not come.
func (j *job) await() *executorpb.Verdict {
	j.srv.counters.wait(1)
	defer j.srv.counters.wait(-1)
	patience := j.src.VerdictWait
	if patience <= 0 {
		patience = defaultVerdictWait
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v := <-j.verdicts:
		return v
	case <-timer.C:
	case <-j.ctx.Done():
	}
	return nil
}

// run runs the program and makes its result whole.
func (j *job) run(prog executor.Program, g executor.Grant) executor.Result {
	ctx, stop := context.WithCancelCause(j.ctx)
	defer stop(nil)
	if g.Limits.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, g.Limits.Wall, executor.ErrWall)
		defer cancel()
	}
	out := newOutput(g.Limits, j.stream.Send, func() { stop(executor.ErrOutput) })
	began := time.Now()
	res, err := attend(ctx, j, "run", func() (executor.Result, error) { return prog.Run(ctx, g, out) })
	if err = reason(ctx, err); err != nil {
		res = mergeFailure(res, j.failed("run", err))
	}
	if res.Usage.Wall == 0 {
		res.Usage.Wall = time.Since(began)
	}
	out.close(&res)
	j.srv.counters.wrote(out.sent())
	settle(ctx, &res)
	return res
}

// mergeFailure keeps what Run said beside its error.
func mergeFailure(said, failure executor.Result) executor.Result {
	said.Status = failure.Status
	if said.Problem == nil {
		said.Problem = failure.Problem
	}
	return said
}

// settle gives a result that says nothing else the status of what stopped it,
// and names the limit.
func settle(ctx context.Context, r *executor.Result) {
	if r.Status == executor.StatusUnspecified {
		r.Status = executor.StatusOK
	}
	if cause := context.Cause(ctx); r.Status == executor.StatusOK && cause != nil {
		r.Status = executor.StatusOf(cause)
	}
	switch r.Status { // none that a run can end with
	case executor.StatusDenied, executor.StatusVerdictMismatch:
		r.Status = executor.StatusInternal
	}
	if r.Status > executor.StatusExitNonzero {
		r.Status = executor.StatusInternal
	}
	if r.LimitFired == "" {
		r.LimitFired = limitFired(r)
	}
}

func limitFired(r *executor.Result) string {
	switch {
	case r.Status == executor.StatusWallLimit:
		return "wall"
	case r.Status == executor.StatusCPULimit:
		return "cpu"
	case r.Status == executor.StatusMemoryLimit:
		return "memory"
	case r.Status == executor.StatusOutputLimit:
		return "output_ceiling_bytes"
	case r.StdoutOmitted > 0:
		return "stdout_bytes"
	case r.StderrOmitted > 0:
		return "stderr_bytes"
	}
	return ""
}

// failed is the result of a method that gave err.
func (j *job) failed(verb string, err error) executor.Result {
	res := executor.Result{Status: executor.StatusOf(err), Problem: problemOf(err)}
	if verb != "run" && !endsBeforeVerdict(res.Status) {
		res = executor.Result{Status: executor.StatusInternal}
	}
	if res.Status == executor.StatusInternal && !errors.Is(err, errPanic) && !errors.Is(err, errOrder) {
		j.srv.log.Error("submission failed", "verb", verb, "submission", j.src.ID, "error", err)
	}
	return res
}

func problemOf(err error) *executor.Problem {
	var compile *executor.CompileError
	var raised *executor.RuntimeError
	switch {
	case errors.As(err, &compile):
		return &compile.Problem
	case errors.As(err, &raised):
		return &raised.Problem
	}
	return nil
}

// reason prefers the cause of ctx's end to an error that only says so.
func reason(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if errors.Is(err, errAbandoned) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return err
}

// attend calls an author's method and waits for it, and a moment longer than ctx
// lasts. A method that stays away longer goes on alone and keeps the job's slot.
func attend[T any](ctx context.Context, j *job, where string, do func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	j.hold()
	go func() {
		a := answer{err: errPanic}
		defer func() { done <- a }()
		defer j.letGo() // before the answer: whoever has that finds the slot free
		a.err = j.srv.protect(where, func() (err error) {
			a.value, err = do()
			return err
		})
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(j.patience())
	defer timer.Stop()
	select {
	case a := <-done:
		return a.value, a.err
	case <-timer.C:
		var none T
		j.srv.log.Warn("method does not heed its context", "where", where, "submission", j.src.ID)
		return none, errAbandoned
	}
}

func (j *job) patience() time.Duration {
	if j.src.SessionID != "" {
		return abandonCellAfter
	}
	return abandonAfter
}

func (j *job) keep(prog executor.Program) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.prog = prog
}

func (j *job) hold() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.held++
}

// letGo closes the program and frees the slot when nothing uses them any more.
func (j *job) letGo() {
	j.mu.Lock()
	j.held--
	prog, last := j.prog, j.held == 0
	j.mu.Unlock()
	if !last {
		return
	}
	defer j.giveTurn()
	defer j.srv.counters.release()
	if prog == nil {
		return
	}
	if err := j.srv.protect("close", prog.Close); err != nil {
		j.srv.log.Warn("closing a program", "submission", j.src.ID, "error", err)
	}
}
