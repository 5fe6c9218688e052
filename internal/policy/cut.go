package policy

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sluice-gateway/sluice/internal/gateway"
)

// keyTruncated is the section that counts the places which the plugin cut:
// section → identifier → how many more.
const keyTruncated = "truncated"

// countCut sets More on the last shown place of each finding whose identifier
// has more places than the document holds.
func countCut(violations []gateway.Violation, doc map[string]any) {
	tree, _ := doc[keyAST].(map[string]any)
	truncated, _ := tree[keyTruncated].(map[string]any)
	if len(truncated) == 0 {
		return
	}
	last := map[[2]string]int{}
	for i, v := range violations {
		last[[2]string{v.Rule, v.Subject}] = i
	}
	for _, i := range last {
		violations[i].More += cutOf(violations[i], tree, truncated)
	}
}

// cutOf counts the places that were cut from the section which holds v's place
// under v's subject; the largest count if there are several.
func cutOf(v gateway.Violation, tree, truncated map[string]any) int {
	most := 0
	at := fmt.Sprintf("%d:%d:%d:%d", v.Line, v.Column-1, v.EndLine, v.EndColumn-1)
	for name, counts := range truncated {
		section, _ := tree[name].(map[string]any)
		places, _ := section[v.Subject].([]string)
		bySubject, _ := counts.(map[string]any)
		number, _ := bySubject[v.Subject].(json.Number)
		if n, err := number.Int64(); err == nil && 0 < n && n < 1<<31 && slices.Contains(places, at) {
			most = max(most, int(n))
		}
	}
	return most
}
