package executortest

import (
	"context"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

type echo struct{}

func (echo) Describe() executor.Description {
	return executor.Description{Name: "echo", Version: "1.0.0", Languages: []executor.Language{{ID: "echo", Version: "1", TreeSchema: "echo/1"}}}
}
func (echo) Parse(_ context.Context, src executor.Source) (executor.Program, error) {
	return &executor.Prog{Doc: executor.Tree{Schema: "echo/1", JSON: []byte(`{}`)}, Do: func(_ context.Context, _ executor.Grant, out executor.Output) (executor.Result, error) {
		out.Stdout().Write(src.Code)
		return executor.Result{}, nil
	}}, nil
}

func TestSmoke(t *testing.T) {
	c := Start(t, echo{})
	s, err := c.Submit(t.Context(), executor.Source{Language: "echo", Code: []byte("hi")})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Run(t.Context(), executor.Grant{}, func(st executor.Stream, b []byte) { t.Logf("%d %s", st, b) })
	t.Logf("%+v %v", r, err)
	if err != nil || r.Status != executor.StatusOK {
		t.Fatal(r)
	}
}
