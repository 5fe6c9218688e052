// Package wire carries the contract of the package executor over go-plugin's
// gRPC connection.
//
// An author of a plugin begins, and ends, with [Serve], which is the whole of a
// plugin's main: it supplies the order of parse, verdict and run, the digests,
// output in chunks and its caps, limits on time, cancelling, slots, health,
// draining, and the guards that end the process with its parent. The gateway
// begins with [HostPlugins], which dispenses a [Client].
//
// Each half treats the other as hostile as far as it can: what the plugin sends
// is bounded and held against the contract before the gateway sees it
// ([ErrProtocol]), and nothing of a submitted text runs before a verdict for
// exactly its tree. The package never logs a submission's text, output or a
// secret, and knows nothing of the gateway.
package wire
