#!/bin/sh
# Builds the virtual environment that submitted programs run in:
#   PYTHON=python3 plugins/python-exec/venv.sh .venv
# Every file is checked against requirements.lock. A second call does nothing
# unless the lock or the interpreter has changed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lock=$here/requirements.lock
venv=${1:-.venv}
python=${PYTHON:-python3}
stamp=$venv/.stamp

say() { echo "venv.sh: $*" >&2; }

command -v "$python" >/dev/null 2>&1 || {
	say "$python is not installed; set PYTHON= to a CPython of at least 3.11"
	exit 1
}
about='import platform, sys
if sys.implementation.name != "cpython" or sys.version_info < (3, 11):
    sys.exit("venv.sh: %s is %s %s, and at least CPython 3.11 is needed; set PYTHON= to one" % (
        sys.executable, platform.python_implementation(), platform.python_version()))
print(sys._base_executable if hasattr(sys, "_base_executable") else sys.executable, sys.version)'
found=$("$python" -I -c "$about") || exit 1
want=$(printf '%s\n' "$found" && cat "$lock" "$here/venv.sh") || exit 1
want=$(printf '%s' "$want" | cksum)

if [ -x "$venv/bin/python" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then
	exit 0
fi

rm -f "$stamp"
"$python" -m venv --clear "$venv" || {
	say "$python cannot make a virtual environment; on Debian and Ubuntu the package python3-venv is missing"
	exit 1
}
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
	--require-hashes --only-binary :all: --compile -r "$lock"
# Programs need no installer, and each package beside makes a first figure slower.
"$venv/bin/python" -m pip --quiet --disable-pip-version-check freeze --all --exclude-editable |
	sed -n 's/^\(pip\|setuptools\|wheel\)==.*/\1/p' |
	xargs "$venv/bin/python" -m pip uninstall --quiet --disable-pip-version-check --yes
printf '%s\n' "$want" >"$stamp"
