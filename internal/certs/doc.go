// Package certs keeps the certificates of the public listener: read from files
// and read again when they change, or issued and renewed by an ACME CA.
//
// Begin with [Open]; files.go and acme.go are its two sources, edge.go is what
// HTTP needs beside: the redirect from plain HTTP and HSTS. certmagic and its
// logger are named here and nowhere else, and none of their types leave.
//
// The package must never log or return a private key, an account's address or
// what a challenge is answered with, serve a certificate for a name that nobody
// configured, or put an expired certificate in the place of a good one.
package certs
