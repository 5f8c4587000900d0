#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What is left of programs that were killed in a profiling session of their own. TAP.
. "$(dirname "$0")/../record/tap.sh"
session=$BUILD/tests/profiler/session
dump=$BUILD/bin/xsprof-dump

# With the module the rings are in the device, which has its own rules for keeping them.
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
# A program that ended between its sessions had already got all its records: the next one of the
# same user removes the session, once it is old enough that nothing can still be saving it.
rm -f xsprof.data.*
sessions() { find "$shm" -mindepth 2 -maxdepth 2 -name 's.*' | wc -l; }
for next in "$session killed" "env XSPROF_RECORD=$dir/next.data $BUILD/tests/record/marker 10 1 0" \
	    "$xsprof record -q -o next.data -- true"; do
	name="ended while idle, then ${next##*/}"
	run "$session" idle-killed
	run "$session" idle-exit
	is "$name: status" $rc 3
	run "$session" killed
	is "$name: three are left" "$(sessions)" 3
	[[ $next == *killed ]] && more=1 || more=0
	# shellcheck disable=SC2086 # split into words on purpose
	run $next
	is "$name: a moment later they are kept" "$(sessions)" $((3 + more))
	touch -d '20 minutes ago' "$shm"/*/s.*/lock
	# shellcheck disable=SC2086 # split into words on purpose
	run $next
	is "$name: later what its program had not got is kept alone" "$(sessions)" $((1 + 2 * more))
	run "$xsprof" recover
	is "$name: and it is recovered" "$(for file in xsprof.data.recovered*; do
		"$dump" "$file"; done | grep -c 'begin: *last words')" $((100 + 200 * more))
	rm -f ./*.data*
	ok "$name: nothing is left" clean
done
run "$session" idle-killed
ok "the time is that of the end of a session" \
	test "$(echo "$shm"/*/s.*/lock)" -nt "$(echo "$shm"/*/s.*)"
run "$xsprof" recover --delete
XSPROF_BACKEND=none run "$session" killed
is "refused" $rc 1
ok "nothing was begun" clean
run "$session"
is "one that ends" $rc 0
ok "leaves nothing" clean
finish
