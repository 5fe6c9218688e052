package wire

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// resultToWire cuts what would break a bound, so that an author's long message
// does not look like a breach.
func resultToWire(r executor.Result) *executorpb.Result {
	if len(r.Value) > maxValue {
		r.Notes = append(slices.Clip(clampLen(r.Notes, maxFew-1)), fmt.Sprintf("the value was cut at %d bytes", maxValue))
	}
	return &executorpb.Result{
		Status: executorpb.Result_Status(r.Status), Value: clip(r.Value, maxValue),
		HasValue: r.HasValue || r.Value != "", Problem: problemToWire(r.Problem),
		Artifacts: artifactsToWire(r.Artifacts), Usage: usageToWire(r.Usage),
		StdoutBytes: r.StdoutBytes, StderrBytes: r.StderrBytes,
		StdoutOmitted: r.StdoutOmitted, StderrOmitted: r.StderrOmitted,
		Truncated: r.StdoutOmitted > 0 || r.StderrOmitted > 0,
		ExitCode:  r.ExitCode, Signal: clip(r.Signal, maxWord), ForbiddenCall: clip(r.ForbiddenCall, maxWord),
		LimitFired: clip(r.LimitFired, maxWord), SessionState: knownSessionState(r.SessionState),
		Walls: clipAll(r.Walls, maxWord), Notes: clipAll(r.Notes, maxText),
	}
}

func resultFromWire(r *executorpb.Result) (executor.Result, error) {
	var c check
	c.require(r.GetStatus() != executorpb.Result_STATUS_UNSPECIFIED, "result without a status")
	c.text("result.value", r.GetValue(), maxValue)
	c.word0("result.signal", r.GetSignal())
	c.word0("result.forbidden_call", r.GetForbiddenCall())
	c.word0("result.limit_fired", r.GetLimitFired())
	c.texts("result.walls", r.GetWalls(), maxWord)
	c.texts("result.notes", r.GetNotes(), maxText)
	c.require(knownSessionState(r.GetSessionState()) == r.GetSessionState(), "result.session_state is not known")
	c.require(r.GetStdoutOmitted() <= r.GetStdoutBytes() && r.GetStderrOmitted() <= r.GetStderrBytes(),
		"more output omitted than written")
	problem := problemFromWire(&c, r.GetProblem())
	artifacts := artifactsFromWire(&c, r.GetArtifacts())
	if c.err != nil {
		return executor.Result{}, c.err
	}
	return executor.Result{
		Status: statusFromWire(r.GetStatus()), Value: r.GetValue(), HasValue: r.GetHasValue(),
		Problem: problem, Artifacts: artifacts, Usage: usageFromWire(r.GetUsage()),
		ExitCode: r.GetExitCode(), Signal: r.GetSignal(), ForbiddenCall: r.GetForbiddenCall(),
		StdoutBytes: r.GetStdoutBytes(), StderrBytes: r.GetStderrBytes(),
		StdoutOmitted: r.GetStdoutOmitted(), StderrOmitted: r.GetStderrOmitted(),
		LimitFired: r.GetLimitFired(), SessionState: r.GetSessionState(),
		Walls: r.GetWalls(), Notes: r.GetNotes(),
	}, nil
}

func (c *check) word0(field, s string) { c.text(field, s, maxWord) }

// statusFromWire takes a status that this host does not know for the plugin's
// own fault.
func statusFromWire(s executorpb.Result_Status) executor.Status {
	if s <= 0 || s > executorpb.Result_Status(executor.StatusExitNonzero) {
		return executor.StatusInternal
	}
	return executor.Status(s)
}

// knownSessionState gives s back if the contract knows it, else nothing.
func knownSessionState(s string) string {
	switch s {
	case "new", "kept", "rolled_back", "lost":
		return s
	}
	return ""
}

func problemToWire(p *executor.Problem) *executorpb.Problem {
	if p == nil {
		return nil
	}
	return &executorpb.Problem{
		Type: clip(p.Type, maxWord), Message: clip(p.Message, maxLongText),
		Line: p.Line, Column: p.Column, Trace: clip(p.Trace, maxLongText),
	}
}

func problemFromWire(c *check, p *executorpb.Problem) *executor.Problem {
	if p == nil {
		return nil
	}
	c.word0("problem.type", p.GetType())
	c.text("problem.message", p.GetMessage(), maxLongText)
	c.text("problem.trace", p.GetTrace(), maxLongText)
	return &executor.Problem{
		Type: p.GetType(), Message: p.GetMessage(), Line: p.GetLine(), Column: p.GetColumn(), Trace: p.GetTrace(),
	}
}

func artifactsToWire(list []executor.Artifact) []*executorpb.Artifact {
	out := make([]*executorpb.Artifact, 0, len(list))
	for _, a := range list {
		out = append(out, &executorpb.Artifact{MediaType: a.MediaType, Name: a.Name, Data: a.Data})
	}
	return out
}

func artifactsFromWire(c *check, list []*executorpb.Artifact) []executor.Artifact {
	c.count("result.artifacts", len(list), maxFew)
	var total int
	var out []executor.Artifact
	for _, a := range clampLen(list, maxFew) {
		c.word("artifact.media_type", a.GetMediaType())
		c.word0("artifact.name", a.GetName())
		total += len(a.GetData())
		out = append(out, executor.Artifact{MediaType: a.GetMediaType(), Name: a.GetName(), Data: a.GetData()})
	}
	c.require(total <= MaxArtifactBytes, "artifacts have %d bytes, more than %d", total, MaxArtifactBytes)
	return out
}

func usageToWire(u executor.Usage) *executorpb.Usage {
	return &executorpb.Usage{
		WallUs: toUnits(u.Wall, time.Microsecond), CpuUs: toUnits(u.CPU, time.Microsecond),
		ParseUs: toUnits(u.Parse, time.Microsecond), MaxRssBytes: u.MaxRSSBytes,
	}
}

func usageFromWire(u *executorpb.Usage) executor.Usage {
	return executor.Usage{
		Wall: fromUnits(u.GetWallUs(), time.Microsecond), CPU: fromUnits(u.GetCpuUs(), time.Microsecond),
		Parse: fromUnits(u.GetParseUs(), time.Microsecond), MaxRSSBytes: u.GetMaxRssBytes(),
	}
}
