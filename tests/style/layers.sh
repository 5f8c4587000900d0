#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks the folders of lib/, gpu/ and tools/ against layers.tab: their includes, the calls of their
# objects, that no files call each other in a circle, and that only a folder itself includes its
# local.h. Reads the objects of the build, and builds if there are none. -l lists all errors,
# without TAP. The rules must also find planted errors.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
BUILD=${BUILD:-build}
tab=tests/style/layers.tab
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# Prints FILE INCLUDED for each include in quotes
includes()
{
	git ls-files 'lib/*.[ch]' 'gpu/*.[ch]' 'tools/*.[ch]' | grep -v '^lib/include/' |
		xargs grep -H '^#include "' |
		sed -n 's/^\([^:]*\):#include "\([^"]*\)".*/\1 \2/p' |
		grep -v -e ' syscalls\.inc$'
}

# Prints the objects of the products, a line each
objects()
{
	local d o src

	for d in user trace tools itt nvtx cupti opencl vulkan levelzero preload rocm rocminit \
		torch python; do
		git ls-files 'lib/*.c' 'gpu/*.c' 'tools/*.c' | while read -r src; do
			o=$BUILD/obj/$d/${src%.c}.o
			[ ! -e "$o" ] || echo "$o"
		done
	done
}

# Prints FILE CALLED for each file whose symbols an object needs. What is loaded into programs
# (collect/, gpu/) uses the public functions, which any file may call; a weak reference does not
# count.
calls()
{
	objects | xargs nm -A -g | sed -e "s|^$BUILD/obj/[a-z]*/||" -e 's/\.o:/.c /' | awk '
		# Calls of these mean the C library: collectors have some of their own.
		$NF ~ /^(dlclose|pthread_sigmask|sigprocmask|pthread_cond_.*)$/ { next }
		$(NF - 1) == "U" { need[$1 " " $NF]; next }
		$(NF - 1) ~ /[wv]/ { next }
		{ has[$NF] = $1 }
		END { for (n in need) {
			split(n, w); d = has[w[2]]
			if (d != "" && d != w[1] && !(w[1] ~ /^(lib\/collect|gpu)\// &&
			    d !~ /collect|^gpu/ && w[2] ~ /^xsprof_/))
				print w[1], d
		} }' | sort -u
}

# Reads pairs of files; prints those whose folders may not use each other.
upward()	# WORD
{
	awk -v word="$1" '
	function folder(p)
	{
		sub(/^(lib|tools)\//, "", p)
		return sub(/\/[^\/]*$/, "", p) ? p : "."
	}
	FNR == NR {
		if (/^#/) next
		if (/^@/) { name = $1; sub(/:/, "", name); $1 = ""; list[name] = $0; next }
		for (i = 2; i <= NF; i++)
			if ($i in list) { line = $0; sub($i, list[$i], line); $0 = line }
		sub(/:/, "", $1); known[$1]
		for (i = 2; i <= NF; i++) may[$1 " " $i]
		next
	}
	{
		from = folder($1); to = folder($2)
		if (from == "." || from == to || (from " " to) in may) next
		if ($2 ~ /^(xsprof\/|kmod)/) next
		print $1 " " word " " $2 (from in known ? "" : ": no folder of layers.tab")
	}' $tab -
}

# Prints "FOLDER OTHER" for each folder that layers.tab lets a folder use.
allowed()
{
	awk '/^#/ { next }
		/^@/ { name = $1; sub(/:/, "", name); $1 = ""; list[name] = $0; next }
		{
			for (i = 2; i <= NF; i++)
				while ($i in list) { line = $0; sub($i, list[$i], line); $0 = line }
			sub(/:/, "", $1)
			print $1
			for (i = 2; i <= NF; i++) print $1, $i
		}' "$tab" | sort
}

# The same from the table of design.rst: "as FOLDER, and ..." is what that folder has, and more.
documented()	# FILE
{
	awk '
	function row(n, i, k, j, nr, as, names, uses)
	{
		nr = split(cell[1], names, /, */)
		n = split(cell[2], uses, /,? +/)
		for (i = 1; i <= nr; i++) {
			print names[i]
			for (k = 1; k <= n; k++) {
				if (uses[k] == "as") {
					as = uses[++k]
					for (j = 1; j <= has[as]; j++)
						add(names[i], what[as, j])
				} else if (uses[k] !~ /^(nothing|and)$/)
					add(names[i], uses[k])
			}
		}
	}
	function add(folder, other)
	{
		what[folder, ++has[folder]] = other
		print folder, other
	}
	!on { on = /^Which folder may use which$/; next }
	/^ +\* - / { if (rows++ > 1) row(); at = 0 }
	/^ +(\* )?- / { sub(/^ +(\* )?- /, ""); cell[++at] = $0; next }
	rows && /^ +[^ ]/ { sub(/^ +/, ""); cell[at] = cell[at] " " $0; next }
	rows && at == 3 && /^[^ ]/ { row(); exit }' "$1" | sort
}

# Reads pairs of files; prints those that include the local.h of another folder.
strangers()
{
	awk '{ from = $1; sub(/^(lib|tools)\//, "", from); sub(/[^\/]*$/, "", from)
		if ($2 ~ /local\.h$/ && index($2, from) != 1) print $1 " includes " $2 }'
}

# Reads pairs of files; prints the circles, as tsort reports them.
circles()
{
	tsort 2>&1 >/dev/null | sed -e 's/^tsort: //' -e 's/^-: input contains a loop:/circle:/'
}

if [ -z "$(objects)" ] && ! make -s -j"$(nproc)" all >/dev/null; then
	echo "Bail out! $BUILD holds no objects, and 'make' fails: install what it needs with" \
		"tests/install-deps.sh"
	exit 1
fi
includes >"$dir/includes"
calls >"$dir/calls"
upward includes <"$dir/includes" >"$dir/1"
upward calls <"$dir/calls" >"$dir/2"
circles <"$dir/calls" >"$dir/3"
strangers <"$dir/includes" >"$dir/4"
if [ "${1:-}" = -l ]; then
	cat "$dir/1" "$dir/2" "$dir/3" "$dir/4"
	exit
fi

# NAME FILE: one result, which holds if the file is empty
check() { correct "$1" "$(head -n 40 "$2")"; }

# NAME FILE: the reverse, for a rule that must find what was planted
seen()
{
	[ -s "$2" ]
	result "$1" $?
}

calls=$(wc -l <"$dir/calls")
[ "$calls" -gt 500 ]
result "$calls calls between files were read from the objects" $?
check "no include goes up" "$dir/1"
check "no call goes up" "$dir/2"
check "no circle of files" "$dir/3"
check "no local.h is included from another folder" "$dir/4"
echo "lib/ring/put.c drain/drain.h" | upward includes >"$dir/p1"
seen "a planted include is seen" "$dir/p1"
echo "lib/decode/run.c lib/ranges/pair.c" | upward calls >"$dir/p2"
seen "a planted call is seen" "$dir/p2"
echo "lib/export/save.c result/flops-local.h" | strangers >"$dir/p4"
seen "a planted local.h of another folder is seen" "$dir/p4"
{ cat "$dir/calls"; sed 1q "$dir/calls" | awk '{ print $2, $1 }'; } | circles >"$dir/p3"
seen "a planted circle is seen" "$dir/p3"
doc=Documentation/design.rst
diff <(allowed) <(documented $doc) | grep '^[<>]' >"$dir/5"
check "$doc has the $(documented $doc | wc -l) rules of $tab" "$dir/5"
sed 's/^     - base ring$/     - base/' $doc >"$dir/planted.rst"
diff <(allowed) <(documented "$dir/planted.rst") | grep '^[<>]' >"$dir/p5"
seen "a planted difference is seen" "$dir/p5"
finish
