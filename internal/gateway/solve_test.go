package gateway_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

func TestSolveRunsWhatWasJudged(t *testing.T) {
	w := newWorld()
	w.plugin.prints = []chunk{{executor.Stdout, "12\n"}}
	ans := solve(t, w, request())
	if ans.Status != gateway.Completed || ans.StdoutText() != "12\n" || ans.Summary() != "" {
		t.Fatalf("answer = %q, %q, %q", ans.Status, ans.StdoutText(), ans.Summary())
	}
	q := w.policy.asked[0]
	if q.Profile != "solve" || q.Caller != "worker" || string(q.Tree.JSON) != string(w.plugin.tree.JSON) {
		t.Errorf("the policy was asked %+v", q)
	}
	src := w.plugin.sources[0]
	if src.Sections[0] != "names" || src.ParseLimits.Wall != 5*time.Second || src.Labels["traceparent"] != "00-a-b-01" {
		t.Errorf("the plugin was sent %+v", src)
	}
	if g := w.plugin.grants[0]; g.Grants[0] != "import:math" || g.Limits.CPU != 30*time.Second || g.DecisionID != "d1" {
		t.Errorf("the grant was %+v", g)
	}
	e := onlyEntry(t, w)
	if e.Status != gateway.Completed || e.Caller != "worker" || e.Plugin != "python-exec" || e.CodeBytes != 9 || e.Fault != "" {
		t.Errorf("journal = %+v", e)
	}
	if w.plugin.closed != 1 {
		t.Errorf("the submission was closed %d times", w.plugin.closed)
	}
}

func TestSolveRefuses(t *testing.T) {
	w := newWorld()
	w.policy.decision = gateway.Decision{Allow: false, ID: "d2", Violations: []gateway.Violation{
		{Rule: "blocked-call", Level: "error", Message: "eval() is blocked", Hint: "write it out", Line: 3, Column: 5, More: 2},
		{Rule: "style", Level: "warn", Message: "meh", Line: 1, Column: 1},
	}}
	ans := solve(t, w, request())
	want := "refused by the policy; nothing was run\nline 3, column 5: eval() is blocked (blocked-call) and 2 more\n  hint: write it out"
	if ans.Status != gateway.Rejected || ans.Summary() != want {
		t.Errorf("answer = %q, %q", ans.Status, ans.Summary())
	}
	if len(w.plugin.grants) != 0 {
		t.Error("a refused program was run")
	}
	if len(w.plugin.denied) != 1 || w.plugin.denied[0][0] != "blocked-call" {
		t.Errorf("the plugin was told %v", w.plugin.denied)
	}
}

func TestSolveSaysThatATreeIsTooLarge(t *testing.T) {
	w := newWorld()
	w.plugin.ended = &executor.Result{Status: executor.StatusTreeTooLarge}
	if ans := solve(t, w, request()); ans.Status != gateway.SyntaxError || !strings.Contains(ans.Summary(), "nested too deeply") {
		t.Errorf("answer = %q, %q", ans.Status, ans.Summary())
	}
}

func TestSolveDoesNotJudgeWhatDoesNotParse(t *testing.T) {
	w := newWorld()
	w.plugin.ended = &executor.Result{Status: executor.StatusCompileError, Problem: &executor.Problem{
		Type: "SyntaxError", Message: "'[' was never closed", Line: 1, Column: 10,
	}}
	ans := solve(t, w, request())
	if ans.Status != gateway.SyntaxError || ans.Summary() != "SyntaxError: '[' was never closed (line 1, column 10)" {
		t.Errorf("answer = %q, %q", ans.Status, ans.Summary())
	}
	if len(w.policy.asked) != 0 || ans.Decision != nil {
		t.Error("the policy was asked about a text without a tree")
	}
}

func TestParsingHasItsOwnLimit(t *testing.T) {
	w := newWorld()
	w.plugin.ended = &executor.Result{Status: executor.StatusWallLimit}
	want := "timed out: wall-clock limit of 5s reached\nthe limit was reached while the text was parsed; nothing was run"
	if ans := solve(t, w, request()); ans.Status != gateway.TimedOut || ans.Summary() != want {
		t.Errorf("answer = %q, %q", ans.Status, ans.Summary())
	}
}

func TestErrorsLeaveNothingRunning(t *testing.T) {
	own := errors.New("boom at /srv/secret")
	cases := map[string]struct {
		break_ func(*world, *gateway.Request)
		want   error
		fault  string
	}{
		"tool":         {func(_ *world, r *gateway.Request) { r.Tool = "perl" }, gateway.ErrUnknownTool, "unknown_tool"},
		"size":         {func(w *world, _ *gateway.Request) { w.cfg.Limits.CodeBytes = 3 }, gateway.ErrTooLarge, "too_large"},
		"no policy":    {func(w *world, _ *gateway.Request) { w.policy.none = gateway.ErrNoPolicy }, gateway.ErrNoPolicy, "no_policy"},
		"no rules":     {func(w *world, _ *gateway.Request) { w.policy.sectionsErr = gateway.ErrNoPolicy }, gateway.ErrNoPolicy, "no_policy"},
		"policy fault": {func(w *world, _ *gateway.Request) { w.policy.err = gateway.ErrPolicyFault }, gateway.ErrPolicyFault, "policy_fault"},
		"profile":      {func(w *world, _ *gateway.Request) { w.policy.err = gateway.ErrUnknownProfile }, gateway.ErrUnknownProfile, "unknown_profile"},
		"plugin down":  {func(w *world, _ *gateway.Request) { w.plugin.submitErr = gateway.ErrPluginDown }, gateway.ErrPluginDown, "plugin_down"},
		"plugin died":  {func(w *world, _ *gateway.Request) { w.plugin.runErr = gateway.ErrPluginDied }, gateway.ErrPluginDied, "plugin_died"},
		"overloaded":   {func(w *world, _ *gateway.Request) { w.plugin.result.Status = executor.StatusOverloaded }, gateway.ErrPluginBusy, "plugin_busy"},
		"internal":     {func(w *world, _ *gateway.Request) { w.plugin.result.Status = executor.StatusInternal }, gateway.ErrPluginFault, "plugin_fault"},
		"mismatch":     {func(w *world, _ *gateway.Request) { w.plugin.result.Status = executor.StatusVerdictMismatch }, gateway.ErrPluginFault, "plugin_fault"},
		"no status":    {func(w *world, _ *gateway.Request) { w.plugin.result.Status = executor.StatusUnspecified }, gateway.ErrPluginFault, "plugin_fault"},
		"our own":      {func(w *world, _ *gateway.Request) { w.plugin.runErr = own }, own, "internal"},
		"other tree": {func(w *world, _ *gateway.Request) {
			w.plugin.swapped = &executor.Tree{Schema: "pyast/1", JSON: []byte(`{"evil":1}`)}
		}, gateway.ErrPluginFault, "plugin_fault"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w, req := newWorld(), request()
			c.break_(w, &req)
			g := gateway.New(w.cfg)
			if _, err := g.Solve(context.Background(), req); !errors.Is(err, c.want) {
				t.Fatalf("Solve = %v, want %v", err, c.want)
			}
			if e := onlyEntry(t, w); e.Fault != c.fault || e.Status != "" {
				t.Errorf("journal: fault %q, status %q; want fault %q", e.Fault, e.Status, c.fault)
			}
			if name == "other tree" && len(w.plugin.grants) != 0 {
				t.Error("a tree that was not judged was run")
			}
			assertSlotsFree(t, g, w)
		})
	}
}

// assertSlotsFree fails when a slot was not given back.
func assertSlotsFree(t *testing.T, g *gateway.Gateway, w *world) {
	t.Helper()
	w.plugin.submitErr, w.policy.none, w.policy.sectionsErr, w.policy.err = nil, nil, nil, nil
	w.plugin.ended = &executor.Result{Status: executor.StatusCompileError}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for range w.cfg.Limits.Concurrency {
		if _, err := g.Check(ctx, gateway.Request{Tool: "python", Code: []byte("x")}); err != nil {
			t.Fatalf("a slot was lost: %v", err)
		}
	}
}

func TestAdmissionIsBounded(t *testing.T) {
	w := newWorld()
	w.cfg.Limits.Concurrency, w.cfg.Limits.Queue = 1, 1
	w.plugin.hold = make(chan struct{})
	g := gateway.New(w.cfg)
	ended := make(chan error, 2)
	start := func() {
		go func() {
			_, err := g.Solve(context.Background(), request())
			ended <- err
		}()
	}
	start()
	await(t, func() bool { w.plugin.mu.Lock(); defer w.plugin.mu.Unlock(); return len(w.plugin.grants) == 1 })
	start()
	await(t, func() bool { return g.Waiting() == 1 })
	if _, err := g.Solve(context.Background(), request()); !errors.Is(err, gateway.ErrQueueFull) {
		t.Fatalf("with a full queue Solve = %v, want ErrQueueFull", err)
	}
	close(w.plugin.hold)
	for range 2 {
		if err := <-ended; err != nil {
			t.Errorf("an admitted request ended with %v", err)
		}
	}
}

func TestWaitIsBoundedAndNotTheProgramsTime(t *testing.T) {
	w := newWorld()
	w.cfg.Limits.Concurrency, w.cfg.Limits.QueueWait = 1, time.Nanosecond
	w.plugin.hold = make(chan struct{})
	g := gateway.New(w.cfg)
	ended := make(chan error, 1)
	go func() {
		_, err := g.Solve(context.Background(), request())
		ended <- err
	}()
	await(t, func() bool { w.plugin.mu.Lock(); defer w.plugin.mu.Unlock(); return len(w.plugin.grants) == 1 })
	if _, err := g.Solve(context.Background(), request()); !errors.Is(err, gateway.ErrBusy) {
		t.Errorf("Solve = %v, want ErrBusy when the wait is over", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w2 := newWorld()
	w2.plugin.hold = make(chan struct{})
	g2 := gateway.New(w2.cfg)
	if ans, err := g2.Solve(ctx, request()); err != nil || ans.Status != gateway.Cancelled || ans.Summary() == "" {
		t.Errorf("a caller who left gave %q, %v", ans.Status, err)
	}
	close(w.plugin.hold)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestCallerWhoLeavesWhileWaiting(t *testing.T) {
	w := newWorld()
	w.cfg.Limits.Concurrency = 1
	w.plugin.hold = make(chan struct{})
	defer close(w.plugin.hold)
	g := gateway.New(w.cfg)
	go func() { _, _ = g.Solve(context.Background(), request()) }()
	await(t, func() bool { w.plugin.mu.Lock(); defer w.plugin.mu.Unlock(); return len(w.plugin.grants) == 1 })
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for g.Waiting() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := g.Solve(ctx, request()); !errors.Is(err, gateway.ErrGone) {
		t.Errorf("Solve = %v, want ErrGone", err)
	}
	w.plugin.submitErr = context.Canceled
	if g.Waiting() != 0 {
		t.Error("a caller who left is still counted as waiting")
	}
}

func TestCheckRunsNothing(t *testing.T) {
	w := newWorld()
	req := request()
	req.Profile = "tool"
	ans, err := gateway.New(w.cfg).Check(context.Background(), req)
	if err != nil || ans.Decision == nil || !ans.Decision.Allow {
		t.Fatalf("Check = %+v, %v", ans, err)
	}
	if len(w.plugin.grants) != 0 || len(w.plugin.denied) != 1 {
		t.Errorf("runs %d, denials %d; want 0 and 1", len(w.plugin.grants), len(w.plugin.denied))
	}
	if w.policy.asked[0].Profile != "tool" {
		t.Errorf("asked for profile %q", w.policy.asked[0].Profile)
	}
	w.policy.decision.Allow = false
	if ans, err = gateway.New(w.cfg).Check(context.Background(), req); err != nil || ans.Status != gateway.Rejected {
		t.Errorf("Check of a refused program = %q, %v", ans.Status, err)
	}
	for _, breakIt := range []func(){
		func() { w.policy.err = gateway.ErrPolicyFault },
		func() { w.policy.none = gateway.ErrNoPolicy },
		func() { w.cfg.Limits.CodeBytes = 1 },
	} {
		breakIt()
		if _, err = gateway.New(w.cfg).Check(context.Background(), req); err == nil {
			t.Error("Check gave an answer without a verdict")
		}
	}
}

func TestCallersProfileWinsOverTheRoute(t *testing.T) {
	w, req := newWorld(), request()
	req.Caller.Profile = "strict"
	solve(t, w, req)
	if w.policy.asked[0].Profile != "strict" {
		t.Errorf("profile = %q, want the token's own", w.policy.asked[0].Profile)
	}
}

func TestSourceIsRecordedOnWishOnly(t *testing.T) {
	w := newWorld()
	w.cfg.RecordSource = true
	solve(t, w, request())
	if got := string(onlyEntry(t, w).Code); got != "print(1)\n" {
		t.Errorf("recorded %q", got)
	}
}

func TestEveryContractStatusIsOneAnswer(t *testing.T) {
	reached := map[gateway.Status]bool{}
	for _, s := range executor.Statuses() {
		w := newWorld()
		w.plugin.result.Status = s
		ans, err := gateway.New(w.cfg).Solve(context.Background(), request())
		if (err == nil) == (ans.Status == "") {
			t.Errorf("%v gives answer %q and error %v; want exactly one", s, ans.Status, err)
		}
		reached[ans.Status] = true
	}
	for _, word := range []gateway.Status{
		gateway.Completed, gateway.Rejected, gateway.SyntaxError, gateway.Failed, gateway.TimedOut,
		gateway.OutOfMemory, gateway.OutputLimit, gateway.Crashed, gateway.Cancelled,
	} {
		if !reached[word] {
			t.Errorf("no contract status gives %q", word)
		}
	}
}

func TestStreamingSeesChunksInOrder(t *testing.T) {
	w := newWorld()
	w.plugin.prints = []chunk{{executor.Stdout, "a"}, {executor.Stderr, "b"}, {executor.Stdout, "c"}}
	var seen strings.Builder
	_, err := gateway.New(w.cfg).SolveFollowed(context.Background(), request(), gateway.Follower{
		Output: func(_ executor.Stream, b []byte) { seen.Write(b) },
	})
	if err != nil || seen.String() != "abc" {
		t.Errorf("saw %q, %v", seen.String(), err)
	}
}

func TestTargetsAndScopes(t *testing.T) {
	w := newWorld()
	g := gateway.New(w.cfg)
	if _, err := g.Find("perl"); !errors.Is(err, gateway.ErrUnknownTool) || len(g.Targets()) != 1 {
		t.Errorf("Find(perl) = %v, targets %d", err, len(g.Targets()))
	}
	if c := request().Caller; !c.May("solve") || c.May("admin") || !(gateway.Caller{Scopes: []string{"*"}}).May("admin") {
		t.Error("scopes are not honoured")
	}
	var invalid error = &gateway.InvalidError{Field: "timeout", Reason: "must be a positive number"}
	if invalid.Error() != "timeout: must be a positive number" || gateway.FaultClass(invalid) != "invalid" {
		t.Errorf("invalid = %v, %s", invalid, gateway.FaultClass(invalid))
	}
}

func await(t *testing.T, ready func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ready() {
		if time.Now().After(deadline) {
			t.Fatal("the awaited condition never came")
		}
		time.Sleep(time.Millisecond)
	}
}
