#!/usr/bin/env bash
# Writes the folder of a Space, as files.list says: write.sh DIR. DIR is new, empty, or a clone of the Space's repository, whose
# files are replaced. Nothing but what the list names gets there: no token, no build, nothing that git does not track.
set -euo pipefail
[ $# = 1 ] && [ -n "$1" ] || { echo "usage: make space DIR=FOLDER" >&2; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
dir=$(cd "$1" && pwd)
case $dir/ in "$root"/*) echo "write.sh: $dir lies inside the project: name a folder elsewhere" >&2; exit 2 ;; esac
if [ -n "$(ls -A "$dir")" ] && [ ! -e "$dir/.git" ] && [ ! -e "$dir/BUILD" ]; then
	echo "write.sh: $dir holds something else; name an empty folder, or a clone of the Space" >&2
	exit 2
fi
find "$dir" -mindepth 1 -maxdepth 1 -not -name .git -not -name .gitattributes -exec rm -rf {} +

while read -r from to; do
	case $from in '' | '#'*) continue ;; esac
	[ -e "$root/$from" ] || { echo "write.sh: files.list names $from, which is not there" >&2; exit 1; }
	if [ -n "$to" ]; then
		cp -p "$root/$from" "$dir/$to"
		continue
	fi
	git -C "$root" ls-files -z -- "$from"
done <"$root/deploy/space/files.list" |
	{ grep -zvE '_test\.(go|rego)$|(^|/)testdata/' || true; } |
	tar -C "$root" --create --null --verbatim-files-from --files-from=- | tar -C "$dir" --extract --no-same-owner
git -C "$root" rev-parse --short HEAD >"$dir/BUILD"
echo "$(find "$dir" -type f -not -path '*/.git/*' | wc -l) files are in $dir: commit and push them to the Space" >&2
