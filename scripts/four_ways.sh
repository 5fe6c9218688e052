#!/bin/bash
# Runs a command beside a gateway in the conditions of four kinds of host, one after another:
#   scripts/four_ways.sh [--policy on|off] [--ways "root user container gvisor"] [COMMAND …]
# The command finds WAY, POLICY, GATEWAY_URL, GATEWAY_TOKEN and GATEWAY_PID in its environment; without one, the gateway's own
# probes are run (gateway doctor). The ways are told in internal/sandbox/sandboxtest. Needs root, since it becomes others, and
# what `make build` makes. Two of the ways are a plain user, who needs an interpreter that he can read: PYTHON (default
# /usr/bin/python3) gets an environment of its own in a folder that everyone can read, kept in KEEP if that is set.
# Exit status: 0 when the command ended so in every way.
set -u
policy=off ways="root user container gvisor" fault=0
while [ $# -gt 0 ]; do
	case $1 in
	--policy) policy=$2; shift 2 ;;
	--ways) ways=$2; shift 2 ;;
	*) break ;;
	esac
done
root=$(cd "$(dirname "$0")/.." && pwd)
[ "$(id -u)" = 0 ] || { echo "four_ways.sh: it needs root, to become others" >&2; exit 2; }
dir=${KEEP:-$(mktemp -d /tmp/sluice-ways-XXXXXX)}
gateway=
finish() {
	[ -z "$gateway" ] || { kill "$gateway"; wait "$gateway"; } 2>/dev/null
	[ -n "${KEEP:-}" ] || rm -rf "$dir"
}
trap finish EXIT
mkdir -p "$dir/bin" "$dir/runtime" && chmod 755 "$dir" && chmod 1777 "$dir/runtime"
(cd "$root" && go build -o "$dir/bin/way" ./internal/sandbox/sandboxtest/way) || exit 2
cp -r "$root/bin/gateway" "$root/bin/plugins" "$dir/bin/" && cp -r "$root/config.yaml" "$root/policies" "$root/testdata/policies-admit-all" "$dir/" || exit 2
PYTHON=${PYTHON:-/usr/bin/python3} "$root/plugins/python-exec/venv.sh" "$dir/.venv" || exit 2
chmod -R a+rX "$dir/bin" "$dir/policies" "$dir/policies-admit-all" "$dir/config.yaml" "$dir/.venv"

rules=$dir/policies
[ "$policy" = on ] || rules=$dir/policies-admit-all
for way in $ways; do
	port=$("$dir/.venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	token=$("$dir/.venv/bin/python" -c 'import secrets; print(secrets.token_hex(24))')
	flags=(--config "$dir/config.yaml" --listen "127.0.0.1:$port" --admin-listen "" --policy-dir "$rules")
	if [ $# = 0 ]; then
		echo "== $way"
		(cd "$dir/runtime" && env -i PATH="$PATH" SOLVER_TOKEN="$token" "$dir/bin/way" "$way" "$dir/bin/gateway" doctor "${flags[@]}") || fault=1
		continue
	fi
	(cd "$dir/runtime" && exec env -i PATH="$PATH" SOLVER_TOKEN="$token" "$dir/bin/way" "$way" "$dir/bin/gateway" serve "${flags[@]}" --audit-file off \
		--set limits.wall=10s --set limits.tool_wall=10s --set limits.wall_ceiling=10s) >"$dir/gateway-$way.log" 2>&1 &
	gateway=$!
	for _ in $(seq 600); do
		curl -sf "http://127.0.0.1:$port/readyz" >/dev/null && break
		kill -0 "$gateway" 2>/dev/null || break
		sleep 0.2
	done
	echo "== $way, policy $policy"
	WAY=$way POLICY=$policy GATEWAY_URL=http://127.0.0.1:$port GATEWAY_TOKEN=$token GATEWAY_PID=$gateway "$@" || { fault=1; tail -3 "$dir/gateway-$way.log" >&2; }
	kill "$gateway"; wait "$gateway"; gateway=
done
exit $fault
