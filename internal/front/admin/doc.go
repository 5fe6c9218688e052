// Package admin is the listener for operators: metrics, the policy's status and
// its reload, what other rooms add, and profiles of the process.
//
// Begin at [New]. On a loopback address the request's Host must be one of this
// machine's own names, so that no web page can reach it by a name that it made
// resolve here; on any other address, and for a request that came through a
// proxy, a token with the scope "admin" is needed.
//
// It must never show a token or a program's text, and nothing of it belongs on
// the public listener.
package admin
