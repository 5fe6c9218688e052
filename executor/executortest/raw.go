package executortest

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// stream is the bare contract, for what the host's half would never do.
type stream interface {
	Send(*executorpb.HostMessage) error
	Recv() (*executorpb.PluginMessage, error)
}

func sourceMessage(s *suite, code []byte) *executorpb.HostMessage {
	return &executorpb.HostMessage{Kind: &executorpb.HostMessage_Source{Source: &executorpb.Source{
		SubmissionId: "conformance", Language: s.lang.ID, Tool: s.lang.ID, Code: code, AllSections: true, ValueWanted: true,
		ParseLimits: &executorpb.Limits{WallMs: uint64(parseLimit / time.Millisecond)},
	}}}
}

func approveMessage(digest []byte) *executorpb.HostMessage {
	grant := everything(executor.Limits{})
	return &executorpb.HostMessage{Kind: &executorpb.HostMessage_Verdict{Verdict: &executorpb.Verdict{
		TreeSha256: digest,
		Decision: &executorpb.Verdict_Approve{Approve: &executorpb.Approve{
			Grants: grant.Grants, DecisionId: grant.DecisionID,
			Limits: &executorpb.Limits{WallMs: uint64(grant.Limits.Wall / time.Millisecond)},
		}},
	}}}
}

// open begins a stream with msgs.
func (s *suite) open(ctx context.Context, r reporter, msgs ...*executorpb.HostMessage) stream {
	r.Helper()
	st, err := s.raw.Submit(ctx)
	if err != nil {
		r.Fatalf("%v", err)
	}
	for _, m := range msgs {
		send(r, st, m)
	}
	return st
}

func send(r reporter, st stream, m *executorpb.HostMessage) {
	r.Helper()
	if err := st.Send(m); err != nil && !errors.Is(err, io.EOF) {
		r.Fatalf("%v", err)
	}
}

// digest receives a tree and gives its digest.
func digest(r reporter, st stream) []byte {
	r.Helper()
	for {
		m, err := st.Recv()
		if err != nil {
			r.Fatalf("%v", err)
		}
		if m.GetResult() != nil {
			r.Fatalf("ended %s before the verdict", m.GetResult().GetStatus())
		}
		if t := m.GetTree().GetTrailer(); t != nil {
			return t.GetTreeSha256()
		}
	}
}

// rest receives to the end of the stream.
func rest(st stream) (msgs []*executorpb.PluginMessage, err error) {
	for {
		m, err := st.Recv()
		if errors.Is(err, io.EOF) {
			return msgs, nil
		}
		if err != nil {
			return msgs, err
		}
		msgs = append(msgs, m)
	}
}

func checkSilence(r reporter, s *suite) {
	const silence = 400 * time.Millisecond
	code := s.sample(r, "ok").Code
	ctx, cancel := checkContext()
	defer cancel()
	st := s.open(ctx, r, sourceMessage(s, code))
	digest(r, st)
	came := make(chan string, 1)
	go func() {
		m, err := st.Recv()
		if err == nil {
			came <- m.String()
			return
		}
		came <- err.Error()
	}()
	select {
	case what := <-came:
		r.Errorf("before the verdict came %.200s", what)
	case <-time.After(silence):
		cancel()
		<-came
	}
}

func checkMismatch(r reporter, s *suite) {
	code := s.sample(r, "ok").Code
	ctx, cancel := checkContext()
	defer cancel()
	st := s.open(ctx, r, sourceMessage(s, code))
	other := append([]byte(nil), digest(r, st)...)
	other[0]++
	send(r, st, approveMessage(other))
	msgs, err := rest(st)
	if err != nil || len(msgs) != 1 || msgs[0].GetResult().GetStatus() != executorpb.Result_VERDICT_MISMATCH {
		r.Errorf("came %v, %v; want VERDICT_MISMATCH alone", msgs, err)
	}
	s.idle(ctx, r)
}

func checkGoneRunning(r reporter, s *suite) {
	code := s.sample(r, "forever").Code
	ctx, cancel := checkContext()
	defer cancel()
	gone, leave := context.WithCancel(ctx)
	defer leave()
	st := s.open(gone, r, sourceMessage(s, code))
	send(r, st, approveMessage(digest(r, st)))
	if !within(slotTime+tolerance, func() bool {
		stats, err := s.host.Stats(ctx)
		return err == nil && stats.Inflight == 1 && stats.WaitingVerdict == 0
	}) {
		r.Errorf("an approved submission does not run")
	}
	leave()
	s.free(ctx, r)
}

func checkGoneWaiting(r reporter, s *suite) {
	code := s.sample(r, "ok").Code
	ctx, cancel := checkContext()
	defer cancel()
	gone, leave := context.WithCancel(ctx)
	defer leave()
	digest(r, s.open(gone, r, sourceMessage(s, code)))
	leave()
	s.free(ctx, r)
}

// orderTime is for a busy machine: the answer needs no program.
const orderTime = 10 * time.Second

func checkOrder(r reporter, s *suite) {
	code := s.sample(r, "ok").Code
	ctx, cancel := checkContext()
	defer cancel()
	bystander := s.parsed(ctx, r, code)
	defer bystander.Close()
	source, cancelMessage := sourceMessage(s, code), &executorpb.HostMessage{
		Kind: &executorpb.HostMessage_Cancel{Cancel: &executorpb.Cancel{}},
	}
	for name, msgs := range map[string][]*executorpb.HostMessage{
		"a verdict first":  {approveMessage(nil)},
		"a cancel first":   {cancelMessage},
		"an empty message": {{}},
		"a second source":  {source, source},
	} {
		// The plugin may refuse by its own status before it looks at order.
		soon, cancel := context.WithTimeout(ctx, orderTime)
		came, err := rest(s.open(soon, r, msgs...))
		cancel()
		if err == nil || !strings.Contains(err.Error(), "InvalidArgument") {
			r.Fatalf("%s: %v, %v; want InvalidArgument", name, came, err)
		}
	}
	if _, err := bystander.Run(ctx, everything(executor.Limits{}), new(outcome).take); err != nil {
		r.Errorf("another submission: %v", err)
	}
	s.idle(ctx, r)
}

func checkOddTexts(r reporter, s *suite) {
	ctx, cancel := checkContext()
	defer cancel()
	texts := map[string]string{
		"empty": "", "NUL": "a\x00b", "invalid UTF-8": "\xff\xfe\xed\xa0\x80",
		"50,000 brackets": strings.Repeat("(", 50_000), "a byte order mark": "\ufeff1",
	}
	const deep = 20_000 // levels that a parser's or a walker's stack may not have
	for _, pair := range []string{"()", "[]", "{}"} {
		texts["20,000 nested "+pair] = strings.Repeat(pair[:1], deep) + "1" + strings.Repeat(pair[1:], deep)
	}
	texts["20,000 signs in a row"] = strings.Repeat("- ", deep) + "1"
	const most = 3 << 20 // what a message holds in any case
	if limit := s.about.Capacity.MaxSourceBytes; limit < most {
		texts["one byte over the limit"] = strings.Repeat("x", int(limit)+1)
	}
	for name, text := range texts {
		leaving, leave := context.WithCancel(ctx)
		m, err := s.open(leaving, r, sourceMessage(s, []byte(text))).Recv()
		leave()
		if err != nil {
			r.Fatalf("%s: %v", name, err)
		}
		if m.GetResult().GetStatus() == executorpb.Result_INTERNAL {
			r.Errorf("%s: INTERNAL", name)
		}
	}
	s.idle(ctx, r)
}
