package rest

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	busy := refusal{status: http.StatusServiceUnavailable, retry: time.Second}
	for name, row := range map[string]struct {
		pause time.Duration
		gone  bool
		r     refusal
		want  time.Duration
	}{
		"load":                {time.Second, false, busy, time.Second},
		"a limit":             {time.Second, false, refusal{status: http.StatusTooManyRequests, retry: 1}, time.Second},
		"a session's turn":    {time.Second, false, refusal{status: http.StatusConflict, retry: 1}, 0},
		"a fault":             {time.Second, false, refusal{status: http.StatusServiceUnavailable}, 0},
		"who left":            {time.Second, true, busy, 0},
		"switched off":        {0, false, busy, 0},
		"an ordinary refusal": {time.Second, false, refusal{status: http.StatusUnauthorized}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, leave := context.WithCancel(context.Background())
				defer leave()
				if row.gone {
					leave()
				}
				begin := time.Now()
				newPace(row.pause).hold(ctx, row.r)
				if took := time.Since(begin); took != row.want {
					t.Errorf("held for %v, want %v", took, row.want)
				}
			})
		})
	}
}

func TestPaceHoldsABoundedNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(time.Second)
		var over atomic.Int64
		for range maxPaced + 10 {
			go func() {
				p.hold(context.Background(), refusal{status: http.StatusTooManyRequests, retry: 1})
				over.Add(1)
			}()
		}
		synctest.Wait()
		if over.Load() != 10 {
			t.Errorf("%d were not held, want 10", over.Load())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
	})
}
