package gateway

import (
	"context"
	"fmt"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

// Solve takes one submission from its text to its answer. An error is never
// about the program itself; see errors.go. ctx ends when the caller goes away.
func (g *Gateway) Solve(ctx context.Context, req Request) (Answer, error) {
	return g.SolveFollowed(ctx, req, Follower{})
}

// Follower is told of a submission on its way. Its functions are called in
// order, must not keep what they get, and must not block for long. Each may be
// nil.
type Follower struct {
	Decided func(Decision) // also of a refusal
	Output  func(s executor.Stream, chunk []byte)
}

// SolveFollowed is Solve, and tells f what happens meanwhile.
func (g *Gateway) SolveFollowed(ctx context.Context, req Request, f Follower) (ans Answer, err error) {
	w := &walk{g: g, req: req, follower: f, limits: g.limitsFor(req)}
	defer func() { w.record(ans, err) }()
	if err = w.find(); err != nil {
		return Answer{}, err
	}
	cell, err := w.sit(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer w.seat.stand()
	ans, err = w.solve(cell)
	if stopped, is := w.stopped(ctx, err); is {
		return stopped, nil
	}
	return ans, err
}

// solve is the corridor, once the session's turn has come.
func (w *walk) solve(ctx context.Context) (Answer, error) {
	if err := w.admit(ctx); err != nil {
		return Answer{}, err
	}
	defer w.leave()
	verdict, ended, err := w.verdict(ctx)
	switch {
	case err != nil:
		return Answer{}, err
	case ended != nil:
		return w.answer(*ended)
	}
	res, err := w.run(ctx, *verdict)
	if err != nil {
		return Answer{}, err
	}
	if w.req.Route == RouteRun {
		res.Notes = append(res.Notes, lowered(w.req.Asked, w.limits)...)
	}
	return w.answer(res)
}

// verdict is the corridor up to the policy. Just one of the three comes back:
// an approved tree, the result of a submission that ended before it could run,
// or an error.
func (w *walk) verdict(ctx context.Context) (*approved, *executor.Result, error) {
	if err := w.parse(ctx); err != nil {
		return nil, nil, err
	}
	if ended := w.sub.Ended(); ended != nil {
		return nil, w.unjudged(*ended), nil
	}
	a, err := w.judge(ctx)
	if err == nil && a == nil {
		return nil, &executor.Result{Status: executor.StatusDenied}, nil
	}
	return a, nil, err
}

// Check answers with the decision alone; nothing runs. A text that does not
// parse gives an Answer without a decision.
func (g *Gateway) Check(ctx context.Context, req Request) (ans Answer, err error) {
	w := &walk{g: g, req: req, limits: g.limitsFor(req)}
	defer func() { w.record(ans, err) }()
	if err = w.find(); err != nil {
		return Answer{}, err
	}
	if err = w.admit(ctx); err != nil {
		return Answer{}, err
	}
	defer w.leave()
	verdict, ended, err := w.verdict(ctx)
	switch {
	case err != nil:
		return Answer{}, err
	case ended != nil:
		return w.answer(*ended)
	}
	w.sub.Deny(verdict.grant.DecisionID, []string{"checked only"})
	return Answer{Decision: w.decision, Plugin: w.target.Plugin(), Limits: w.limits, Stages: w.stages}, nil
}

// Targets lists the tools that can be asked for.
func (g *Gateway) Targets() []Target { return g.cfg.Executors.Targets() }

// Find returns the target behind a tool's name, or ErrUnknownTool.
func (g *Gateway) Find(tool string) (Target, error) { return g.cfg.Executors.Find(tool) }

// WallFor is the wall limit of a route when a caller asks for none.
func (g *Gateway) WallFor(route Route) time.Duration {
	return g.limitsFor(Request{Route: route}).Wall
}

// approved is a tree that the policy allowed. Only walk.judge makes one, and
// walk.run takes nothing else.
type approved struct {
	tree  [32]byte
	grant executor.Grant
}

// walk is one submission on its way through the corridor.
type walk struct {
	g        *Gateway
	req      Request
	follower Follower
	limits   executor.Limits
	seat     *seat  // nil: in no session
	session  string // its id, as soon as it is known
	release  func()
	target   Target
	policy   Policy
	source   executor.Source
	sub      Submission
	decision *Decision
	shaded   *shaded // nil: no shadow is asked
	out      collector
	stages   Stages
}

func (w *walk) find() (err error) {
	if w.target, err = w.g.cfg.Executors.Find(w.req.Tool); err != nil {
		return fmt.Errorf("find tool %q: %w", w.req.Tool, err)
	}
	if len(w.req.Code) > w.g.cfg.Limits.CodeBytes {
		return fmt.Errorf("admit %d bytes, at most %d: %w", len(w.req.Code), w.g.cfg.Limits.CodeBytes, ErrTooLarge)
	}
	return nil
}

func (w *walk) admit(ctx context.Context) (err error) {
	begin := w.g.cfg.Now()
	w.release, err = w.g.slots.take(ctx, w.req.Caller, w.g.cfg.Limits.QueueWait)
	w.stages.Wait += w.g.cfg.Now().Sub(begin)
	return err
}

func (w *walk) leave() {
	if w.sub != nil {
		w.sub.Close()
	}
	w.release()
}

func (w *walk) parse(ctx context.Context) (err error) {
	if w.policy, err = w.g.cfg.Policies.Current(); err != nil {
		return err
	}
	language := w.target.Language().ID
	sections, err := w.policy.Sections(language)
	if err != nil {
		return err
	}
	w.source = executor.Source{
		ID: w.req.ID, Language: language, Tool: w.target.Tool().Name, Code: w.req.Code, Stdin: w.req.Stdin,
		Sections: sections, ValueWanted: w.req.ValueWanted, MaxTreeBytes: w.g.cfg.Limits.MaxTreeBytes,
		ParseLimits: executor.Limits{Wall: w.g.cfg.Limits.ParseWall, MemoryBytes: w.limits.MemoryBytes},
		VerdictWait: verdictWait,
	}
	if w.req.Traceparent != "" {
		w.source.Labels = map[string]string{"traceparent": w.req.Traceparent}
	}
	begin := w.g.cfg.Now()
	w.sub, err = w.submit(ctx)
	w.stages.Parse = w.g.cfg.Now().Sub(begin)
	return callerGone(ctx, err)
}

func (w *walk) submit(ctx context.Context) (Submission, error) {
	if w.seat != nil {
		return w.seat.submit(ctx, w.source)
	}
	return w.target.Submit(ctx, w.source)
}

// unjudged is the result of a text that ended before a verdict: what it could
// reach were the limits of parsing.
func (w *walk) unjudged(res executor.Result) *executor.Result {
	if res.Status == executor.StatusWallLimit {
		w.limits.Wall = w.g.cfg.Limits.ParseWall
		res.Notes = append(res.Notes, "the limit was reached while the text was parsed; nothing was run")
	}
	return &res
}

// verdictWait is how long a plugin holds a parsed program for the policy.
const verdictWait = 30 * time.Second

func (w *walk) judge(ctx context.Context) (*approved, error) {
	begin := w.g.cfg.Now()
	tree := w.sub.Tree()
	question := Question{
		Language: w.source.Language, Tool: w.source.Tool, Profile: w.profile(), Caller: w.req.Caller.Name,
		Session: w.seat != nil, Source: w.source, Tree: tree,
	}
	decision, err := w.policy.Decide(ctx, question)
	w.stages.Judge = w.g.cfg.Now().Sub(begin)
	if err != nil {
		w.sub.Deny("", []string{"no verdict"})
		return nil, callerGone(ctx, err)
	}
	w.decision = &decision
	w.shade(question)
	if w.follower.Decided != nil {
		w.follower.Decided(decision)
	}
	if !decision.Allow {
		w.sub.Deny(decision.ID, rulesOf(decision.Violations))
		return nil, nil
	}
	w.limits = lower(w.limits, decision.Limits)
	return &approved{tree: tree.Digest(), grant: executor.Grant{
		Limits: w.limits, Grants: decision.Grants, DecisionID: decision.ID,
	}}, nil
}

func (w *walk) run(ctx context.Context, a approved) (executor.Result, error) {
	if a.tree != w.sub.Tree().Digest() {
		return executor.Result{}, fmt.Errorf("run a tree that was not judged: %w", ErrPluginFault)
	}
	w.out = newCollector(w.limits)
	w.seat.running()
	begin := w.g.cfg.Now()
	res, err := w.sub.Run(ctx, a.grant, func(s executor.Stream, chunk []byte) {
		w.out.add(s, chunk)
		if w.follower.Output != nil {
			w.follower.Output(s, chunk)
		}
	})
	w.stages.Run = w.g.cfg.Now().Sub(begin)
	if lost, is := w.seat.died(err); is {
		return lost, nil
	}
	return res, callerGone(ctx, err)
}

func (w *walk) profile() string {
	switch {
	case w.req.Profile != "":
		return w.req.Profile
	case w.req.Caller.Profile != "":
		return w.req.Caller.Profile
	}
	return w.g.settings.Load().Profiles[w.req.Route]
}

func (w *walk) answer(res executor.Result) (Answer, error) {
	w.seat.ended(&res)
	status, err := answerStatus(res.Status)
	if err != nil {
		return Answer{}, fmt.Errorf("plugin answered %v: %w", res.Status, err)
	}
	w.seat.settle(&res)
	res.StdoutOmitted += w.out.cut[executor.Stdout]
	res.StderrOmitted += w.out.cut[executor.Stderr]
	return Answer{
		Status: status, Decision: w.decision, Result: res, Stdout: w.out.kept[executor.Stdout], Stderr: w.out.kept[executor.Stderr],
		Limits: w.limits, Plugin: w.target.Plugin(), Stages: w.stages, Session: w.session,
	}, nil
}

func (w *walk) record(ans Answer, err error) {
	e := Entry{
		Time: w.g.cfg.Now(), RequestID: w.req.ID, Traceparent: w.req.Traceparent, Caller: w.req.Caller.Name,
		Route: w.req.Route, Tool: w.req.Tool, CodeSHA256: executor.Source{Code: w.req.Code}.Digest(),
		CodeBytes: len(w.req.Code), Decision: w.decision, Status: ans.Status, Stages: w.stages, Usage: ans.Result.Usage,
		Session: sessionDigest(w.session), State: ans.Result.SessionState,
	}
	if w.target != nil {
		e.Tool, e.Plugin, e.Language = w.target.Tool().Name, w.target.Plugin().Name, w.target.Language().ID
	}
	if err != nil {
		e.Fault = FaultClass(err)
	}
	if w.g.cfg.RecordSource {
		e.Code = w.req.Code
	}
	w.g.shadows.record(e, w.shaded)
}

// callerGone turns an error that only says that ctx ended into ErrGone.
func callerGone(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}

func rulesOf(violations []Violation) []string {
	rules := make([]string, 0, len(violations))
	for _, v := range violations {
		rules = append(rules, v.Rule)
	}
	return rules
}
