//go:build !linux

package wire

// guardProcess needs Linux; elsewhere the host's own means must do.
func guardProcess(string) error { return nil }
