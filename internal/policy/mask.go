package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// The package and rule that hide parts of the decision log, as OPA has them.
const (
	maskPackage = "log"
	maskParent  = "system"
	maskRule    = "mask"
)

// A mask takes a member out, or puts a value in its place.
const (
	maskRemove = "remove"
	maskUpsert = "upsert"
)

// Bounds of what a mask may say of one event.
const (
	maxMasks     = 1000
	maxMaskValue = 4096 // bytes of JSON that are put in one place
)

// maskChange is one element of the mask: text (take out what it points to) or
// {"op", "path", "value"}.
type maskChange struct {
	op    string
	path  []string
	value any
}

// mask compiles data.system.log.mask; there may be none.
func (b *builder) mask(ctx context.Context) error {
	modules := map[string]*ast.Module{}
	for _, m := range b.modules {
		if m.mask {
			modules[m.file] = m.parsed
		}
	}
	if len(modules) == 0 {
		return nil
	}
	c, err := compile(modules, nil, b.caps)
	if err != nil {
		return err
	}
	ref := ast.DefaultRootRef.Append(ast.StringTerm(maskParent)).Append(ast.StringTerm(maskPackage)).Append(ast.StringTerm(maskRule))
	if len(c.compiler.GetRulesExact(ref)) == 0 {
		return fmt.Errorf("package %s.%s has no rule named %s: it would hide nothing", maskParent, maskPackage, maskRule)
	}
	query, err := prepareRef(ctx, c, ref, b.revision.profiles.store)
	if err != nil {
		return err
	}
	b.revision.mask = query
	return b.tryMask(ctx, c.compiler.GetRulesExact(ref)[0].Location)
}

// tryMask has the mask hide in one event of each kind: a mask that fails hides all
// of every line, and that is told before it is in force.
func (b *builder) tryMask(ctx context.Context, at *ast.Location) error {
	for _, result := range []any{
		map[string]any{"allow": true, "violations": []any{}},
		map[string]any{"allow": false, "violations": []any{map[string]any{
			"rule": "rule", "level": levelError, "line": 1., "column": 1., "end_line": 1., "end_column": 2.,
			"title": "title", "message": "message", "hint": "hint", "subject": "subject",
		}}},
		nil,
	} {
		event := map[string]any{
			"decision_id": "d_0123456789abcdef", "path": "gateway/decision", "requested_by": "default",
			"input": map[string]any{
				"language": "python", "tool": "python", "profile": "solve", "caller": "default", "session": false,
				"code": map[string]any{"sha256": strings.Repeat("0", 64), "bytes": 8., "text": "print(1)"},
			},
			"metrics": map[string]any{}, "custom": map[string]any{"route": "solve", "request_id": "request"},
		}
		if result != nil {
			event["result"] = result
		}
		if err := b.revision.hide(ctx, event); err != nil {
			if rule := new(topdown.Error); errors.As(err, &rule) && rule.Location != nil {
				at = rule.Location
			}
			return fmt.Errorf("%s:%d: an event of the decision log cannot be masked: %w", at.File, at.Row, err)
		}
	}
	return nil
}

func prepareRef(ctx context.Context, c *compiled, ref ast.Ref, store storage.Store) (*rego.PreparedEvalQuery, error) {
	query, err := rego.New(
		rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(ref)))), rego.Compiler(c.compiler), rego.Store(store), rego.StrictBuiltinErrors(true),
	).PrepareForEval(ctx)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", ref, err)
	}
	return &query, nil
}

// Masks says whether the policy in force has the rule data.system.log.mask:
// without it Mask leaves every event as it is.
func (s *Store) Masks() bool {
	r := s.current.Load()
	return r != nil && r.mask != nil
}

// Mask hides in an event of the decision log, as JSON, what the rule
// data.system.log.mask of the policy in force points to below /input and
// /result, and names in "erased" and "masked" what it hid. At an error the event
// may be half hidden and must not be written.
func (s *Store) Mask(event map[string]any) error {
	r := s.current.Load()
	if r == nil || r.mask == nil {
		return nil
	}
	if err := r.hide(context.Background(), event); err != nil {
		return fmt.Errorf("mask the decision log: %w", err)
	}
	return nil
}

func (r *revision) hide(ctx context.Context, event map[string]any) error {
	stop := newStopper(ctx, r.host.deadline, r.host.growth)
	defer stop.close()
	results, err := r.mask.Eval(ctx, rego.EvalInput(event), rego.EvalExternalCancel(stop.cancel))
	switch {
	case stop.cancel.Cancelled():
		return stop.why()
	case err != nil:
		return err
	case len(results) == 0:
		return nil // the rule is undefined: nothing is to be hidden
	}
	list, ok := results[0].Expressions[0].Value.([]any)
	if !ok || len(list) > maxMasks {
		return fmt.Errorf("%s is no set of at most %d elements", maskRule, maxMasks)
	}
	return apply(event, list)
}

func apply(event map[string]any, list []any) error {
	var erased, masked []string
	for _, element := range list {
		c, err := readChange(element)
		if err != nil {
			return err
		}
		if !c.on(event) {
			continue
		}
		pointer := "/" + strings.Join(c.path, "/")
		if c.op == maskRemove {
			erased = append(erased, pointer)
		} else {
			masked = append(masked, pointer)
		}
	}
	for key, paths := range map[string][]string{"erased": erased, "masked": masked} {
		if len(paths) > 0 {
			slices.Sort(paths)
			event[key] = slices.Compact(paths)
		}
	}
	return nil
}

func readChange(element any) (c maskChange, err error) {
	c.op = maskRemove
	path, isText := element.(string)
	if object, ok := element.(map[string]any); ok {
		c.op, _ = object["op"].(string)
		c.value = object["value"]
		path, isText = object["path"].(string)
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if !slices.Contains([]string{"op", "path", "value"}, key) {
				return c, fmt.Errorf("an element has the key %q: it has op, path and value", key)
			}
		}
	}
	if !isText || (c.op != maskRemove && c.op != maskUpsert) {
		return c, errors.New(`an element is neither a path nor {"op": "remove" or "upsert", "path": …, "value": …}`)
	}
	if value, err := json.Marshal(c.value); err != nil || len(value) > maxMaskValue {
		return c, fmt.Errorf("a value has more than %d bytes", maxMaskValue)
	}
	c.path = strings.Split(strings.TrimPrefix(path, "/"), "/")
	if !strings.HasPrefix(path, "/") || (c.path[0] != "input" && c.path[0] != "result") {
		return c, fmt.Errorf("the path %q begins with neither /input nor /result", path)
	}
	return c, nil
}

// on makes the change in an event; false: there is nothing at its place.
func (c maskChange) on(event map[string]any) bool {
	var at any = event
	last := len(c.path) - 1
	for i, part := range c.path {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch node := at.(type) {
		case map[string]any:
			_, there := node[part]
			if i < last {
				at = node[part]
				continue
			}
			return c.inObject(node, part, there)
		case []any:
			n, ok := index(part, len(node))
			if !ok {
				return false
			}
			if i < last {
				at = node[n]
				continue
			}
			node[n] = c.value // what is taken out of a list leaves null: places stay
			return true
		default:
			return false
		}
	}
	return false
}

func (c maskChange) inObject(node map[string]any, key string, there bool) bool {
	if c.op == maskUpsert {
		node[key] = c.value
		return true
	}
	delete(node, key)
	return there
}

func index(part string, length int) (int, bool) {
	n, err := strconv.Atoi(part)
	return n, err == nil && n >= 0 && n < length
}
