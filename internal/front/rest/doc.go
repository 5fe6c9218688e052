// Package rest speaks the HTTP API: it turns a request into a
// [gateway.Request] and an answer into JSON.
//
// Begin with routes.go (the one table of routes), then exchange.go (the rules
// that hold for all of them) and solve.go. What an error of the gateway means on
// the wire stands in errors.go alone.
//
// The package must never read a byte of a body before the caller is known,
// answer with an error's own text, or log a query string, a header or a body.
package rest
