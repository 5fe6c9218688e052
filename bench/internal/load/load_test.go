package load

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

func TestClosedEndsAtItsRequestsAndMergesEveryClient(t *testing.T) {
	var perClient [3]atomic.Int64
	got, err := Closed(context.Background(), ClosedPlan{Clients: 3, Requests: 30, Time: time.Minute}, func(_ context.Context, client int) (Outcome, error) {
		perClient[client].Add(1)
		if client == 2 && perClient[2].Load() == 1 {
			return Shed, nil
		}
		return Answered, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range perClient {
		if perClient[i].Load() == 0 {
			t.Errorf("client %d never called", i)
		}
	}
	if got.Answered+got.Shed < 30 || got.Answered+got.Shed > 32 || got.Shed != 1 || got.Times.TotalCount() != got.Answered {
		t.Errorf("answered %d, shed %d, %d times", got.Answered, got.Shed, got.Times.TotalCount())
	}
}

func TestClosedEndsInTimeAfterOneCallOfEachClient(t *testing.T) {
	got, err := Closed(context.Background(), ClosedPlan{Clients: 4, Requests: 1000, Time: time.Nanosecond}, func(context.Context, int) (Outcome, error) {
		return Answered, nil
	})
	if err != nil || got.Answered != 4 {
		t.Fatalf("%d calls, %v", got.Answered, err)
	}
}

func TestErrorsAreCountedAndEndTheLoop(t *testing.T) {
	broken := errors.New("broken")
	got, err := Closed(context.Background(), ClosedPlan{Clients: 1, Requests: 1000, Time: time.Minute}, func(context.Context, int) (Outcome, error) {
		return Answered, broken
	})
	if err != nil || got.Errors != mostErrors || !errors.Is(got.First, broken) || got.Answered != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestOpenTimesFromWhenACallShouldHaveLeft(t *testing.T) {
	var first atomic.Bool
	got, err := Open(context.Background(), OpenPlan{PerSecond: 1000, Time: 100 * time.Millisecond, InFlight: 1}, func(context.Context, int) (Outcome, error) {
		if first.CompareAndSwap(false, true) {
			time.Sleep(60 * time.Millisecond) // the stall that is under test
		}
		return Answered, nil
	})
	if err != nil || got.Answered != 100 {
		t.Fatalf("%d answered, %v", got.Answered, err)
	}
	if p75 := got.Millis(75); p75 < 15 {
		t.Errorf("three quarters of the calls around a stall of 60 ms took at most %v ms: the stall was forgiven", p75)
	}
}

func TestPlansWithoutAnEndAreRefused(t *testing.T) {
	none := func(context.Context, int) (Outcome, error) { return Answered, nil }
	for _, p := range []ClosedPlan{{}, {Clients: 1, Requests: 1}, {Clients: 1, Time: 1}, {Clients: 1, Requests: 1, Time: 3 * time.Hour}, {Clients: 1000, Requests: 1, Time: 1}} {
		if _, err := Closed(context.Background(), p, none); !errors.Is(err, ErrPlan) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, p := range []OpenPlan{{}, {PerSecond: 1, Time: 3 * time.Hour, InFlight: 1}, {PerSecond: 1e9, Time: time.Hour, InFlight: 1}} {
		if _, err := Open(context.Background(), p, none); !errors.Is(err, ErrPlan) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

func TestMergeAddsUp(t *testing.T) {
	a, b := NewResult(), NewResult()
	_ = a.Times.RecordValue(1000)
	_ = b.Times.RecordValue(3000)
	a.Answered, b.Answered, b.Shed = 1, 1, 2
	a.Elapsed, b.Elapsed = time.Second, time.Second
	a.Merge(b)
	if a.Answered != 2 || a.Shed != 2 || a.Millis(100) < 2.99 || a.Millis(1) > 1.01 || a.PerSecond() != 1 {
		t.Errorf("%+v: %v ms at most", a, a.Millis(100))
	}
}
