// Command gateway is Sluice: it judges programs by a policy and has those that
// are allowed run by executor plugins.
//
// Begin with run.go (the command line and what it exits with), then assemble.go
// (the one place where the rooms meet). Each sub-command has a file of its own.
//
// The package wires and translates; what a submission goes through stands in
// internal/gateway.
package main
