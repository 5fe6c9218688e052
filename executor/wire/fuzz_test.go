package wire

import (
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/executor/wire/executorpb"
)

// seed adds the wire form of m.
func seed(f *testing.F, m proto.Message) {
	f.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
}

// FuzzResultFromWire: what the host takes is within bounds, and comes back the
// same from a second journey.
func FuzzResultFromWire(f *testing.F) {
	seed(f, resultToWire(fullResult()))
	seed(f, &executorpb.Result{Status: 99, Usage: &executorpb.Usage{WallUs: 1 << 63}})
	f.Fuzz(func(t *testing.T, data []byte) {
		var w executorpb.Result
		if proto.Unmarshal(data, &w) != nil {
			return
		}
		res, err := resultFromWire(&w)
		if err != nil {
			if !errors.Is(err, ErrProtocol) || !reflect.DeepEqual(res, executor.Result{}) {
				t.Fatalf("%+v, %v", res, err)
			}
			return
		}
		if res.Status == executor.StatusUnspecified || res.Status > executor.StatusExitNonzero ||
			len(res.Value) > maxValue || !utf8.ValidString(res.Value) || len(res.Notes) > maxFew ||
			res.StdoutOmitted > res.StdoutBytes || res.Usage.Wall < 0 || res.Usage.CPU < 0 {
			t.Fatalf("%+v", res)
		}
		if _, err := resultFromWire(resultToWire(res)); err != nil {
			t.Fatalf("second journey: %v", err)
		}
	})
}

// FuzzDescriptionFromWire: every description that the host takes can be sent,
// and is taken again.
func FuzzDescriptionFromWire(f *testing.F) {
	seed(f, descriptionToWire((&stub{}).Describe(), true))
	f.Fuzz(func(t *testing.T, data []byte) {
		var w executorpb.DescribeResponse
		if proto.Unmarshal(data, &w) != nil {
			return
		}
		d, err := descriptionFromWire(&w)
		if err != nil {
			if !errors.Is(err, ErrProtocol) {
				t.Fatal(err)
			}
			return
		}
		if !isName(d.Name) || len(d.Languages) == 0 || len(d.Tools) > maxFew {
			t.Fatalf("%+v", d)
		}
		if _, err := descriptionFromWire(descriptionToWire(d, true)); err != nil {
			t.Fatalf("second journey: %v", err)
		}
	})
}

// FuzzHostMessage: whatever a host sends becomes a source and a grant without a
// negative time, and can be sent on.
func FuzzHostMessage(f *testing.F) {
	seed(f, &executorpb.HostMessage{Kind: &executorpb.HostMessage_Source{Source: sourceToWire(fullSource())}})
	seed(f, rawApprove([]byte("d")))
	f.Fuzz(func(t *testing.T, data []byte) {
		var w executorpb.HostMessage
		if proto.Unmarshal(data, &w) != nil {
			return
		}
		src := sourceFromWire(w.GetSource())
		grant := grantFromWire(w.GetVerdict().GetApprove())
		for _, l := range []executor.Limits{src.ParseLimits, grant.Limits} {
			if l.Wall < 0 || l.CPU < 0 {
				t.Fatalf("%+v", l)
			}
		}
		if parseWall(src) <= 0 || src.VerdictWait < 0 {
			t.Fatalf("%+v", src)
		}
		if _, err := proto.Marshal(sourceToWire(src)); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzAuthorsResult: whatever an author's texts are, the host takes the result.
func FuzzAuthorsResult(f *testing.F) {
	f.Add(uint8(1), "value", "type", "message", "note", "kept")
	f.Add(uint8(5), "\xff", "\xff", "\xed\xa0\x80", "", "x")
	f.Fuzz(func(t *testing.T, status uint8, value, kind, message, note, session string) {
		res := executor.Result{
			Status: executor.Status(status), Value: value, Problem: &executor.Problem{Type: kind, Message: message, Trace: message},
			Notes: []string{note, note}, Walls: []string{note}, SessionState: session, Signal: kind, LimitFired: note,
		}
		settle(t.Context(), &res)
		b, err := proto.Marshal(resultToWire(res))
		if err != nil {
			t.Fatal(err)
		}
		var w executorpb.Result
		if err := proto.Unmarshal(b, &w); err != nil {
			t.Fatal(err)
		}
		if _, err := resultFromWire(&w); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzPluginMessages: a plugin that sends any two messages after the source
// gets a submission, a result or a breach, and never more.
func FuzzPluginMessages(f *testing.F) {
	honest := &executorpb.PluginMessage{Kind: &executorpb.PluginMessage_Result{Result: &executorpb.Result{Status: 2}}}
	b, err := proto.Marshal(honest)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, []byte{})
	f.Add([]byte{}, b)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var one, two executorpb.PluginMessage
		if proto.Unmarshal(first, &one) != nil || proto.Unmarshal(second, &two) != nil {
			return
		}
		c := face(t, &villain{submit: func(s *villainStream) error {
			return errors.Join(s.Send(&one), s.Send(&two))
		}})
		s, err := c.Submit(background(t), source("x"))
		if err != nil && !errors.Is(err, ErrProtocol) {
			t.Fatal(err)
		}
		if err == nil && (s.Ended() == nil || !endsBeforeVerdict(s.Ended().Status)) {
			t.Fatalf("tree %+v, ended %+v", s.Tree(), s.Ended())
		}
	})
}
