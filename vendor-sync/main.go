// Command vendor-sync holds the policy to the sources that it follows: it
// compares the policy folder with the pin in it, and the pin with the
// repositories that it names.
//
// Begin with command.go; what is compared and how is package upstream. The
// command never edits the policy's lists unless `update --write-lists` says so,
// and never runs anything of an upstream.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
