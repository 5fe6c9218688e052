package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/sluice-gateway/sluice/executor"
)

// figureMediaType is the media type of a figure.
const figureMediaType = "application/vnd.plotly.v1+json"

// judge decides how a run ended. What was measured outside comes first: a
// forbidden call, a limit that fired, then what the child said, then how the
// kernel saw it end.
func judge(ctx context.Context, limits executor.Limits, s *said, seen exit, heard error) (executor.Result, error) {
	switch {
	case seen.forbidden != "":
		return executor.Result{Status: executor.StatusCrashed, Signal: signalName(syscall.SIGKILL), ForbiddenCall: seen.forbidden}, nil
	case seen.memory:
		return executor.Result{Status: executor.StatusMemoryLimit, LimitFired: "memory"}, nil
	case s.end == nil && ctx.Err() != nil:
		return executor.Result{LimitFired: limitName(context.Cause(ctx))}, context.Cause(ctx)
	case s.end != nil:
		return judgeEnd(*s.end), nil
	case seen.lost && !errors.Is(heard, errFrame):
		return executor.Result{}, fmt.Errorf("%w: %w", executor.ErrOverloaded, errLost)
	case errors.Is(heard, errFrame):
		return executor.Result{Status: executor.StatusRuntimeError, Problem: &executor.Problem{
			Type: "RuntimeError", Message: "the program wrote on a descriptor of the interpreter's; how it ended cannot be told",
		}}, nil
	}
	return judgeExit(limits, seen), nil
}

// limitName is the limit that ended a run's context.
func limitName(cause error) string {
	switch {
	case errors.Is(cause, executor.ErrWall):
		return "wall"
	case errors.Is(cause, executor.ErrOutput):
		return "output_ceiling_bytes"
	}
	return ""
}

// judgeEnd is for a child that told of its end itself.
func judgeEnd(e end) executor.Result {
	res := executor.Result{Status: executor.StatusOK, Value: e.Value, HasValue: e.HasValue, ExitCode: e.ExitCode, Notes: e.Notes}
	switch {
	case e.Problem != nil:
		problem := e.Problem.problem()
		res.Problem = &problem
		res.ExitCode = 0
		switch {
		case e.Memory:
			res.Status, res.LimitFired = executor.StatusMemoryLimit, "memory"
		case e.Misplaced:
			res.Status = executor.StatusCompileError
		default:
			res.Status = executor.StatusRuntimeError
		}
	case e.ExitCode != 0:
		res.Status = executor.StatusExitNonzero
	}
	return res
}

// deliver hands the figure over. A figure that is too large or no JSON is left
// out with a note; the run is none the worse for it.
func deliver(s *said, limit uint64, out executor.Output, res *executor.Result) {
	if s.end == nil {
		return
	}
	if s.figure == nil {
		if limit > 0 && s.end.FigureBytes > limit {
			tooLarge(s.end.FigureBytes, limit, res)
		}
		return
	}
	if err := checkFigure(s.figure); err != nil {
		res.Notes = append(res.Notes, "the figure was left out: "+err.Error())
		return
	}
	if err := out.Artifact(figureMediaType, "figure", s.figure); err != nil {
		tooLarge(uint64(len(s.figure)), limit, res)
	}
}

func tooLarge(size, limit uint64, res *executor.Result) {
	res.Notes = append(res.Notes, fmt.Sprintf("the figure was left out: it is %s, at most %s are given back",
		kibibytes(size), kibibytes(limit)))
	if res.LimitFired == "" {
		res.LimitFired = "plotly_bytes"
	}
}

// kibibytes writes a size so that two that differ never look alike at a bound.
func kibibytes(n uint64) string {
	if n%1024 == 0 {
		return fmt.Sprintf("%d KiB", n/1024)
	}
	return fmt.Sprintf("%.1f KiB (%d bytes)", float64(n)/1024, n)
}

// judgeExit is for a child that went without a word.
func judgeExit(limits executor.Limits, seen exit) executor.Result {
	switch {
	case seen.status.Exited() && seen.status.ExitStatus() == 0:
		return executor.Result{Status: executor.StatusOK}
	case seen.status.Exited():
		return executor.Result{Status: executor.StatusExitNonzero, ExitCode: int32(seen.status.ExitStatus())} //nolint:gosec // a byte
	}
	signal := seen.status.Signal()
	if overCPU(limits, seen) && (signal == syscall.SIGXCPU || signal == syscall.SIGKILL) {
		return executor.Result{Status: executor.StatusCPULimit, LimitFired: "cpu"}
	}
	return executor.Result{Status: executor.StatusCrashed, Signal: signalName(signal)}
}

// overCPU says whether the child's processor time is such that its limit fired.
// The kernel compares the limit with a count of ticks, which on a busy machine
// runs well ahead of the time that it reports.
func overCPU(limits executor.Limits, seen exit) bool {
	return limits.CPU > 0 && seen.cpu >= limits.CPU/2
}
