#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares the table of tier full in Documentation/testing.rst with the tests.list files: it has all
# tests of tier full, and no others. Also checks that the tests that the documents name exist.
# Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
doc=Documentation/testing.rst
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# Prints the first column of the table, sorted
table()
{
	awk '/^=+  =+$/ { if (on && ++bars == 2) exit; next }
		/Only in tier full are:$/ { on = 1 }
		on && bars && match($0, /^``[^`]*``/) { print substr($0, 3, RLENGTH - 4) }
		' "$1" | sort
}

# Prints DIR/NAME of the tests that are only in tier full, sorted
listed()
{
	awk '$1 == "full" || $1 == "quick" {
		folder = FILENAME; sub(/\/tests\.list$/, "", folder); sub(/.*\//, "", folder)
		tier[folder "/" $2] = tier[folder "/" $2] " " $1
	} END { for (t in tier) if (tier[t] == " full") print t }' "$@" | sort
}

# Prints lines that only one of two files has
differ()	# TABLE LISTED
{
	comm -23 "$1" "$2" | sed 's/$/: in the table, and no test of tier full/'
	comm -13 "$1" "$2" | sed 's/$/: of tier full, and not in the table/'
}

# Prints the tests that a document names, as DIR/NAME, sorted: after "tests/", in the table of
# promises, and the programs that it lists after kmod/*.
named()		# DOCUMENT...
{
	grep -hoE 'tests/[a-z]+/[A-Za-z0-9.-]+' "$@" | sed 's,^tests/,,; s,\.$,,'
	# Names of a span of literals, which may be on two lines
	cat "$@" | tr '\n' ' ' | grep -oE '``[^`]*``' | tr '` ' '\n\n' |
		grep -xE "($(cd tests && ls -d */ | tr -d / | paste -sd '|'))/[A-Za-z0-9.-]+"
	cat "$@" | tr '\n' ' ' | grep -oE '``kmod/\*``: ``[^`]*``' | sed 's/.*``: ``//; s/``//' |
		tr ' ' '\n' | sed 's,^,kmod/,'
}

# Prints, sorted, what such a name may be, including programs that guests run
known()
{
	awk '!/^#/ && NF { folder = FILENAME; sub(/\/tests\.list$/, "", folder)
		sub(/.*\//, "", folder); print folder "/" $2 }' tests/*/tests.list
	awk '!/^#/ && NF { print "kmod/" $1 }' tests/kmod/programs.list
}

# Names that are in no list may be a folder or a file, of tests or of the sources.
unknown()	# DOCUMENT...
{
	named "$@" | sort -u | comm -23 - <(known | sort -u) | while read -r name; do
		[ -e "tests/$name" ] || [ -e "$name" ] || echo "$name: no such test"
	done
}

n=0
fails=0
check()		# NAME FILE: one result, which holds where the file is empty
{
	n=$((n + 1))
	if [ -s "$2" ]; then
		sed 's/^/# /' "$2"
		echo "not ok $n $1"
		fails=$((fails + 1))
	else
		echo "ok $n $1"
	fi
}

echo 1..6
table $doc >"$dir/table"
listed tests/*/tests.list >"$dir/listed"
[ "$(wc -l <"$dir/listed")" -gt 20 ] || echo "too few" >"$dir/few"
check "$(wc -l <"$dir/listed") tests are of tier full alone" "$dir/few"
differ "$dir/table" "$dir/listed" >"$dir/bad"
check "$doc names these and no others" "$dir/bad"
{ sed 1d "$dir/table"; echo planted/gone; } | sort >"$dir/planted"
[ "$(differ "$dir/planted" "$dir/listed" | wc -l)" -eq $(($(wc -l <"$dir/bad") + 2)) ] ||
	echo "not seen" >"$dir/unseen"
check "a planted name and a missing one are seen" "$dir/unseen"

docs="README.md CONTRIBUTING.md Documentation/*.rst Documentation/*.md"
: >"$dir/few"
[ "$(named $docs | sort -u | wc -l)" -gt 150 ] || echo "too few" >"$dir/few"
check "the documents name $(named $docs | sort -u | wc -l) tests" "$dir/few"
unknown $docs >"$dir/bad"
check "which exist" "$dir/bad"
cat >"$dir/planted.rst" <<'END'
*tests/lib/gone, tests/lib/fork.* ``ring/gone ring/step
lib/gone2`` ``kmod/*``: ``kill
gone``
END
unknown "$dir/planted.rst" >"$dir/bad"
[ "$(wc -l <"$dir/bad")" = 4 ] || cp "$dir/bad" "$dir/unseen"
check "planted names that are none are seen" "$dir/unseen"
[ "$fails" = 0 ]
