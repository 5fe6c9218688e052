package gateway

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

const run = 20 * time.Millisecond // what a slot is held in these tests

// held is slots on which a few runs have been seen.
func held(l Limits) *slots {
	s := newSlots(l, time.Now)
	for range 3 {
		release, err := s.take(context.Background(), Caller{Name: "w"}, l.QueueWait)
		if err != nil {
			panic(err)
		}
		time.Sleep(run)
		release()
	}
	return s
}

// arrive has n submissions come, one every gap, each of which holds a slot for
// run; it returns how many were refused and the longest wait of the others.
func arrive(t *testing.T, s *slots, n int, gap time.Duration) (refused int, longest time.Duration) {
	t.Helper()
	type end struct {
		waited time.Duration
		err    error
	}
	ends := make(chan end, n)
	for range n {
		go func() {
			begin := time.Now()
			release, err := s.take(context.Background(), Caller{Name: "w"}, 10*time.Second)
			e := end{time.Since(begin), err}
			if err == nil {
				time.Sleep(run)
				release()
			}
			ends <- e
		}()
		synctest.Wait()
		time.Sleep(gap)
	}
	for range n {
		switch e := <-ends; {
		case errors.Is(e.err, ErrOverload):
			refused++
		case e.err != nil:
			t.Fatal(e.err)
		default:
			longest = max(longest, e.waited)
		}
	}
	return refused, longest
}

func TestALineThatStandsIsBoundedByTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		target time.Duration
		gap    time.Duration // two slots serve one in 10 ms
		want   func(refused int, longest time.Duration) bool
	}{
		{"below capacity nobody waits", 50 * time.Millisecond, 12 * time.Millisecond, func(r int, l time.Duration) bool { return r == 0 && l <= run }},
		{"120 %: a sixth is refused, the others wait for three runs at most", 50 * time.Millisecond, 10 * time.Millisecond * 5 / 6, func(r int, l time.Duration) bool {
			return 100 < r && r < 200 && l <= fairWait*run
		}},
		{"300 %", 50 * time.Millisecond, 10 * time.Millisecond / 3, func(r int, l time.Duration) bool { return 550 < r && r < 700 && l <= 2*burst+fairWait*run }},
		{"a target above that may be waited for", 200 * time.Millisecond, 10 * time.Millisecond * 5 / 6, func(r int, l time.Duration) bool {
			return r > 100 && fairWait*run < l && l <= 220*time.Millisecond
		}},
		{"without a target all wait", 0, 10 * time.Millisecond * 5 / 6, func(r int, l time.Duration) bool { return r == 0 && l > time.Second }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := held(Limits{Concurrency: 2, Queue: 1000, QueueWait: 10 * time.Second, QueueTarget: c.target})
				if refused, longest := arrive(t, s, 1000, c.gap); !c.want(refused, longest) {
					t.Errorf("%d of 1000 refused, the longest wait was %v", refused, longest)
				}
			})
		})
	}
}

func TestABurstMayFillTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := held(Limits{Concurrency: 2, Queue: 64, QueueWait: 10 * time.Second, QueueTarget: 50 * time.Millisecond})
		if refused, longest := arrive(t, s, 66, 0); refused > 0 || longest > 33*run {
			t.Errorf("%d of 66 refused, the longest wait was %v", refused, longest)
		}
	})
}

func TestBeforeAnyRunNobodyIsRefusedForTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(Limits{Concurrency: 1, Queue: 8, QueueTarget: time.Millisecond}, time.Now)
		if refused, _ := arrive(t, s, 9, 0); refused > 0 {
			t.Errorf("%d refused", refused)
		}
	})
}

func TestWhoIsRefusedIsToldWhenToComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := held(Limits{Concurrency: 1, Queue: 4})
		first, err := s.take(context.Background(), Caller{Name: "w"}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			go func() {
				if release, err := s.take(context.Background(), Caller{Name: "w"}, time.Hour); err == nil {
					release()
				}
			}()
		}
		synctest.Wait()
		_, err = s.take(context.Background(), Caller{Name: "w"}, time.Second)
		var busy *BusyError
		if !errors.As(err, &busy) || !errors.Is(err, ErrQueueFull) || busy.RetryAfter() != 5*run {
			t.Errorf("take = %v, want ErrQueueFull and %v", err, 5*run)
		}
		first()
	})
}

// A slot that is handed over at the moment when its taker leaves is not lost.
func TestNoSlotIsLostToThoseWhoLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(Limits{Concurrency: 1, Queue: 1000}, time.Now)
		for i := range 200 {
			release, err := s.take(context.Background(), Caller{Name: "w"}, time.Second)
			if err != nil {
				t.Fatal(i, err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 2)
			for range 2 {
				go func() {
					got, err := s.take(ctx, Caller{Name: fmt.Sprint(i)}, time.Duration(i%3)*time.Millisecond)
					if err == nil {
						got()
					}
					ended <- err
				}()
			}
			synctest.Wait()
			time.Sleep(time.Duration(i%2) * time.Millisecond)
			go cancel()
			release()
			<-ended
			<-ended
		}
		if s.free != 1 || s.line.len() != 0 {
			t.Errorf("%d slots are free and %d wait, want 1 and 0", s.free, s.line.len())
		}
	})
}
