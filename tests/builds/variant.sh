#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds everything once more, by another compiler or with sanitizers, and runs those tests
# there that name the build (builds= in tests.list). Builds and logs stay in $BUILD/NAME. TAP:
# one result a test.
#
# Usage: tests/builds/variant.sh clang|asan|valgrind
set -u
cd "$(dirname "$0")/../.." || exit 1

variant=${1:-}
base=${BUILD:-build}
# The full figures are for the build that is shipped: here they would take a night.
tier=quick
need=
flags=()
targets=(all)
dir=$base/$variant
slower=1
RUN=
case $variant in
clang)
	need=clang
	flags=(CC=clang) ;;
asan)
	need=clang
	flags=(CC=clang SAN=address,undefined CFLAGS="-O1 -g")
	slower=4
	# An error ends the program, whatever the program makes of its exit status.
	export ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1
	export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1 ;;
valgrind)
	need=valgrind
	slower=20
	# The programs as they are: nothing is built again.
	dir=$base
	RUN="valgrind -q --error-exitcode=99 --fair-sched=yes" ;;
*)
	sed -n 's/^# Usage: /usage: /p' "$0" >&2
	exit 2 ;;
esac
for c in $need ${RUN%% *}; do
	if ! command -v "$c" >/dev/null; then
		echo "1..0 # SKIP $c is not installed"
		exit 77
	fi
done

BUILD=$dir
check=$base/$variant/check
export BUILD RUN XSPROF_TIER=$tier XSPROF_VARIANT=$variant XSPROF_CHECK_DIR=$check
mkdir -p "$check"
if ! list=$(tests/run.sh -l -b "$variant" "$tier"); then
	# No skip: a build that runs nothing would hold nothing, and nobody would see it.
	echo "1..1"
	echo "not ok 1 no test names the build $variant by builds="
	exit 1
fi
# The programs that the tests name. A script names none: it gets those of its folder.
mapfile -t programs < <({
	grep -oE '\$\{?BUILD\}?/tests/[A-Za-z0-9_./-]+' <<<"$list" |
		sed -E "s|^\\$\{?BUILD\}?|$BUILD|"
	grep -oE '(^|[[:space:]])tests/[a-z0-9]+/[A-Za-z0-9_-]+\.(sh|py)' <<<"$list" |
		sed -E 's|^[[:space:]]*tests/([a-z0-9]+)/.*|tests-\1|'
} | sort -u)

# Not the flags of an outer make: they would be those of its own build.
if ! env -u MAKEFLAGS -u MAKEOVERRIDES make -j2 --no-print-directory BUILD="$BUILD" "${flags[@]}" \
		"${targets[@]}" "${programs[@]}" >"$check/make.log" 2>&1; then
	grep -E 'error:|Error|undefined' "$check/make.log" | head -n 20 | sed 's/^/# /'
	echo "1..1"
	echo "not ok 1 the build, see $check/make.log"
	exit 1
fi

tests/run.sh -b "$variant" -x "$slower" "$tier" 2>&1 | sed 's/^/# /'
awk -F '\t' -v variant="$variant" '
	{
		n++
		what = n " " variant ": " $1 " (" $3 " of " $3 + $4 + $5 ")"
		if ($4 > 0) {
			print "not ok " what
			bad = 1
		} else if ($3 == 0)
			print "ok " n " " variant ": " $1 " # SKIP " $7
		else
			print "ok " what
	}
	END { print "1.." n + 0; exit bad || !n }' "$check/results.tsv"
