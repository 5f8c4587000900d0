#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# layers.sh [-l] [KERNEL]: each file of the module calls only files that stand above it in the table
# at the head of kmod/xsprof.h. Reads the objects that module.sh builds. What calls upwards are the
# pointers that Documentation/design.rst names. -l: list violations, no TAP. Planted violations
# must be found too.

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. tests/common/tap.sh
list=
[ "${1:-}" = -l ] && { list=y; shift; }
kernel=${1:-6.12}
said=$(tests/vm/module.sh "$kernel" 2>&1)
case $? in
0) ;;
77) echo "$said"; exit 77 ;;
*) echo "Bail out! the module does not build for $kernel: tests/kmod/build.sh $kernel"; exit 1 ;;
esac
objects=$(dirname "$(tail -n 1 <<< "$said")")/kmod

# The files of the table, in its order
table()
{
	sed -n '/^ \*\//q; s/^ \*\t\([a-z-]*\.c\)\t.*/\1/p' kmod/xsprof.h
}

# CALLER CALLED, a line for each pair of files with a call. Variables do not count: that includes
# pointers to functions, which are the allowed way up.
calls()
{
	nm -A -g "$objects"/*.o | sed -e "s|^$objects/||" -e 's/\.o:/.c /' | awk '
		$NF ~ /^(init|cleanup)_module$/ || $1 ~ /\.mod\.c$/ { next }
		$(NF - 1) == "U" { need[$1 " " $NF]; next }
		$(NF - 1) ~ /[TW]/ { has[$NF] = $1 }
		END { for (n in need) {
			split(n, w)
			if (w[2] in has && has[w[2]] != w[1])
				print w[1], has[w[2]]
		} }' | sort -u
}

# Reads pairs; prints calls of files that do not stand above the caller.
upward()
{
	awk 'FNR == NR { at[$1] = NR; next }
		!($1 in at) || !($2 in at) { print $1 " calls " $2 ": not in the table"; next }
		at[$2] >= at[$1] { print $1 " calls " $2 ", which does not stand above it" }
	' <(table) -
}

# Reads pairs; prints circles, as tsort reports them.
circles()
{
	tsort 2>&1 > /dev/null | sed -e 's/^tsort: //' -e 's/^-: input contains a loop:/circle:/'
}

# Files that are in the table or in kmod/, but not in both
unlisted()
{
	comm -3 <(table | sort) <(cd kmod && printf '%s\n' *.c | LC_ALL=C sort) | sed 's/^\t*//'
}

# Reads headers; prints pointers that only one of them and design.rst names.
unnamed()
{
	comm -3 <(sed -n 's/^extern .*(\*\(xsp_[a-z_]*\))(.*/\1/p' | LC_ALL=C sort) \
		<(sed -n '/^pointers call upwards/,/^$/p' Documentation/design.rst |
			grep -o '``xsp_[a-z_]*``' | tr -d '`' | LC_ALL=C sort) | tr -d '\t'
}

pairs=$(calls)
up=$(upward <<< "$pairs")
loops=$(circles <<< "$pairs")
if [ -n "$list" ]; then
	printf '%s\n' "$up" "$loops" | sed '/^$/d'
	exit
fi

n=$(wc -l <<< "$pairs")
[ "$n" -gt 30 ]
result "$n calls between files were read from the objects" $?
correct "the table has each file of kmod/ once" "$(unlisted; table | sort | uniq -d)"
correct "no call goes up" "$up"
correct "no circle of files" "$loops"
correct "design.rst names the pointers that call upwards" "$(cat kmod/*.h | unnamed)"
planted=$(head -n 1 <<< "$pairs" | awk '{ print $2, $1 }')
[ -n "$(upward <<< "$planted")" ]
result "a planted call upwards is seen" $?
[ -n "$(upward <<< "main.c nowhere.c")" ]
result "a planted file that the table has not is seen" $?
[ -n "$(printf '%s\n' "$pairs" "$planted" | circles)" ]
result "a planted circle is seen" $?
planted='extern void (*xsp_up)(void);'
[ "$(cat kmod/*.h - <<< "$planted" | unnamed)" = xsp_up ] &&
	[ "$(grep -v 'xsp_account_reclaim)' kmod/*.h -h | unnamed)" = xsp_account_reclaim ]
result "a planted pointer that design.rst does not name is seen, and a missing one" $?
finish
