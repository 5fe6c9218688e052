// Package executorpb holds the wire form of the executor contract:
// executor.proto and the code that is generated from it.
//
// Begin with executor.proto; its comments are the contract for plugins in any
// language. The package must hold nothing that is written by hand beside this
// file: conversions and rules live in the package wire.
//
// To generate the code again (protoc 3.21.12 on the path):
//
//	go generate ./executor/wire/executorpb
package executorpb

//go:generate ./generate.sh
