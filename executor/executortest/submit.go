package executortest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/executor"
)

func submitChecks() []check {
	return []check{
		{"S01", "an ok sample prints and gives what was promised", checkOK, false},
		{"S02", "a syntax error has a line and no tree", checkSyntaxError, false},
		{"S03", "the tree is the same object ten times", checkTree, false},
		{"S04", "names of a canary stand in its tree", checkCanary, false},
		{"S05", "nothing comes before the verdict", checkSilence, false},
		{"S06", "a refused program does not run", checkDeny, false},
		{"S07", "a verdict for another tree runs nothing", checkMismatch, false},
		{"S08", "a runtime error has a type and no host path", checkRuntimeError, false},
		{"S09", "an endless program ends at the wall limit", checkWall, false},
		{"S10", "a flood is cut at the limit", checkFlood, false},
		{"S11", "a soft cancel is heeded", checkSoftCancel, false},
		{"S12", "a caller that leaves a run frees the slot", checkGoneRunning, false},
		{"S13", "a caller that leaves before the verdict frees the slot", checkGoneWaiting, false},
		{"S14", "messages out of order harm nothing else", checkOrder, false},
		{"S15", "odd texts are no fault of the plugin", checkOddTexts, false},
		{"S16", "a tree over the limit is refused", checkTreeLimit, false},
		{"S17", "more at once than the capacity: none hangs", checkCrowd, false},
		{"S18", "mixed submissions: the counters add up", checkMixed, false},
		{"S19", "a refused effect has none", checkRefusedEffect, false},
		{"S20", "no state passes to the next submission", checkNoState, false},
		{"S21", "memory has a limit", checkMemory, false},
		{"S22", "no process stays behind", checkNothingStays, false},
		{"S23", "a large tree comes in parts, and is refused over a limit", checkLargeTree, false},
		{"S24", "a reader that sleeps costs no memory", checkSleepingReader, false},
		{"S25", "many runs leave nothing", checkManyRuns, false},
		{"S26", "no verdict in time: cancelled", checkVerdictWait, false},
	}
}

func checkContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), checkTime)
}

// hold compares an outcome with what its sample promises.
func hold(r reporter, sample executor.Sample, o outcome) {
	r.Helper()
	if o.Status != executor.StatusOK {
		r.Errorf("%.60q: status %s, %s", sample.Code, o.Status, problemText(o.Problem))
	}
	if !bytes.Equal(o.stdout, sample.WantStdout) {
		r.Errorf("%.60q: printed %.200q, want %.200q", sample.Code, o.stdout, sample.WantStdout)
	}
	if o.Value != sample.WantValue {
		r.Errorf("%.60q: value %.200q, want %.200q", sample.Code, o.Value, sample.WantValue)
	}
}

func checkOK(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	s.sample(r, "ok")
	for _, sample := range s.samples("ok") {
		hold(r, sample, s.run(ctx, r, sample.Code, executor.Limits{}))
	}
	s.idle(ctx, r)
}

func checkSyntaxError(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	s.sample(r, "syntax_error")
	for _, sample := range s.samples("syntax_error") {
		sub := s.submit(ctx, r, sample.Code)
		end := sub.Ended()
		switch {
		case end == nil:
			sub.Close()
			r.Errorf("%.60q parses", sample.Code)
		case end.Status != executor.StatusCompileError:
			r.Errorf("%.60q: status %s", sample.Code, end.Status)
		case end.Problem == nil || end.Problem.Line == 0 || end.Problem.Type == "" || end.Problem.Message == "":
			r.Errorf("%.60q: the problem needs a type, a message and a line: %+v", sample.Code, end.Problem)
		}
	}
	s.idle(ctx, r)
}

func checkTree(r reporter, s *suite) {
	const times = 10
	ctx, cancel := checkContext()
	defer cancel()
	code := s.sample(r, "ok").Code
	var first executor.Tree
	for i := range times {
		sub := s.parsed(ctx, r, code)
		sub.Close()
		tree := sub.Tree()
		if i == 0 {
			first = tree
		}
		if !bytes.Equal(tree.JSON, first.JSON) || tree.Nodes != first.Nodes || tree.Depth != first.Depth {
			r.Fatalf("tree %d differs from the first", i+1)
		}
	}
	if first.Schema != s.lang.TreeSchema {
		r.Errorf("tree is of schema %q, described was %q", first.Schema, s.lang.TreeSchema)
	}
	schema, err := compile(s.lang.Schema)
	if err != nil {
		r.Fatalf("the schema of %s: %v", first.Schema, err)
	}
	if err := holds(schema, first.JSON); err != nil {
		r.Errorf("the tree is against the schema of %s: %v", first.Schema, err)
	}
	checkHead(r, s, first, code)
}

// checkHead holds what a gateway reads of every tree, whatever its schema.
func checkHead(r reporter, s *suite, tree executor.Tree, code []byte) {
	var doc struct {
		Schema, Language string
		Code             struct{ SHA256 string }
		AST              map[string]any
	}
	if err := json.Unmarshal(tree.JSON, &doc); err != nil {
		r.Fatalf("the tree: %v", err)
	}
	digest := sha256.Sum256(code)
	for what, pair := range map[string][2]string{
		"schema": {doc.Schema, s.lang.TreeSchema}, "language": {doc.Language, s.lang.ID}, "code.sha256": {doc.Code.SHA256, hex.EncodeToString(digest[:])},
	} {
		if pair[0] != pair[1] {
			r.Errorf("the tree's member %s is %.80q, a gateway wants %q", what, pair[0], pair[1])
		}
	}
	if doc.AST == nil {
		r.Errorf("the tree has no object ast, where a gateway's rules look")
	}
}

func checkCanary(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	s.sample(r, "canary")
	for _, sample := range s.samples("canary") {
		sub := s.parsed(ctx, r, sample.Code)
		sub.Close()
		for _, name := range sample.WantInTree {
			if !bytes.Contains(sub.Tree().JSON, []byte(name)) {
				r.Errorf("%q is not in the tree of %.60q", name, sample.Code)
			}
		}
	}
}

func checkDeny(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	before := s.host.Strikes()
	s.parsed(ctx, r, s.sample(r, "ok").Code).Deny("conformance", []string{"a test"})
	if after := s.host.Strikes(); after != before {
		r.Errorf("a refusal was not answered with DENIED alone: %+v", after)
	}
	s.idle(ctx, r)
}

// hostPath finds what must not reach a caller, beside the directories at hand.
var hostPath = regexp.MustCompile(`(^|[^\w.])/(bin|etc|home|lib|lib64|mnt|opt|proc|root|run|srv|tmp|usr|var)/`)

func checkRuntimeError(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	o := s.run(ctx, r, s.sample(r, "runtime_error").Code, executor.Limits{})
	if o.Status != executor.StatusRuntimeError || o.Problem == nil || o.Problem.Type == "" {
		r.Fatalf("status %s, problem %+v", o.Status, o.Problem)
	}
	text := o.Problem.Message + "\n" + o.Problem.Trace
	here, _ := os.Getwd()
	if hostPath.MatchString(text) || here != "" && strings.Contains(text, here) {
		r.Errorf("a path of the host is in the problem:\n%s", text)
	}
}

func checkWall(r reporter, s *suite) {
	const wall, late = 500 * time.Millisecond, 700 * time.Millisecond
	ctx, cancel := checkContext()
	defer cancel()
	sub := s.parsed(ctx, r, s.sample(r, "forever").Code)
	defer sub.Close()
	began := time.Now()
	res, err := sub.Run(ctx, everything(executor.Limits{Wall: wall}), new(outcome).take)
	if err != nil || res.Status != executor.StatusWallLimit {
		r.Fatalf("status %s, error %v", res.Status, err)
	}
	if took := time.Since(began); took > wall+late+tolerance {
		r.Errorf("took %s at a limit of %s", took, wall)
	}
	s.free(ctx, r)
}

func checkFlood(r reporter, s *suite) {
	const kept = 1000
	ctx, cancel := checkContext()
	defer cancel()
	limits := executor.Limits{StdoutBytes: kept, StderrBytes: kept, OutputCeilingBytes: 8 << 20}
	o := s.run(ctx, r, s.sample(r, "flood").Code, limits)
	if o.Status != executor.StatusOK && o.Status != executor.StatusOutputLimit {
		r.Errorf("status %s", o.Status)
	}
	if o.StdoutOmitted == 0 && o.StderrOmitted == 0 {
		r.Errorf("nothing was omitted: %+v", o.Result)
	}
	if len(o.stdout) > kept || len(o.stderr) > kept {
		r.Errorf("kept %d and %d bytes of %d", len(o.stdout), len(o.stderr), kept)
	}
	s.idle(ctx, r)
}

func checkSoftCancel(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	sub := s.parsed(ctx, r, s.sample(r, "forever").Code)
	defer sub.Close()
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	before := s.host.Strikes()
	time.AfterFunc(100*time.Millisecond, stop)
	res, err := sub.Run(runCtx, everything(executor.Limits{}), new(outcome).take)
	if err != nil || res.Status != executor.StatusCancelled {
		r.Errorf("status %s, error %v", res.Status, err)
	}
	if after := s.host.Strikes(); after != before {
		r.Errorf("the run did not end within 500 ms of being asked to")
	}
	s.idle(ctx, r)
}

func checkTreeLimit(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	src := s.source(s.sample(r, "ok").Code)
	src.MaxTreeBytes = 2 // no tree with anything in it is smaller
	sub, err := s.host.Submit(ctx, src)
	if err != nil {
		r.Fatalf("%v", err)
	}
	defer sub.Close()
	if end := sub.Ended(); end == nil || end.Status != executor.StatusTreeTooLarge {
		r.Errorf("ended %+v", end)
	}
}

func checkVerdictWait(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	src := s.source(s.sample(r, "ok").Code)
	src.VerdictWait = 50 * time.Millisecond
	sub, err := s.host.Submit(ctx, src)
	if err != nil {
		r.Fatalf("%v", err)
	}
	defer sub.Close()
	s.idle(ctx, r)
	res, err := sub.Run(ctx, everything(executor.Limits{}), new(outcome).take)
	if err != nil || res.Status != executor.StatusCancelled {
		r.Errorf("status %s, error %v", res.Status, err)
	}
}
