package policy

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// tested says whether the folder is, file by file, the one whose corpus was
// judged when this program was built. Then a difference can come from the
// plugin in force alone: another interpreter, another grammar.
func (b *builder) tested() bool {
	if b.cfg.Tested == nil {
		return false
	}
	theirs, err := readFolder(b.cfg.Tested)
	return err == nil && reflect.DeepEqual(theirs, b.folder)
}

// firstAllowed is how many programs that must be allowed stand in the first
// part, of each language.
const firstAllowed = 4

// firstPart cuts a corpus in two. The first part breaks every rule that the
// whole breaks, in every language, and holds a few programs to allow: a plugin
// whose documents do not suit the rules is found by it.
func firstPart(examples []example) (first, left []example) {
	broken, allowed := map[string]bool{}, map[string]int{}
	for _, e := range examples {
		wanted := !e.deny && allowed[e.language] < firstAllowed
		if wanted {
			allowed[e.language]++
		}
		for _, want := range e.expect {
			key := e.language + " " + want.rule
			wanted = wanted || !broken[key]
			broken[key] = true
		}
		if wanted {
			first = append(first, e)
		} else {
			left = append(left, e)
		}
	}
	return first, left
}

// errWithdrawn is the end of a policy that was in force.
var errWithdrawn = errors.New("the policy is withdrawn: nothing is judged until a load is good")

// ProveRest judges what of the corpus was left for later when the policy in
// force was loaded; it returns at once when nothing was. On a fault that
// policy is taken out of force, unless another one stands there by now: Current
// then has none, and nothing runs. It is to be called off the path of requests,
// soon after Load.
func (s *Store) ProveRest(ctx context.Context) error {
	r, left := s.takeLeft()
	if left == nil {
		return nil
	}
	err := left(ctx)
	if ctx.Err() != nil {
		return fmt.Errorf("prove the rest: %w", context.Cause(ctx)) // somebody asked for that: no fault of the policy
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.cfg.Log.Info("the whole corpus was judged", "revision", r.name, "corpus", r.judged.Load())
		return nil
	}
	err = fmt.Errorf("%w: %w", errWithdrawn, err)
	s.cfg.Log.Error("policy is taken out of force", "error", err, "revision", r.name)
	if s.current.CompareAndSwap(r, nil) {
		s.lastErr, s.lastErrAt = err, s.cfg.Now()
	}
	return err
}

// takeLeft gives the revision in force and what is left to be judged of it,
// once.
func (s *Store) takeLeft() (*revision, func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.current.Load()
	if r == nil {
		return nil, nil
	}
	left := r.left
	r.left = nil
	return r, left
}
