// Package pluginhost starts, watches, restarts and drains the processes of
// executor plugins, and finds the one that serves a tool.
//
// Begin with [Host]. Each plugin is a pool (pool.go), what a request meets:
// choosing a process, waiting for one, one silent retry. Each process of a pool
// is kept alive by a keeper (keeper.go), the state machine STARTING → HEALTHY ⇄
// DEGRADED → DRAINING → STOPPED, BACKOFF and QUARANTINED. One process from its
// start to its end is a generation (generation.go), which go-plugin speaks to
// through our own runner (runner.go) behind the walls of the package sandbox.
//
// What a plugin sends is not trusted: the package wire bounds its answers, this
// one its log lines and its handshake. The package must never hold a lock over a
// call to a plugin, wait for a plugin without a deadline, hand the gateway's
// environment down, or write a program's text into a log. A submission that has
// its verdict is never tried again.
package pluginhost
