package wire

import (
	"maps"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

func sourceToWire(s executor.Source) *executorpb.Source {
	return &executorpb.Source{
		SubmissionId: clean(s.ID), Language: clean(s.Language), Tool: clean(s.Tool),
		Code: s.Code, SessionId: clean(s.SessionID), Stdin: s.Stdin,
		Sections: cleanAll(s.Sections), AllSections: s.Sections == nil,
		ValueWanted: s.ValueWanted, MaxTreeBytes: s.MaxTreeBytes,
		ParseLimits: limitsToWire(s.ParseLimits), Labels: labelsToWire(s.Labels),
		VerdictWaitMs: toUnits(s.VerdictWait, time.Millisecond), JudgeOnly: s.JudgeOnly,
	}
}

func labelsToWire(labels map[string]string) map[string]string {
	out := make(map[string]string, len(labels))
	for k, v := range labels {
		out[clean(k)] = clean(v)
	}
	return out
}

func sourceFromWire(s *executorpb.Source) executor.Source {
	src := executor.Source{
		ID: s.GetSubmissionId(), Language: s.GetLanguage(), Tool: s.GetTool(),
		Code: s.GetCode(), SessionID: s.GetSessionId(), Stdin: s.GetStdin(),
		ValueWanted: s.GetValueWanted(), MaxTreeBytes: s.GetMaxTreeBytes(),
		ParseLimits: limitsFromWire(s.GetParseLimits()), Labels: maps.Clone(s.GetLabels()),
		VerdictWait: fromUnits(s.GetVerdictWaitMs(), time.Millisecond), JudgeOnly: s.GetJudgeOnly(),
	}
	if !s.GetAllSections() {
		src.Sections = append([]string{}, s.GetSections()...)
	}
	return src
}

func limitsToWire(l executor.Limits) *executorpb.Limits {
	return &executorpb.Limits{
		WallMs: toUnits(l.Wall, time.Millisecond), CpuMs: toUnits(l.CPU, time.Millisecond),
		MemoryBytes: l.MemoryBytes, StdoutBytes: l.StdoutBytes, StderrBytes: l.StderrBytes,
		OutputCeilingBytes: l.OutputCeilingBytes, ScratchBytes: l.ScratchBytes,
		ArtifactBytes: l.ArtifactBytes, Processes: l.Processes, Threads: l.Threads,
	}
}

func limitsFromWire(l *executorpb.Limits) executor.Limits {
	return executor.Limits{
		Wall: fromUnits(l.GetWallMs(), time.Millisecond), CPU: fromUnits(l.GetCpuMs(), time.Millisecond),
		MemoryBytes: l.GetMemoryBytes(), StdoutBytes: l.GetStdoutBytes(), StderrBytes: l.GetStderrBytes(),
		OutputCeilingBytes: l.GetOutputCeilingBytes(), ScratchBytes: l.GetScratchBytes(),
		ArtifactBytes: l.GetArtifactBytes(), Processes: l.GetProcesses(), Threads: l.GetThreads(),
	}
}

func grantToWire(g executor.Grant) *executorpb.Approve {
	return &executorpb.Approve{
		Limits: limitsToWire(g.Limits), Grants: cleanAll(g.Grants), DecisionId: clean(g.DecisionID),
	}
}

func grantFromWire(a *executorpb.Approve) executor.Grant {
	return executor.Grant{
		Limits: limitsFromWire(a.GetLimits()), Grants: a.GetGrants(), DecisionID: a.GetDecisionId(),
	}
}

// configToWire keeps secrets out of every other form.
func configToWire(c executor.Config) *executorpb.ConfigureRequest {
	secrets := make([]*executorpb.SecretFile, 0, len(c.Secrets))
	for name, value := range c.Secrets {
		secrets = append(secrets, &executorpb.SecretFile{Name: clean(name), Value: value})
	}
	return &executorpb.ConfigureRequest{
		ConfigJson: c.JSON, StateDir: clean(c.StateDir), LogLevel: clean(c.LogLevel), Secrets: secrets,
	}
}

func configFromWire(r *executorpb.ConfigureRequest) executor.Config {
	c := executor.Config{JSON: r.GetConfigJson(), StateDir: r.GetStateDir(), LogLevel: r.GetLogLevel()}
	if len(r.GetSecrets()) > 0 {
		c.Secrets = make(map[string][]byte, len(r.GetSecrets()))
	}
	for _, s := range r.GetSecrets() {
		c.Secrets[s.GetName()] = s.GetValue()
	}
	return c
}
