// Package auth turns a request's header into the [gateway.Caller] who asks,
// before anything of the body is read.
//
// Begin with [Authenticator.Authenticate]; how a credential is found in a
// header is in credential.go, how the operator's token is read at start in
// token.go.
//
// The package must never read a request's body or query string, keep a token
// in the clear after New, or put one into an error or a log.
package auth
