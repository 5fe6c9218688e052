package executor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

func TestIndex(t *testing.T) {
	l := executor.Language{ID: "toy", TreeSchema: "toy/1", Grammar: "1"}
	src := executor.Source{Code: []byte("a\nb")}
	write := func() executor.Tree {
		x := executor.NewIndex("names", "kinds")
		for i := range 40 {
			x.Add("names", "many", executor.Place(1, i, 1, i+1))
		}
		x.Add("names", "bad\xff", executor.Place(1, 0, 1, 1))
		x.Add("names", "twice", "1:0:1:1")
		x.Add("names", "twice", "1:0:1:1")
		x.Node(3)
		x.Node(1)
		tree, err := x.Tree(l, src)
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	tree := write()
	if tree.Digest() != write().Digest() || tree.Nodes != 2 || tree.Depth != 3 || tree.Schema != "toy/1" {
		t.Errorf("%+v", tree)
	}
	var doc struct {
		Code struct {
			SHA256       string
			Bytes, Lines int
		}
		AST struct {
			Names map[string][]string
			Kinds map[string][]string
		}
	}
	if err := json.Unmarshal(tree.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.AST.Kinds == nil || len(doc.AST.Names["many"]) != 16 || len(doc.AST.Names["twice"]) != 1 || doc.Code.Lines != 2 || doc.Code.SHA256 != fmt.Sprintf("%x", src.Digest()) {
		t.Errorf("%s", tree.JSON)
	}
	src.MaxTreeBytes = 10
	if _, err := executor.NewIndex().Tree(l, src); !errors.Is(err, executor.ErrTreeTooLarge) {
		t.Errorf("over its limit: %v", err)
	}
}

func TestIndexSchemaIsOne(t *testing.T) {
	text := string(executor.IndexSchema("toy/1", "toy", "names"))
	if !json.Valid([]byte(text)) || !strings.Contains(text, `"const":"toy/1"`) || !strings.Contains(text, `"required":["names"]`) {
		t.Error(text)
	}
}
