package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
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

// maxMasks bounds what one event's mask may say.
const maxMasks = 1000

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
	ctx, stop := context.WithTimeout(context.Background(), s.cfg.Deadline)
	defer stop()
	results, err := r.mask.Eval(ctx, rego.EvalInput(event))
	if err != nil {
		return fmt.Errorf("mask the decision log: %w", err)
	}
	if len(results) == 0 {
		return nil // the rule is undefined: nothing is to be hidden
	}
	list, ok := results[0].Expressions[0].Value.([]any)
	if !ok || len(list) > maxMasks {
		return fmt.Errorf("mask the decision log: %s is no set of at most %d elements", maskRule, maxMasks)
	}
	return apply(event, list)
}

func apply(event map[string]any, list []any) error {
	var erased, masked []string
	for _, element := range list {
		c, err := readChange(element)
		if err != nil {
			return fmt.Errorf("mask the decision log: %w", err)
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
