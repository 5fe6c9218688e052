#!/bin/sh
# Makes what the container holds:
#   assemble.sh binaries SOURCE APP   the gateway, its plugins, the policy and the configuration; needs Go
#   assemble.sh python   SOURCE APP   the interpreter's environment; needs Python's venv module
# PYTHON is the interpreter (default /usr/bin/python3): one that uid 1000 can read, at the same path where it will run.
set -eu

[ $# = 3 ] || { echo "usage: assemble.sh binaries|python SOURCE APP" >&2; exit 2; }
mkdir -p "$3"
source=$(cd "$2" && pwd)
app=$(cd "$3" && pwd)

case $1 in
binaries)
	build=$(cat "$source/BUILD" 2>/dev/null || echo unknown)
	mkdir -p "$app/bin/plugins"
	cd "$source"
	export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
	go build -trimpath -ldflags "-s -w -X main.build=$build" -o "$app/bin/gateway" ./cmd/gateway
	for plugin in python-exec calc; do
		go build -trimpath -ldflags '-s -w' -o "$app/bin/plugins/$plugin" "./plugins/$plugin"
	done
	cp -R policies config.yaml LICENSE "$app/"
	;;
python)
	PYTHON=${PYTHON:-/usr/bin/python3} sh "$source/plugins/python-exec/venv.sh" "$app/.venv"
	;;
*)
	echo "assemble.sh: $1 is neither binaries nor python" >&2
	exit 2
	;;
esac
chmod -R a+rX "$app"
