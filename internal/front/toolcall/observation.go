package toolcall

import (
	"strconv"
	"strings"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
)

// Observation is the text of a run as the training tool gives it: what was
// printed, then the last value, or the error.
func Observation(ans gateway.Answer, code string) string {
	printed := ans.StdoutText()
	if ans.Status != gateway.Completed {
		said := joinLines(failure(ans, code), stateNote(ans))
		return onOwnLine(printed, ans.Result.StdoutOmitted > 0 || !strings.HasSuffix(printed, "\n"), said)
	}
	if ans.Result.HasValue {
		printed = onOwnLine(printed, ans.Result.StdoutOmitted > 0, ans.Result.Value)
	}
	if printed == "" {
		return "None"
	}
	return printed
}

// stateNote tells a model whose cell failed what it can build on.
func stateNote(ans gateway.Answer) string {
	switch {
	case ans.Result.SessionState == executor.SessionRolledBack:
		return "The session stands as it was before this cell."
	case ans.Result.SessionState == executor.SessionLost && ans.Status == gateway.Cancelled:
		return "What earlier cells made is gone with the session."
	case ans.Result.SessionState == executor.SessionLost:
		return "What earlier cells made is gone: the session starts afresh."
	}
	return ""
}

func joinLines(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n" + second
}

func onOwnLine(printed string, apart bool, rest string) string {
	if printed != "" && apart {
		printed += "\n"
	}
	return printed + rest
}

func failure(ans gateway.Answer, code string) string {
	p := ans.Result.Problem
	switch {
	case ans.Result.Status == executor.StatusWallLimit:
		return "timed out after " + gateway.Seconds(ans.Limits.Wall)
	case ans.Result.Status == executor.StatusCPULimit:
		return "timed out after " + gateway.Seconds(ans.Limits.CPU) + " of CPU time"
	case p == nil || ans.Status == gateway.Rejected:
		return Reason(ans)
	case p.Line > 0 && strings.Contains(strings.TrimSpace(code), "\n"):
		return p.Type + ": " + p.Message + " (line " + strconv.FormatUint(uint64(p.Line), 10) + ")"
	}
	return p.Type + ": " + p.Message
}
