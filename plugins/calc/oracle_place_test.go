package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// placeProgram answers with the kinds and places of the nodes that both trees
// have one by one.
const placeProgram = `
import sys, json, ast, warnings
warnings.simplefilter("ignore")
kinds = {"Name", "Attribute", "Call", "Subscript", "Compare", "Tuple", "List", "Set", "Dict", "Constant", "ListComp",
         "SetComp", "DictComp", "GeneratorExp", "NamedExpr", "Starred", "BoolOp"}
for line in sys.stdin:
    tree = ast.parse(json.loads(line), mode="eval")
    found = sorted("%s %d:%d:%d:%d" % (type(n).__name__, n.lineno, n.col_offset, n.end_lineno, n.end_col_offset)
                   for n in ast.walk(tree) if type(n).__name__ in kinds)
    print(json.dumps([";".join(found), ""]))
`

// TestOraclePlaces compares kinds and places of nodes with CPython's.
func TestOraclePlaces(t *testing.T) {
	expressions := []string{
		"((a)).b", "(a)(b)", "((1, 2))", "((1), (2))", "[(1)]", "(a)[(b)]", "(a)[1, 2]", "(a.b).c(d)(e=f)[g]", "(x for x in y)",
		"[(x) for x in (y) if (z)]", "{(1): (2)}", "{(1), 2,}", "{x: 1 for x in y}", "{x for x in y}", "((x := (5)))", "[*(a)]", "f(*(a))",
		"((1) < (2))", "(1) < (2) < (3)", "(a) and (b)", "not ((a) or (b))", "(\n1 +\n2)", "f(\n a,\n b)", "(a,)", "(a, b,)", "()", "[]", "{}",
		"-(a)", "(a) ** -(b)", "a if (b) else (c)", "((a) if b else c)", "math.pi.x", "True", "None", "...", "1.5j",
	}
	g := &generator{Rand: rand.New(rand.NewPCG(*oracleSeed, 3))}
	for range *oracleCount / 10 {
		if x := g.expression(3); !strings.Contains(x, "**=") {
			expressions = append(expressions, x)
		}
	}
	var asked, have []string
	for _, x := range expressions {
		root, _, err := parseExpression([]byte(x))
		if err != nil {
			continue // TestOracle compares what does not parse
		}
		var found []string
		placesOf(root, &found)
		slices.Sort(found)
		asked, have = append(asked, x), append(have, strings.Join(found, ";"))
	}
	for i, want := range askWith(t, placeProgram, asked) {
		if have[i] != want[0] {
			t.Errorf("%s\n  have %s\n  want %s", asked[i], have[i], want[0])
		}
	}
}

// placesOf lists what placeProgram lists.
func placesOf(n *node, found *[]string) {
	k := n.kind
	switch k {
	case kBareTuple:
		k = kTuple
	case kUnary, kChain, kPower, kIf, kSlice, kLambda:
		k = ""
	}
	if k != "" {
		*found = append(*found, fmt.Sprintf("%s %s", k, n.at))
	}
	for _, kid := range n.kids {
		placesOf(kid, found)
	}
}
