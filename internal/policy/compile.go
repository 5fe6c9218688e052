package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// language is the rules of one language, ready to be asked.
type language struct {
	input      inputCheck
	proof      *jsonschema.Schema // of the whole document, for the corpus; nil: there is no schema
	sections   []string           // nil: all
	query      rego.PreparedEvalQuery
	rules      map[string]Rule
	importable *rego.PreparedEvalQuery // what programs may import; nil: the package does not say
	source     *compiled               // what the query was made of, to explain decisions by
}

// compiled is one language's modules after OPA's compiler.
type compiled struct {
	compiler *ast.Compiler
	modules  map[string]*ast.Module // as parsed
}

// compile compiles modules for one language: strict, with its schema at the
// input's root, so that a misspelt field does not compile. METADATA cannot
// swap that schema for another one.
func compile(modules map[string]*ast.Module, schema map[string]any, caps *ast.Capabilities) (*compiled, error) {
	compiler := ast.NewCompiler().
		WithStrict(true).
		WithCapabilities(caps).
		WithUseTypeCheckAnnotations(false).
		WithEnablePrintStatements(false)
	if schema != nil {
		schemas := ast.NewSchemaSet()
		schemas.Put(ast.SchemaRootRef, schema)
		compiler = compiler.WithSchemas(schemas)
	}
	if compiler.Compile(modules); compiler.Failed() {
		suggestFunctions(compiler.Errors, modules, caps)
		return nil, fmt.Errorf("compile: %w", compiler.Errors)
	}
	return &compiled{compiler: compiler, modules: modules}, nil
}

// prepare makes the query that Decide evaluates.
func (c *compiled) prepare(ctx context.Context, store storage.Store) (rego.PreparedEvalQuery, error) {
	if len(c.compiler.GetRulesExact(decisionRef())) == 0 {
		return rego.PreparedEvalQuery{}, errors.New("package gateway has no rule named decision")
	}
	c.inline()
	query, err := rego.New(
		rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(decisionRef())))),
		rego.Compiler(c.compiler),
		rego.Store(store),
		rego.StrictBuiltinErrors(true),
		rego.GenerateJSON(func(term *ast.Term, _ *rego.EvalContext) (any, error) { return term, nil }),
	).PrepareForEval(ctx)
	if err != nil {
		return rego.PreparedEvalQuery{}, fmt.Errorf("prepare decision: %w", err)
	}
	return query, nil
}

func decisionRef() ast.Ref {
	return ast.DefaultRootRef.Append(ast.StringTerm(entryPackage)).Append(ast.StringTerm(decisionRule))
}
