#!/usr/bin/env bash
# Serves with the token of SOLVER_TOKEN or SOLVER_TOKEN_FILE; without either one is minted into .token, readable by
# its owner alone. The token itself is never printed.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -z "${SOLVER_TOKEN:-}" && -z "${SOLVER_TOKEN_FILE:-}" ]]; then
  if [[ ! -s .token ]]; then
    (umask 077 && head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n' >.token)
  fi
  export SOLVER_TOKEN_FILE="$PWD/.token"
  read_token='$(cat .token)'
else
  read_token='$SOLVER_TOKEN'
  [[ -z "${SOLVER_TOKEN_FILE:-}" ]] || read_token='$(cat "$SOLVER_TOKEN_FILE")'
fi
unset_if_empty() { [[ -n "${!1:-}" ]] || unset "$1"; }
unset_if_empty SOLVER_TOKEN
unset_if_empty SOLVER_TOKEN_FILE
# Where it will listen: flags, environment and file as the gateway itself reads them.
address=$(bin/gateway config print --config config.yaml "$@" | sed -n 's/^listen: "\{0,1\}\([^ "]*\).*/\1/p')
case $address in
  :*) address=127.0.0.1$address ;;
  0.0.0.0:*) address=127.0.0.1:${address##*:} ;;
esac
[[ $address != *:0 ]] || address=ADDRESS # any free port: the log tells which
cat >&2 <<EOF
Once it says that it is ready, try from another terminal in this folder:

  curl -s http://$address/solve -H "Authorization: Bearer $read_token" \\
    -d '{"code": "import sympy as sp\nprint(sp.factor(12))"}'

EOF
exec bin/gateway serve --config config.yaml "$@"
