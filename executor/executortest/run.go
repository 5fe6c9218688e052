package executortest

import (
	"context"
	"slices"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

// Run holds e against the contract, one subtest a check: what e says of itself,
// every language's submissions, and then draining. settings are as for Start. A
// check whose sample e does not describe is skipped and says so.
//
// Checks of a process of its own (its start, its signals, what it leaves
// behind) are not among them: [Verify] has those too.
func Run(t *testing.T, e executor.Executor, settings ...executor.Config) {
	t.Helper()
	p := serve(t, e)
	s := newSuite(p, e)
	try := func(prefix string, checks []check) {
		for _, c := range checks {
			t.Run(prefix+c.id+" "+c.rule, func(t *testing.T) { c.do(tester{t}, s) })
		}
	}
	try("", describeChecks())
	if _, err := s.host.Describe(context.Background(), "test", "samples"); err != nil {
		t.Fatal(err)
	}
	configure(t, p, settings)
	for i, l := range s.about.Languages {
		s.speak(i)
		try(l.ID+"/", slices.Concat(submitChecks(), sessionChecks()))
	}
	try("", lastChecks())
}

// tester reports to a test.
type tester struct{ *testing.T }

// Absentf implements reporter.
func (r tester) Absentf(format string, args ...any) {
	r.Helper()
	r.Skipf("does not apply: "+format, args...)
}

// Notef implements reporter.
func (r tester) Notef(format string, args ...any) {
	r.Helper()
	r.Logf(format, args...)
}
