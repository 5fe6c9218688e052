package policy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"

	"github.com/sluice-gateway/sluice/executor"
)

// maxTreeBytes bounds the documents of the corpus that are kept.
const maxTreeBytes = 64 << 20

// trees keeps the documents of the corpus's programs from one load to the next:
// a tree follows from the text and the sections alone, as the contract with
// plugins says, and parsing is nearly all that a load costs. What a load did not
// use is forgotten with the one after it. Safe for concurrent use.
type trees struct {
	mu     sync.Mutex
	bytes  int // of both
	before map[[sha256.Size]byte]executor.Tree
	now    map[[sha256.Size]byte]executor.Tree
}

func newTrees() *trees {
	return &trees{now: map[[sha256.Size]byte]executor.Tree{}}
}

// next begins another load.
func (t *trees) next() *trees {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.now) > 0 { // a load that failed before the corpus has used none
		t.before, t.now = t.now, map[[sha256.Size]byte]executor.Tree{}
	}
	t.bytes = 0
	for _, tree := range t.before {
		t.bytes += len(tree.JSON)
	}
	return t
}

type parse func(ctx context.Context, language string, code []byte, sections []string) (executor.Tree, *executor.Result, error)

// parse is do, unless the tree is known.
func (t *trees) parse(ctx context.Context, do parse, e example, sections []string) (executor.Tree, *executor.Result, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s\x00%v\x00%s\x00%s", e.language, sections == nil, strings.Join(sections, " "), e.code))
	if tree, ok := t.known(key); ok {
		return tree, nil, nil
	}
	tree, ended, err := do(ctx, e.language, e.code, sections)
	if err == nil && ended == nil {
		t.keep(key, tree)
	}
	return tree, ended, err
}

func (t *trees) known(key [sha256.Size]byte) (executor.Tree, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if tree, ok := t.now[key]; ok {
		return tree, true
	}
	tree, ok := t.before[key]
	if ok {
		t.now[key] = tree
	}
	return tree, ok
}

func (t *trees) keep(key [sha256.Size]byte, tree executor.Tree) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bytes += len(tree.JSON); t.bytes <= maxTreeBytes {
		t.now[key] = tree
	} else {
		t.bytes -= len(tree.JSON)
	}
}
