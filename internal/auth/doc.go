// Package auth turns a request's header into the [gateway.Caller] who asks,
// before anything of the body is read.
//
// Begin with [Authenticator.Authenticate]. How a credential is found in a
// header is in credential.go; how the operator's token is read in token.go, the
// file of named tokens in file.go, and how that file is changed in edit.go. Who
// sends wrong tokens is held back in guard.go, by the address that address.go
// finds.
//
// The package must never read a request's body or query string, keep a token
// in the clear after New, or put one into an error or a log.
package auth
