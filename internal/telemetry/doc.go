// Package telemetry counts what the gateway does, for Prometheus.
//
// Begin at [New]. A [Metrics] is a gateway.Journal, so that every submission is
// counted where it is written down; a front tells it of each HTTP request; what
// stands somewhere else (the queue, sessions, plugins, the policy) is asked for
// when somebody reads the metrics.
//
// It must never let a token, a program's text or a caller's own text become a
// label: every label is a name of this program, of its configuration or of the
// policy, and the number of different ones is bounded.
package telemetry
