package executor_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/sluice-gateway/sluice/executor"
)

func TestStatusOfErrors(t *testing.T) {
	problem := executor.Problem{Type: "NameError", Message: "x", Line: 2}
	cases := []struct {
		err  error
		want executor.Status
	}{
		{nil, executor.StatusOK},
		{&executor.CompileError{Problem: problem}, executor.StatusCompileError},
		{fmt.Errorf("run: %w", &executor.RuntimeError{Problem: problem}), executor.StatusRuntimeError},
		{executor.ErrWall, executor.StatusWallLimit},
		{executor.ErrCPU, executor.StatusCPULimit},
		{executor.ErrMemory, executor.StatusMemoryLimit},
		{executor.ErrOutput, executor.StatusOutputLimit},
		{executor.ErrCancelled, executor.StatusCancelled},
		{executor.ErrTreeTooLarge, executor.StatusTreeTooLarge},
		{executor.ErrOverloaded, executor.StatusOverloaded},
		{fmt.Errorf("run: %w", executor.ErrSessionLost), executor.StatusSessionLost},
		{errors.New("disk"), executor.StatusInternal},
	}
	for _, c := range cases {
		if got := executor.StatusOf(c.err); got != c.want {
			t.Errorf("StatusOf(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}

func TestStatusNames(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range executor.Statuses() {
		if seen[s.String()] || s == executor.StatusUnspecified {
			t.Errorf("status %d has the name %v", s, s)
		}
		seen[s.String()] = true
	}
	if len(seen) != 16 || executor.Status(200).String() != "STATUS_UNKNOWN" {
		t.Errorf("%d statuses, Status(200) = %v", len(seen), executor.Status(200))
	}
}

func TestErrorsAreInTheProgramsTerms(t *testing.T) {
	p := executor.Problem{Type: "SyntaxError", Message: "invalid syntax", Line: 4}
	if got := (&executor.CompileError{Problem: p}).Error(); got != "SyntaxError at line 4: invalid syntax" {
		t.Error(got)
	}
	if got := (&executor.RuntimeError{Problem: p}).Error(); got != "SyntaxError: invalid syntax" {
		t.Error(got)
	}
}

func TestProgCarriesItsTree(t *testing.T) {
	ran := false
	p := &executor.Prog{
		Doc: executor.Tree{Schema: "calcast/1", JSON: []byte("{}")},
		Do: func(context.Context, executor.Grant, executor.Output) (executor.Result, error) {
			ran = true
			return executor.Result{Value: "4", HasValue: true}, nil
		},
	}
	res, err := p.Run(context.Background(), executor.Grant{}, nil)
	if err != nil || !ran || res.Value != "4" || p.Close() != nil {
		t.Errorf("Run = %+v, %v", res, err)
	}
	if p.Tree().Digest() != sha256.Sum256([]byte("{}")) || (executor.Source{Code: []byte("{}")}).Digest() != p.Tree().Digest() {
		t.Error("digests are not SHA-256 of the bytes")
	}
}
