package workbench

import (
	"context"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/sluice-gateway/sluice/executor"
	"github.com/sluice-gateway/sluice/internal/gateway"
	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/internal/policy/policytest"
)

const shipped = "../../../policies"

// shippedFolder is the repository's policy as a file system that a test may change.
func shippedFolder(t *testing.T) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	root := os.DirFS(shipped)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(root, path)
		m[path] = &fstest.MapFile{Data: body}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func load(t *testing.T, folder fs.FS) gateway.Policy {
	t.Helper()
	s, err := policy.Load(context.Background(), policy.Config{
		FS: folder, SkipCorpus: true, Languages: []executor.Language{policytest.Language(t)},
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Current()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
