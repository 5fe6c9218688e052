package executortest

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Outcome is how a check ended.
type Outcome string

// The outcomes.
const (
	Passed        Outcome = "passed"
	Failed        Outcome = "failed"
	Skipped       Outcome = "skipped"        // what it needs is missing; Detail says what
	NotApplicable Outcome = "not applicable" // the plugin says why, in Detail
)

// Finding is how one check ended.
type Finding struct {
	ID       string        `json:"id"`                 // "S09"
	Language string        `json:"language,omitempty"` // of checks of submissions and sessions
	Rule     string        `json:"rule"`               // what is demanded, in a few words
	Outcome  Outcome       `json:"outcome"`
	Detail   string        `json:"detail,omitempty"` // what was seen; it may hold a plugin's last words
	Took     time.Duration `json:"took_ns"`
}

// Report is what Verify found, in the order in which it looked.
type Report struct {
	Program  string    `json:"program"`
	SHA256   string    `json:"sha256"` // of the file that was run
	Name     string    `json:"name"`   // as it calls itself; empty: it was never asked
	Version  string    `json:"version"`
	Findings []Finding `json:"checks"`
}

// Count tells how many checks ended so.
func (r Report) Count(o Outcome) (n int) {
	for _, f := range r.Findings {
		if f.Outcome == o {
			n++
		}
	}
	return n
}

// OK says whether no check failed; strict, whether none was skipped either.
func (r Report) OK(strict bool) bool {
	return len(r.Findings) > 0 && r.Count(Failed) == 0 && (!strict || r.Count(Skipped) == 0)
}

// verdict gathers what one check says. It implements reporter.
type verdict struct {
	mu      sync.Mutex
	outcome Outcome
	detail  string
}

const maxDetail = 2000

func (v *verdict) add(o Outcome, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.outcome != Failed {
		v.outcome = o
	}
	text := fmt.Sprintf(format, args...)
	if v.detail != "" {
		text = v.detail + "; " + text
	}
	v.detail = text[:min(len(text), maxDetail)]
}

// Helper implements reporter.
func (*verdict) Helper() {}

// Errorf implements reporter.
func (v *verdict) Errorf(format string, args ...any) { v.add(Failed, format, args...) }

// Fatalf implements reporter.
func (v *verdict) Fatalf(format string, args ...any) {
	v.add(Failed, format, args...)
	runtime.Goexit()
}

// Skipf implements reporter.
func (v *verdict) Skipf(format string, args ...any) {
	v.add(Skipped, format, args...)
	runtime.Goexit()
}

// Absentf implements reporter.
func (v *verdict) Absentf(format string, args ...any) {
	v.add(NotApplicable, format, args...)
	runtime.Goexit()
}

// Notef implements reporter.
func (v *verdict) Notef(format string, args ...any) { v.add(Passed, format, args...) }

// try runs one check on a goroutine that it may end.
func (s *suite) try(c check) Finding {
	v := &verdict{outcome: Passed}
	began := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if what := recover(); what != nil {
				v.add(Failed, "the check panicked: %v", what)
			}
		}()
		c.do(v, s)
	}()
	<-done
	return Finding{ID: c.id, Rule: c.rule, Outcome: v.outcome, Detail: v.detail, Took: time.Since(began)}
}
