#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every file under version control names the license that its folder requires, and LICENSES/ has the
# full text of every license named. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || skip "not a git work tree: no list of files"

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
	[ "$got" = "$want" ] || bad+="$f: names '${got:-no license}', want '$want'"$'\n'
done

missing=
for id in GPL-2.0-only LGPL-2.1-only Linux-syscall-note; do
	[ -s "LICENSES/$id.txt" ] || missing="$missing LICENSES/$id.txt"
done

[ "$checked" -gt 0 ] || bad="no file was listed"
correct "SPDX lines of $checked files" "${bad%$'\n'}"
correct "license texts" "${missing:+missing:$missing}"
finish
