#!/bin/sh
# Generates executor.pb.go and executor_grpc.pb.go from executor.proto with the
# generators that tools/protoc.mod pins.
set -eu
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
(cd "$root/tools" && GOFLAGS=-mod=mod go build -modfile=protoc.mod -o "$bin/" \
	google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc)
PATH="$bin:$PATH" protoc --proto_path=. \
	--go_out=. --go_opt=paths=source_relative \
	--go-grpc_out=. --go-grpc_opt=paths=source_relative executor.proto
