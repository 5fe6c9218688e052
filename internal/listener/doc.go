// Package listener is where connections come in: sockets that the service
// manager handed over, or that are bound here; how many connections there are at
// once; and what the service manager is told.
//
// Begin with [Inherit] and [Listen], then [Bound] and [Manager].
//
// The package must never read a byte of a connection, close one while its
// request is being answered, or hand a socket on to a child.
package listener
