package main

import (
	"context"
	"os"

	"github.com/sluice-gateway/sluice/internal/policy"
	"github.com/sluice-gateway/sluice/internal/sandbox"
)

func main() {
	if code, is := sandbox.Shim(os.Args); is {
		os.Exit(code)
	}
	policy.ShareWords() // first: nothing may use OPA beside it
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
