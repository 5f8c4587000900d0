#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What is left of programs that were killed in a profiling session of their own. TAP.
. "$(dirname "$0")/../record/tap.sh"
session=$BUILD/tests/profiler/session
dump=$BUILD/bin/xsprof-dump

# Where there is the module it has the rings, and keeps them by its own rules.
export XSPROF_BACKEND=tmpfs
for i in 1 2 3; do
	run "$session" killed
	is "killed" $rc 137
done
run "$xsprof" list
is "list" "$(grep -c 'recorder is dead, recorder [0-9]*, into memory' out)" 3
run "$xsprof" recover
is "recover" $rc 0
is "each into a file of its own" "$(ls)" "$(printf '%s\n' err out xsprof.data.recovered{,.2,.3})"
for file in xsprof.data.recovered{,.2,.3}; do
	"$dump" $file >seen
	ok "$file is sound" test $? = 0
	is "$file is whole" "$(grep -c 'begin: *last words' seen)" 100
done
ok "nothing is left" clean
XSPROF_BACKEND=none run "$session" killed
is "refused" $rc 1
ok "nothing was begun" clean
run "$session"
is "one that ends" $rc 0
ok "leaves nothing" clean
finish
