package policy

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// slowDecision is where a decision begins to be counted as slow.
const slowDecision = 100 * time.Millisecond

// Decide implements gateway.Policy.
func (r *revision) Decide(ctx context.Context, q gateway.Question) (gateway.Decision, error) {
	begin := r.host.now()
	d, err := r.decide(ctx, q, begin, r.host.deadline)
	if l, ok := r.languages[q.Language]; ok {
		d.Violations = uncovered(d.Violations, l.rules)
	}
	if r.host.now().Sub(begin) > slowDecision {
		r.host.slow.Add(1)
	}
	if err != nil && errors.Is(err, gateway.ErrPolicyFault) {
		r.host.faults.Add(1)
	}
	return d, err
}

func (r *revision) decide(ctx context.Context, q gateway.Question, begin time.Time, within time.Duration) (d gateway.Decision, err error) {
	defer func() {
		if p := recover(); p != nil {
			d, err = gateway.Decision{}, fmt.Errorf("%w: panic: %v\n%s", gateway.ErrPolicyFault, p, debug.Stack())
		}
	}()
	l, ok := r.languages[q.Language]
	if !ok {
		return d, noRules(q.Language)
	}
	if q.Profile, err = r.profile(q.Profile); err != nil {
		return d, err
	}
	stop := newStopper(ctx, within, r.host.growth)
	defer stop.close()
	input, err := l.input.document(q)
	if err != nil {
		return d, err
	}
	term, err := r.evaluate(ctx, l, input, stop, begin)
	if err != nil {
		return d, err
	}
	if d, err = readDecision(term, l.rules); err != nil {
		return gateway.Decision{}, fmt.Errorf("%w: %w", gateway.ErrPolicyFault, err)
	}
	countCut(d.Violations, input)
	d.ID, d.Profile, d.Revision = r.host.newID(), q.Profile, r.name
	return d, nil
}

// profile returns the name of the profile in force for the asked one.
func (r *revision) profile(asked string) (string, error) {
	if r.admitsAll {
		return admitAll, nil
	}
	if !r.profiles.has(asked) {
		return "", fmt.Errorf("profile %q: %w", asked, gateway.ErrUnknownProfile)
	}
	return asked, nil
}

// evaluate asks the entry point, which must answer with exactly one value
// before the deadline.
func (r *revision) evaluate(ctx context.Context, l *language, input map[string]any, stop *stopper, now time.Time) (*ast.Term, error) {
	if err := r.profiles.lapse(ctx, now); err != nil {
		return nil, fmt.Errorf("%w: %w", gateway.ErrPolicyFault, err)
	}
	value, err := l.input.value(input)
	if err != nil {
		return nil, fmt.Errorf("%w: document: %w", gateway.ErrPluginFault, err)
	}
	results, err := l.query.Eval(ctx, rego.EvalParsedInput(value), rego.EvalExternalCancel(stop.cancel))
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("decide: %w", context.Cause(ctx))
	case stop.cancel.Cancelled():
		return nil, fmt.Errorf("%w: %w", gateway.ErrPolicyFault, stop.why())
	case err != nil:
		return nil, fmt.Errorf("%w: %w", gateway.ErrPolicyFault, err)
	case len(results) != 1 || len(results[0].Expressions) != 1:
		return nil, fmt.Errorf("%w: decision is undefined", gateway.ErrPolicyFault)
	}
	term, ok := results[0].Expressions[0].Value.(*ast.Term)
	if !ok {
		return nil, fmt.Errorf("%w: decision is no value", gateway.ErrPolicyFault)
	}
	return term, nil
}
