package gateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// greedy has n clients of one caller ask again and again, each holding a slot
// for hold, until ctx ends. It returns where the served are counted.
func greedy(ctx context.Context, s *slots, caller string, n int, hold time.Duration) *atomic.Int64 {
	served := &atomic.Int64{}
	for range n {
		go func() {
			for ctx.Err() == nil {
				release, err := s.take(ctx, Caller{Name: caller}, time.Hour)
				if err != nil {
					time.Sleep(time.Millisecond)
					continue
				}
				served.Add(1)
				time.Sleep(hold)
				release()
			}
		}()
	}
	return served
}

// bubble gives a context and the function that ends it and sees its users out:
// in a bubble time stands once the test returns.
func bubble() (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	return ctx, func() {
		cancel()
		time.Sleep(time.Second)
	}
}

func TestOneClientIsNotBehindFifty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := bubble()
		defer end()
		s := held(Limits{Concurrency: 1, Queue: 64})
		greedy(ctx, s, "greedy", 50, run)
		synctest.Wait()
		for i := range 100 {
			begin := time.Now()
			release, err := s.take(ctx, Caller{Name: "single"}, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(begin); waited > run {
				t.Fatalf("request %d waited for %v, want the rest of one run, %v, at most", i, waited, run)
			}
			time.Sleep(run)
			release()
			time.Sleep(time.Duration(i%7) * time.Millisecond)
		}
	})
}

// Who asks for one thing after the other finds its slot, as long as it comes back
// at once; one who does not costs the others nothing.
func TestWhoComesBackAtOnceIsAwaited(t *testing.T) {
	for _, row := range []struct {
		rest, longest time.Duration
		others        int64 // served meanwhile, at least
	}{
		{5 * time.Millisecond, 0, 190},
		{100 * time.Millisecond, run, 1100},
	} {
		t.Run(row.rest.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := bubble()
				defer end()
				s := held(Limits{Concurrency: 2, Queue: 64})
				served := greedy(ctx, s, "greedy", 50, run)
				synctest.Wait()
				for i := range 200 {
					begin := time.Now()
					release, err := s.take(ctx, Caller{Name: "single"}, time.Hour)
					if err != nil {
						t.Fatal(err)
					}
					if waited := time.Since(begin); i > 1 && waited > row.longest {
						t.Errorf("request %d waited for %v, want %v at most", i, waited, row.longest)
					}
					time.Sleep(run)
					release()
					time.Sleep(row.rest)
				}
				if served.Load() < row.others {
					t.Errorf("the others were served %d times, want %d", served.Load(), row.others)
				}
			})
		})
	}
}

// Callers whose programs take longer are served less often, not for longer.
func TestSharesAreOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := bubble()
		defer end()
		s := newSlots(Limits{Concurrency: 1, Queue: 64}, time.Now)
		slow := greedy(ctx, s, "slow", 20, 100*time.Millisecond)
		quick := greedy(ctx, s, "quick", 4, 10*time.Millisecond)
		time.Sleep(20 * time.Second)
		if slow, quick := slow.Load(), quick.Load(); slow < 95 || slow > 105 || quick < 950 || quick > 1050 {
			t.Errorf("in 20 s the slow one was served %d times, want about 100, and the quick one %d times, want about 1000", slow, quick)
		}
	})
}

// Who was away has saved up nothing, and who ran long alone owes nothing.
func TestNothingIsSavedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := bubble()
		defer end()
		s := newSlots(Limits{Concurrency: 1, Queue: 64}, time.Now)
		early := greedy(ctx, s, "early", 5, run)
		time.Sleep(time.Minute)
		before := early.Load()
		late := greedy(ctx, s, "late", 5, run)
		time.Sleep(10 * time.Second)
		if had, has := early.Load()-before, late.Load(); has-had > 2 || had-has > 2 {
			t.Errorf("after the second came, one was served %d times and the other %d times", had, has)
		}
	})
}

func TestLongRunsOfOneDoNotBuyTheOtherCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := bubble()
		defer end()
		s := newSlots(Limits{Concurrency: 2, Queue: 64}, time.Now)
		release, err := s.take(ctx, Caller{Name: "long"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		other := greedy(ctx, s, "other", 5, run)
		time.Sleep(30 * time.Second)
		release()
		long := greedy(ctx, s, "long", 5, run)
		before := other.Load()
		time.Sleep(10 * time.Second)
		if had, has := other.Load()-before, long.Load(); has-had > 4 || had-has > 4 {
			t.Errorf("after a long run its caller was served %d times and the other %d times", has, had)
		}
	})
}

func TestAFullLineYieldsToWhoHasFewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := held(Limits{Concurrency: 1, Queue: 4})
		first, err := s.take(context.Background(), Caller{Name: "greedy"}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		ends := make(chan error, 8)
		ask := func(caller string) {
			go func() {
				release, err := s.take(context.Background(), Caller{Name: caller}, time.Hour)
				if err == nil {
					release()
				}
				ends <- err
			}()
			synctest.Wait()
		}
		for range 4 {
			ask("greedy")
		}
		ask("greedy")
		if err := <-ends; !errors.Is(err, ErrQueueFull) {
			t.Errorf("the greedy one's fifth: %v", err)
		}
		ask("single")
		if err := <-ends; !errors.Is(err, ErrQueueFull) {
			t.Errorf("the greedy one's last place: %v", err)
		}
		ask("single") // two and three: no gain in fairness any more
		ask("single")
		if got := []error{<-ends, <-ends}; !errors.Is(got[0], ErrQueueFull) || !errors.Is(got[1], ErrQueueFull) {
			t.Errorf("the single one's further: %v", got)
		}
		first()
		synctest.Wait()
		for range 4 {
			if err := <-ends; err != nil {
				t.Errorf("who kept a place: %v", err)
			}
		}
	})
}

// A line that stands is too long for the one who makes it so, not for others.
func TestOverloadIsToldToWhoMakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := bubble()
		defer end()
		s := held(Limits{Concurrency: 1, Queue: 64, QueueTarget: run})
		greedy(ctx, s, "greedy", 50, run)
		time.Sleep(time.Second)
		refused := 0
		for range 50 {
			if _, err := s.take(ctx, Caller{Name: "greedy"}, 0); errors.Is(err, ErrOverload) {
				refused++
			}
			release, err := s.take(ctx, Caller{Name: "single"}, time.Hour)
			if err != nil {
				t.Fatalf("the single one: %v", err)
			}
			time.Sleep(run)
			release()
		}
		if refused == 0 {
			t.Error("the greedy one was never told of the overload that it is")
		}
	})
}

func TestCallersConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := held(Limits{Concurrency: 1, Queue: 64})
		two := Caller{Name: "two", Concurrency: 2}
		release, err := s.take(context.Background(), two, 0)
		if err != nil {
			t.Fatal(err)
		}
		waiting := make(chan func(), 1)
		go func() {
			release, err := s.take(context.Background(), two, time.Hour)
			if err != nil {
				t.Error(err)
			}
			waiting <- release
		}()
		synctest.Wait()
		var busy *BusyError
		if _, err := s.take(context.Background(), two, time.Hour); !errors.Is(err, ErrCallerBusy) || !errors.As(err, &busy) || busy.RetryAfter() != run {
			t.Errorf("a third at once: %v", err)
		}
		if errors.Is(ErrCallerBusy, ErrBusy) {
			t.Error("a caller's own limit counts as load")
		}
		release()
		(<-waiting)()
		if release, err = s.take(context.Background(), two, 0); err != nil {
			t.Fatalf("afterwards: %v", err)
		}
		release()
	})
}

// Whatever comes and goes: every slot comes back, and nothing is remembered.
func TestTheLineForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(Limits{Concurrency: 3, Queue: 20}, time.Now)
		random := rand.New(rand.NewPCG(1, 2))
		inside := 0
		for range 2000 {
			caller := Caller{Name: fmt.Sprint(random.IntN(9)), Concurrency: random.IntN(5)}
			patience, hold := time.Duration(random.IntN(9))*time.Millisecond, time.Duration(random.IntN(9))*time.Millisecond
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(30))*time.Millisecond)
			go func() {
				defer cancel()
				release, err := s.take(ctx, caller, patience)
				if err != nil {
					return
				}
				s.mu.Lock()
				if inside++; inside > 3 {
					t.Errorf("%d hold three slots", inside)
				}
				s.mu.Unlock()
				time.Sleep(hold)
				s.mu.Lock()
				inside--
				s.mu.Unlock()
				release()
			}()
			time.Sleep(time.Duration(random.IntN(2)) * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if s.free != 3 || s.line.len() != 0 {
			t.Errorf("%d slots are free and %d wait, want 3 and 0", s.free, s.line.len())
		}
		for i := range 10 { // the clock of the line passes those of all who were ahead
			for range 20 {
				release, err := s.take(context.Background(), Caller{Name: "last"}, 0)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				release()
			}
			if len(s.line.shares) == 1 {
				return
			}
			t.Log(i, len(s.line.shares))
		}
		t.Errorf("%d callers are remembered", len(s.line.shares))
	})
}
