#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record --sched. Without the module one line says that it is needed, and all else is recorded. With
# it, in the guest of device-kmod.sh, the capture has each switch of the command's threads, also for
# a user without privileges. TAP.
. "$(dirname "$0")/tap.sh"

switcher=$BUILD/tests/record/switch

# counted FILE: for each thread that reported its count of switches, the capture has exactly as
# many. Switches after the thread's counter are not counted.
counted()
{
	"$xsprof" dump -f ndjson -i "$1" 2>>err | awk '
		function field(key) {
			return match($0, "\"" key "\":[0-9-]+") ?
			       substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : ""
		}
		/"type":"sched-out"/ { out[field("tid")]++ }
		/"type":"counter"/ && /"name":"switches"/ {
			tid = field("tid"); told[tid] = field("i64"); had[tid] = out[tid] + 0
		}
		END {
			for (tid in told) {
				n++
				printf "# thread %s: %d switches, %d recorded\n", tid, told[tid],
					had[tid]
				bad += told[tid] != had[tid] || told[tid] < 100
			}
			exit n != 2 || bad
		}'
}

if [ ! -c /dev/xsprof ]; then
	run "$xsprof" record --sched -o a.data -- "$switcher" 200
	is "without the module the command runs" $rc 0
	has "and a line says what is needed" err \
		'^xsprof: --sched: needs the module xsprof \(.*\), or root and -e sched; all else'
	is "the rest is recorded" "$("$xsprof" dump -i a.data | grep -c ' instant: *hand')" 400
	run "$xsprof" record --sched -q -o a.data -- "$switcher" 20
	ok "and -q says nothing" test ! -s err
	finish
fi

run "$xsprof" record --sched --backend tmpfs -o a.data -- "$switcher" 200
has "on tmpfs there are none, and a line says so" err \
	'^xsprof: --sched: needs the module xsprof \(and not --backend=tmpfs\)'

for user in 0 1000; do
	chown -R $user "$dir" "$shm"
	as="setpriv --reuid=$user --regid=$user --clear-groups"
	run $as "$xsprof" record --sched -o $user.data -- "$switcher" 1000
	is "user $user: the command's status" $rc 0
	hasnt "user $user: nothing is lacking" err 'sched'
	has "user $user: nothing is lost" err ' 0 lost'
	ok "user $user: each switch of its threads is there" counted $user.data
	"$xsprof" info -i $user.data >info 2>&1
	has "user $user: in rings of the kernel's" info '^ +0 +[0-9]+ kernel +[0-9]'
	"$xsprof" dump -i $user.data >text 2>>err
	has "user $user: threads come to a CPU" text ' sched-in: '
	has "user $user: and sleep" text ' sched-out: .* state=S .*next='
	has "user $user: and wake each other" text ' sched-wake: .* by=thread other=[0-9]'
	is "user $user: the markers are there as well" "$(grep -c ' instant: *hand' text)" 2000
	hasnt "user $user: of other users nothing is told" text 'next=other.*(other=|comm=)'
done

listed()
{
	$as "$xsprof" list | grep -q " $pid "
}

# A process that already runs.
mkfifo go
chown 1000 go
$as "$switcher" 300 wait <go &
pid=$!
exec 7>go
wait_for listed
$as "$xsprof" record --sched -p $pid -o p.data >out 2>err </dev/null &
recorder=$!
wait_for grep -q '^xsprof: rings: /dev/xsprof' err
echo >&7
exec 7>&-
wait $recorder
is "a running process is taken up" $? 0
ok "and each switch of its new threads is there" counted p.data
finish
