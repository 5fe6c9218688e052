// Package clients holds no code of its own: its tests run other people's clients
// of the Model Context Protocol, as they are published, against this gateway,
// and the protocol's own conformance suite.
//
// Begin with clients_test.go; what is installed is pinned in testdata. Tools of
// the suite are served by a plugin in a process of its own (fixture_test.go), so
// that what is proven is the way from a plugin over gRPC to the protocol.
//
// The tests must never change a client to make it fit, and never pass over a
// client in silence: without npm, pip or their registries they are skipped aloud.
package clients
