package wire

import (
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

type rawStream = grpc.BidiStreamingClient[executorpb.HostMessage, executorpb.PluginMessage]

// rawSubmit opens a stream of the bare contract and sends what is given.
func rawSubmit(t *testing.T, p *pair, msgs ...*executorpb.HostMessage) rawStream {
	t.Helper()
	stream, err := p.Raw.Submit(background(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range msgs {
		if err := stream.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	return stream
}

// drain receives until the stream is over.
func drain(stream rawStream) (msgs []*executorpb.PluginMessage, err error) {
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return msgs, nil
		}
		if err != nil {
			return msgs, err
		}
		msgs = append(msgs, m)
	}
}

// rawTree receives the tree and gives its digest.
func rawTree(t *testing.T, stream rawStream) []byte {
	t.Helper()
	for {
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if trailer := m.GetTree().GetTrailer(); trailer != nil {
			return trailer.GetTreeSha256()
		}
	}
}

func rawApprove(digest []byte) *executorpb.HostMessage {
	return &executorpb.HostMessage{Kind: &executorpb.HostMessage_Verdict{Verdict: &executorpb.Verdict{
		TreeSha256: digest, Decision: &executorpb.Verdict_Approve{Approve: &executorpb.Approve{}},
	}}}
}

func rawCancel() *executorpb.HostMessage {
	return &executorpb.HostMessage{Kind: &executorpb.HostMessage_Cancel{Cancel: &executorpb.Cancel{}}}
}

func TestMessagesOutOfOrder(t *testing.T) {
	e := &stub{}
	p := serve(t, e)
	bystander := submit(t, p.Client, "print fine")
	cases := map[string]func(t *testing.T) rawStream{
		"verdict first":   func(t *testing.T) rawStream { return rawSubmit(t, p, rawApprove(nil)) },
		"cancel first":    func(t *testing.T) rawStream { return rawSubmit(t, p, rawCancel()) },
		"empty first":     func(t *testing.T) rawStream { return rawSubmit(t, p, &executorpb.HostMessage{}) },
		"second source":   func(t *testing.T) rawStream { return rawSubmit(t, p, wireSource("print x"), wireSource("print y")) },
		"early verdict":   func(t *testing.T) rawStream { return rawSubmit(t, p, wireSource("parsesleep"), rawApprove(nil)) },
		"empty message":   func(t *testing.T) rawStream { return rawSubmit(t, p, wireSource("print x"), &executorpb.HostMessage{}) },
		"source at parse": func(t *testing.T) rawStream { return rawSubmit(t, p, wireSource("parsesleep"), wireSource("x")) },
		"verdict of none": func(t *testing.T) rawStream { return rawVerdictOfNone(t, p) },
		"approved, not to run": func(t *testing.T) rawStream {
			m := wireSource("print x")
			m.GetSource().JudgeOnly = true
			stream := rawSubmit(t, p, m)
			if err := stream.Send(rawApprove(rawTree(t, stream))); err != nil {
				t.Fatal(err)
			}
			return stream
		},
		"second verdict":   func(t *testing.T) rawStream { return rawSecond(t, p, rawApprove(nil)) },
		"source while run": func(t *testing.T) rawStream { return rawSecond(t, p, wireSource("x")) },
	}
	for name, open := range cases {
		t.Run(name, func(t *testing.T) {
			msgs, err := drain(open(t))
			if status.Code(err) != codes.InvalidArgument {
				t.Errorf("ended with %v", err)
			}
			for _, m := range msgs {
				if m.GetResult() != nil || m.GetOutput() != nil {
					t.Errorf("message %v", m)
				}
			}
		})
	}
	if res, err := bystander.Run(t.Context(), executor.Grant{}, new(printed).take); err != nil || res.Status != executor.StatusOK {
		t.Errorf("bystander: %+v, %v", res, err)
	}
	idle(t, p.Client)
	if got := stats(t, p.Client).Results[invalid]; got != 8 {
		t.Errorf("%d submissions were counted as out of order, want 8", got)
	}
}

// rawVerdictOfNone sends a verdict that neither approves nor denies.
func rawVerdictOfNone(t *testing.T, p *pair) rawStream {
	t.Helper()
	stream := rawSubmit(t, p, wireSource("print x"))
	v := &executorpb.Verdict{TreeSha256: rawTree(t, stream)}
	if err := stream.Send(&executorpb.HostMessage{Kind: &executorpb.HostMessage_Verdict{Verdict: v}}); err != nil {
		t.Fatal(err)
	}
	return stream
}

// rawSecond sends m to a run that has its verdict.
func rawSecond(t *testing.T, p *pair, m *executorpb.HostMessage) rawStream {
	t.Helper()
	stream := rawSubmit(t, p, wireSource("sleep"))
	if err := stream.Send(rawApprove(rawTree(t, stream))); err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(m); err != nil {
		t.Fatal(err)
	}
	return stream
}

func TestVerdictForAnotherTree(t *testing.T) {
	e := &stub{}
	p := serve(t, e)
	for _, digest := range [][]byte{nil, make([]byte, 32), []byte("short")} {
		stream := rawSubmit(t, p, wireSource("print x"))
		rawTree(t, stream)
		if err := stream.Send(rawApprove(digest)); err != nil {
			t.Fatal(err)
		}
		msgs, err := drain(stream)
		if err != nil || len(msgs) != 1 || msgs[0].GetResult().GetStatus() != executorpb.Result_VERDICT_MISMATCH {
			t.Errorf("%v, %v", msgs, err)
		}
	}
	if e.ran.Load() != 0 {
		t.Error("something ran")
	}
}

func TestCancelInEveryStage(t *testing.T) {
	e := &stub{}
	p := serve(t, e)
	parsing := rawSubmit(t, p, wireSource("parsesleep"), rawCancel())
	waiting := rawSubmit(t, p, wireSource("print x"))
	rawTree(t, waiting)
	halfClosed := rawSubmit(t, p, wireSource("print x"))
	rawTree(t, halfClosed)
	if err := errors.Join(waiting.Send(rawCancel()), halfClosed.CloseSend()); err != nil {
		t.Fatal(err)
	}
	for name, stream := range map[string]rawStream{"parsing": parsing, "waiting": waiting, "half closed": halfClosed} {
		msgs, err := drain(stream)
		if err != nil || len(msgs) != 1 || msgs[0].GetResult().GetStatus() != executorpb.Result_CANCELLED {
			t.Errorf("%s: %v, %v", name, msgs, err)
		}
	}
	if e.ran.Load() != 0 {
		t.Error("something ran")
	}
	idle(t, p.Client)
}

// Closing the sending side after the verdict is no wish to cancel.
func TestHalfCloseAfterVerdict(t *testing.T) {
	p := serve(t, &stub{})
	stream := rawSubmit(t, p, wireSource("deaf 50\nprint x"))
	digest := rawTree(t, stream)
	if err := errors.Join(stream.Send(rawApprove(digest)), stream.CloseSend()); err != nil {
		t.Fatal(err)
	}
	msgs, err := drain(stream)
	if err != nil || len(msgs) != 2 || msgs[1].GetResult().GetStatus() != executorpb.Result_OK {
		t.Errorf("%v, %v", msgs, err)
	}
}

func TestSessionVerbsAreUnimplemented(t *testing.T) {
	p := serve(t, &stub{})
	ctx := background(t)
	_, open := p.Raw.OpenSession(ctx, &executorpb.OpenSessionRequest{})
	_, closed := p.Raw.CloseSession(ctx, &executorpb.CloseSessionRequest{})
	_, list := p.Raw.ListSessions(ctx, &executorpb.ListSessionsRequest{})
	_, fork := p.Raw.ForkSession(ctx, &executorpb.ForkSessionRequest{})
	_, reset := p.Raw.ResetSession(ctx, &executorpb.ResetSessionRequest{})
	_, interrupt := p.Raw.InterruptSession(ctx, &executorpb.InterruptSessionRequest{})
	for verb, err := range map[string]error{
		"open": open, "close": closed, "list": list, "fork": fork, "reset": reset, "interrupt": interrupt,
	} {
		if status.Code(err) != codes.Unimplemented || !errors.Is(classify(err), ErrRefused) {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
