#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every file under version control names the license that its folder requires, and LICENSES/ has the
# full text of every license named. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1

if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
	echo "1..0 # SKIP not a git work tree: no list of files"
	exit 77
fi

# Sets want, the license that a file must name; nothing for files without comments.
wanted()
{
	want=
	case $1 in
	LICENSES/*) ;;
	*/corpus/*|*/golden/*|*.bin|*.data|*.png|*.json|*.xsprof|*.gz|*.zst) ;;
	kmod/uapi/*) want="(GPL-2.0-only WITH Linux-syscall-note)" ;;
	lib/*|gpu/*|tools/python/*) want="LGPL-2.1-only" ;;
	*) want="GPL-2.0-only" ;;
	esac
}

# The license that each file names: in line 1, or further down if the format needs other lines
# before a comment.
declare -A names
files=()
while IFS= read -r f; do
	[ -f "$f" ] && [ ! -L "$f" ] && files+=("$f")
done < <(git ls-files)
while IFS=: read -r f got; do
	names[$f]=$got
done < <(awk 'FNR > 5 { nextfile }
	sub(/.*SPDX-License-Identifier: */, "") {
		sub(/ *(\*\/|-->)[ \t\r]*$/, "")
		sub(/[ \t\r]+$/, "")
		print FILENAME ":" $0
		nextfile
	}' "${files[@]}")

bad=
checked=0
for f in "${files[@]}"; do
	wanted "$f"
	[ -n "$want" ] || continue
	checked=$((checked + 1))
	got=${names[$f]:-}
	if [ "$got" != "$want" ]; then
		bad="$bad
# $f: names '${got:-no license}', want '$want'"
	fi
done

missing=
for id in GPL-2.0-only LGPL-2.1-only Linux-syscall-note; do
	[ -s "LICENSES/$id.txt" ] || missing="$missing LICENSES/$id.txt"
done

echo "1..2"
if [ -z "$bad" ] && [ "$checked" -gt 0 ]; then
	echo "ok 1 SPDX lines of $checked files"
else
	echo "# $checked files looked at$bad"
	echo "not ok 1 SPDX lines"
fi
if [ -z "$missing" ]; then
	echo "ok 2 license texts"
else
	echo "not ok 2 license texts: missing$missing"
fi
[ -z "$bad$missing" ] && [ "$checked" -gt 0 ]
