package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// selfTestTime lies within the host's deadline for a deep check.
const selfTestTime = 4 * time.Second

// selfTest is the deep check of an executor that has none of its own: every
// language's first ok sample must do what it promises.
func (s *server) selfTest(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, selfTestTime, executor.ErrWall)
	defer cancel()
	for _, l := range s.about.Languages {
		i := slices.IndexFunc(l.Samples, func(m executor.Sample) bool { return m.Kind == "ok" })
		if i < 0 {
			continue
		}
		err := s.protect("self test", func() error { return s.trySample(ctx, l.ID, l.Samples[i]) })
		if err != nil {
			return fmt.Errorf("self test of %s: %w", l.ID, err)
		}
	}
	return nil
}

func (s *server) trySample(ctx context.Context, language string, sample executor.Sample) (err error) {
	prog, err := s.exec.Parse(ctx, executor.Source{
		ID: "self-test", Language: language, Tool: language, Code: sample.Code, ValueWanted: true,
		ParseLimits: executor.Limits{Wall: selfTestTime},
	})
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	defer func() { err = errors.Join(err, prog.Close()) }()
	var stdout []byte
	out := newOutput(executor.Limits{StdoutBytes: maxSample, StderrBytes: maxSample}, func(m *executorpb.PluginMessage) error {
		if m.GetOutput().GetStream() == executorpb.Output_STDOUT {
			stdout = append(stdout, m.GetOutput().GetData()...)
		}
		return nil
	}, func() {})
	res, err := prog.Run(ctx, executor.Grant{
		Limits: executor.Limits{Wall: selfTestTime}, Grants: []string{"import:*", "builtin:*"}, DecisionID: "self-test",
	}, out)
	value := res.Value
	out.close(&res)
	settle(ctx, &res)
	switch {
	case err != nil:
		return fmt.Errorf("run: %w", err)
	case res.Status != executor.StatusOK:
		return fmt.Errorf("run ended %s", res.Status)
	case value != sample.WantValue || !bytes.Equal(stdout, sample.WantStdout):
		return errors.New("run gave something else than the sample promises")
	}
	return nil
}
