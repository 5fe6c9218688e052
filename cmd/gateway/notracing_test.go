//go:build !race

package main

// racing says that the tests run under the race detector.
const racing = false
