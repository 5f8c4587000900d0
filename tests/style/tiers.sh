#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares the tables of Documentation/testing.rst with the tests.list files: that of tier full has
# all tests of tier full and no others, that of turns likewise, and each promise has the tiers of
# its tests. Also checks that the tests that the documents name exist. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
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
	grep -hoE 'tests/[a-z]+/[A-Za-z0-9.*-]+' "$@" | sed 's,^tests/,,; s,\.$,,'
	# Names of a span of literals, which may be on two lines
	cat "$@" | tr '\n' ' ' | grep -oE '``[^`]*``' | tr '` ' '\n\n' |
		grep -xE "($(cd tests && ls -d */ | tr -d / | paste -sd '|'))/[A-Za-z0-9.*-]+"
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

# Names that are in no list may be a folder or a file, of tests or of the sources; * is any text.
unknown()	# DOCUMENT...
{
	local name

	named "$@" | sort -u | comm -23 - <(known | sort -u) | while read -r name; do
		case $name in
		*'*'*) compgen -G "tests/$name" || grep -x -e "${name//\*/.*}" <(known) ;;
		*) [ -e "tests/$name" ] || [ -e "$name" ] ;;
		esac >/dev/null || echo "$name: no such test"
	done
}

# Prints "NAME TIER" of all tests: quick, turn or full. Programs that guests run are quick.
tiers()
{
	awk '!/^#/ && NF { folder = FILENAME; sub(/\/tests\.list$/, "", folder)
		sub(/.*\//, "", folder)
		print folder "/" $2, $1 == "quick" && / turn=/ ? "turn" : $1 }' tests/*/tests.list
	awk '!/^#/ && NF { print "kmod/" $1, "quick" }' tests/kmod/programs.list
}

# Prints the rows of the promises' table whose tier is not that of their tests.
mistaken()	# DOCUMENT
{
	awk '
	function judge(cells, n, names, i, name, all, quick, turn, full, others)
	{
		cells = cell[2]
		gsub(/\([^)]*\)/, "", cells)
		n = split(cells, names, /[`, ]+/)
		for (i = 1; i <= n; i++) {
			name = names[i]
			if (name == "kmod/*") others = "kmod/"
			if (name ~ /^(make|check-fresh|bench|:|kmod\/\*|)$/) continue
			if (name !~ /\//) name = others name
			gsub(/[.]/, "[.]", name); gsub(/\*/, ".*", name)
			for (all in tier)
				if (all ~ "^" name "$") {
					quick += tier[all] ~ /quick/
					turn += tier[all] ~ /turn/
					full += tier[all] ~ /full/
				}
		}
		name = (quick ? "quick " : "") (turn ? "turn " : "") (full ? "full " : "")
		sub(/ $/, "", name); gsub(/ /, ", ", name)
		if ((name == "" ? "own" : name) != cell[3])
			print cell[2] ": " cell[3] ", not " name
	}
	FNR == NR { tier[$1] = tier[$1] " " $2; next }
	/^   \* - / { if (rows++ > 1) judge(); at = 0 }
	/^ +(\* )?- / { sub(/^ +(\* )?- /, ""); cell[++at] = $0; next }
	rows && /^ +[^ ]/ { sub(/^ +/, ""); cell[at] = cell[at] " " $0; next }
	rows && at == 3 && /^[^ ]/ { judge(); exit }' <(tiers) "$1"
}

# Prints "TURN NAME" of the turns' table.
turns_told()	# DOCUMENT
{
	awk '/^=+  =+$/ { if (on && ++bars == 2) exit; next }
		/^Turns$/ { on = 1 }
		on && bars {
			if (/^[^ ]/) turn = $1
			while (match($0, /``[^`]*``/)) {
				print turn, substr($0, RSTART + 2, RLENGTH - 4)
				$0 = substr($0, RSTART + RLENGTH)
			}
		}' "$1" | sort
}

turns_listed()
{
	awk '!/^#/ && match($0, / turn=[^ ]*/) {
		folder = FILENAME; sub(/\/tests\.list$/, "", folder); sub(/.*\//, "", folder)
		print substr($0, RSTART + 6, RLENGTH - 6), folder "/" $2
		}' tests/*/tests.list | sort
}

# NAME FILE: one result, which holds where the file is empty or missing
check() { correct "$1" "$([ ! -s "$2" ] || cat "$2")"; }

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
lib/gone2 lib/gone*`` ``kmod/*``: ``kill
gone``
END
unknown "$dir/planted.rst" >"$dir/bad"
[ "$(wc -l <"$dir/bad")" = 5 ] || cp "$dir/bad" "$dir/unseen"
check "planted names that are none are seen" "$dir/unseen"

mistaken $doc >"$dir/bad"
check "the promises have the tiers of their tests" "$dir/bad"
sed 's/^     - quick, turn, full$/     - quick, full/' $doc >"$dir/planted.rst"
[ "$(mistaken "$dir/planted.rst" | wc -l)" -gt "$(wc -l <"$dir/bad")" ] ||
	echo "not seen" >"$dir/unseen"
check "a planted tier is seen" "$dir/unseen"
diff <(turns_listed) <(turns_told $doc) | grep '^[<>]' >"$dir/bad"
check "$doc names the $(turns_listed | wc -l) tests that take turns, and no others" "$dir/bad"
sed 's/``kmod.unhooked``//' $doc >"$dir/planted.rst"
diff -q <(turns_listed) <(turns_told "$dir/planted.rst") >/dev/null &&
	echo "not seen" >"$dir/unseen"
check "a missing one is seen" "$dir/unseen"
finish
