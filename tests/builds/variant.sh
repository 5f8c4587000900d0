#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the tests whose builds= in tests.list names this build, which make.sh makes: with another
# compiler or with sanitizers. Builds and logs stay in $BUILD/NAME. TAP: one result per test.
#
# Usage: tests/builds/variant.sh clang|asan|valgrind
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/common/turn.sh
variant=${1:-}
base=${BUILD:-build}
# The full counts are for the build that is shipped: here they would take a night.
tier=quick
dir=$base/$variant
slower=1
RUN=
case $variant in
clang) ;;
asan)
	slower=4
	# An error aborts the program, whatever the program does with its exit status.
	export ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1
	export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1 ;;
valgrind)
	slower=20
	# The programs as they are: nothing is rebuilt.
	dir=$base
	RUN="valgrind -q --error-exitcode=99 --fair-sched=yes" ;;
*)
	sed -n 's/^# Usage: /usage: /p' "$0" >&2
	exit 2 ;;
esac
if [ -n "$RUN" ] && ! command -v "${RUN%% *}" >/dev/null; then
	echo "1..0 # SKIP ${RUN%% *} is not installed"
	exit 77
fi
# `make check` has already built these.
if [ -z "$RUN" ]; then
	tests/builds/make.sh "$variant"
	rc=$?
	[ $rc != 77 ] || exit 77
	if [ $rc != 0 ]; then
		echo "1..1"
		echo "not ok 1 the build"
		exit 1
	fi
fi

BUILD=$dir
check=$base/$variant/check
export BUILD RUN XSPROF_TIER=$tier XSPROF_VARIANT=$variant XSPROF_CHECK_DIR=$check
mkdir -p "$check"
if ! tests/run.sh -l -b "$variant" "$tier" >/dev/null; then
	# Not a skip: nobody would notice that a build runs no tests.
	echo "1..1"
	echo "not ok 1 no test names the build $variant by builds="
	exit 1
fi

# A third of the long tests, chosen by the commit.
LONG=4	# seconds
only=
part=$(turn_part 3)
if [ -n "$part" ] && [ -z "$RUN" ]; then
	all=$(tests/run.sh -l -b "$variant" "$tier")
	others=$(awk -F '\t' -v long="$LONG" -v part="$((part + ${#variant}))" \
		'$7 >= long && (part + n++) % 3 { print $2 }' <<<"$all")
	only=$(cut -s -f2 <<<"$all" | grep -vxF "$others" | paste -sd '|')
	echo "# of other commits, not run: ${others//$'\n'/ }"
fi
chosen=(-b "$variant" ${only:+-k "^($only)\$"} "$tier")
nr=$(tests/run.sh -l "${chosen[@]}" | cut -s -f2 | wc -l)
rm -f "$check/results.tsv"
tests/run.sh -j1 -x "$slower" "${chosen[@]}" 2>&1 | sed 's/^/# /'
rc=${PIPESTATUS[0]}
awk -F '\t' -v variant="$variant" -v nr="$nr" -v rc="$rc" '
	{
		n++
		rows++
		what = n " " variant ": " $1 " (" $3 " of " $3 + $4 + $5 ")"
		if ($4 > 0) {
			print "not ok " what ": " $7
			bad = 1
		} else if ($3 == 0)
			print "ok " n " " variant ": " $1 " # SKIP " $7
		else
			print "ok " what
		if ($5 > 0 && $3 + $4 > 0)
			print "ok " ++n " " variant ": " $1 ": " $5 " not run # SKIP " $7
	}
	END {
		if (rows != nr || (rc != 0 && !bad)) {
			print "not ok " ++n " " variant ": " rows + 0 " of " nr \
			      " tests, exit status " rc
			bad = 1
		}
		print "1.." n + 0
		exit bad || !n
	}' "$check/results.tsv"
