#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The recorder with the module: choice of the backend, running processes, ends as the kernel saw
# them, recorders that are killed, live dumps. Needs a guest with the module loaded; device-kmod.sh
# boots one.
. "$(dirname "$0")/tap.sh"

if [ ! -c /dev/xsprof ]; then
	echo "1..0 # SKIP no /dev/xsprof: load the module"
	exit 77
fi

# start FILE N US [THEN]: starts a program without a recorder; sets $pid after its first record.
start()
{
	rm -f "$1"
	"$steady" "$@" &
	pid=$!
	wait_for test -s "$1"
}

ticks()
{
	"$xsprof" dump -q "$1" 2>/dev/null | grep -c ' instant: *tick$'
}

# whole: no ring of the capture has lost a record: each written one was read.
whole()
{
	"$inspect" "$1" >seen && awk '$1 == "ring" { n++; if ($5 != $7 + $9 + $11 + $15) bad = 1 }
		END { exit bad || !n }' seen
}

name="a command"
run "$xsprof" record --no-itt -o c.data -- "$steady" f 100 0 7
is "$name: its status" $rc 7
has "$name: told where the rings are" err '^xsprof: rings: /dev/xsprof \(kernel\)$'
is "$name: every record" "$(ticks c.data)" 100
ok "$name: accounted for" whole c.data
has "$name: its end is the kernel's word" seen 'how 1 status 7'
run "$xsprof" list
has "$name: nothing is kept of it" out 'no process has rings in the kernel'
run "$xsprof" record -q --no-itt --backend=tmpfs -v -o t.data -- "$steady" f 100 0
is "$name: on tmpfs" "$(ticks t.data)" 100
hasnt "$name: on tmpfs only" err '/dev/xsprof'
run "$xsprof" record --no-itt --backend=device -o d.data -- "$steady" f 100 0
is "$name: on the device only" "$(ticks d.data)" 100
run "$xsprof" record --no-itt -o k.data -- "$steady" f 100 0 kill
is "$name: killed" $rc 137
"$inspect" k.data >seen
has "$name: killed, said the kernel" seen 'how 2 status 9'
is "$name: killed, every record" "$(ticks k.data)" 100
run "$xsprof" record --no-itt -o x.data -- "$steady" f 100 0 exec
is "$name: exec" $rc 9
"$inspect" x.data >seen
has "$name: exec, seen" seen 'how 3'
run "$xsprof" record --no-itt -o du.data -d 300ms -- "$steady" f 100 10000
has "$name: shorter than the command" err 'the recording has ended, the command continues'
"$inspect" du.data >seen
has "$name: marked so" seen 'how 5'
ok "$name: and no more is recorded" test "$(ticks du.data)" -lt 100

name="running"
start f 0 2000
run "$xsprof" list
has "$name: listed" out "^  $pid +steady +live +root .* overwrite +- +/.*steady$"
run "$xsprof" record -p $pid -d 500ms -o r.data
is "$name: status" $rc 0
ok "$name: something came" test "$(ticks r.data)" -gt 10
ok "$name: accounted for" whole r.data
has "$name: it goes on" seen 'how 5'
# The first records are older than the recorder: their times need the kernel's clocks.
"$xsprof" info r.data >info
ok "$name: times are known to a microsecond" \
	test "$(sed -n 's/^clock .* at most \([0-9]*\) ns$/\1/p' info)" -lt 1000
wait_for grep -q '^steady' /proc/$pid/comm
run "$xsprof" record -p $pid -d 300ms -o r2.data
ok "$name: a second recorder goes on where the first ended" test "$(ticks r2.data)" -gt 10
"$xsprof" record -p $pid -o e.data >out 2>err &
recorder=$!
wait_for grep -q rings: err
run "$xsprof" record -p $pid -o no.data
is "$name: one recorder at a time" $rc 2
has "$name: one recorder at a time, said" err "process $pid \(steady\): already has a recorder"
ok "$name: and no file is made" test ! -e no.data
run "$xsprof" list
has "$name: listed as being recorded" out "^  $pid .* yes +/"
kill -SEGV $pid
wait $recorder
is "$name: the recorder ends with it" $? 0
"$inspect" e.data >seen
has "$name: and knows how" seen 'how 2 status 11'
wait $pid 2>/dev/null
run "$xsprof" record -p $pid -o no.data
is "$name: gone" $rc 2
has "$name: gone, said" err "process $pid: not a producer, or not readable by you: 'xsprof list'"
run "$xsprof" record -p 1 -o no.data
is "$name: never a producer" $rc 2

name="dead before anybody came"
start f 200 0 kill
wait $pid 2>/dev/null
run "$xsprof" list
has "$name: listed, with its end" out "^  $pid +steady +SIGKILL"
run "$xsprof" record -p $pid -o dead.data
is "$name: -p reads it and ends" $rc 0
is "$name: every record" "$(ticks dead.data)" 200
"$inspect" dead.data >seen
has "$name: how" seen 'how 2 status 9'
run "$xsprof" list
hasnt "$name: read once it is not kept" out "^  $pid "
start f 200 0 3
wait $pid
run "$xsprof" recover -p $pid -o rec.data
is "$name: recover --pid" "$rc $(ticks rec.data)" "0 200"

name="lost before anybody came"
for verb in record recover; do
	for allow in '' --allow-lost; do
		XSPROF_MODE=discard XSPROF_BUFFER_SIZE=4k start f 2000 0 kill
		wait $pid 2>/dev/null
		run "$xsprof" $verb -p $pid $allow -o lost.data
		is "$name: $verb -p $allow" $rc "$([ -n "$allow" ] && echo 0 || echo 4)"
		rm -f lost.data
	done
done

name="two programs"
start f 0 3000; one=$pid
start g 0 3000; two=$pid
(sleep 1; kill $one; sleep 0.5; kill $two) &
run "$xsprof" record -p $one,$two -o two.data
is "$name: until both have ended" $rc 0
"$inspect" two.data >seen
is "$name: both are in it" "$(grep -c 'how 2 status 15' seen)" 2
wait 2>/dev/null

name="all"
start f 0 3000; one=$pid
rm -f err
"$xsprof" record -a -o all.data >out 2>err &
recorder=$!
wait_for grep -q rings: err
start g 300 100 5; two=$pid
wait $two
kill -TERM $recorder
wait $recorder
is "$name: status" $? 0
"$inspect" all.data >seen
has "$name: who was there" seen "pid $one how 5"
has "$name: and who came" seen "pid $two how 1 status 5"
ok "$name: all of whom came" test "$(ticks all.data)" -ge 300
kill -KILL $one
wait $one 2>/dev/null
"$xsprof" recover -p $one -o left.data 2>/dev/null

name="all, and one of them is taken"
start f 0 2000
rm -f err
"$xsprof" record -p $pid -o b1.data >out1 2>err &
recorder=$!
wait_for grep -q rings: err
"$xsprof" record -a -o b2.data >out2 2>err2 &
second=$!
ok "$name: said" wait_for grep -q "process $pid (steady): not recorded: is being read by" err2
kill -TERM $recorder
wait $recorder
# The second recorder tries again every second.
ok "$name: and taken up once it is free" wait_for grep -q rings: err2
kill -TERM $second
wait $second
is "$name: status" $? 0
kill -KILL $pid
wait $pid 2>/dev/null
"$xsprof" recover -p $pid -o left.data 2>/dev/null

name="a pid namespace"
rm -f f
unshare -pf "$steady" f 0 2000 &
wait_for test -s f
is "$name: it is the first there" "$(cat f)" 1
pid=$(pidof steady)
run "$xsprof" list
has "$name: listed with both numbers" out "^  $pid \(there 1\) +steady +live"
run "$xsprof" record -p $pid -d 300ms -o ns.data
ok "$name: recorded by ours" test "$(ticks ns.data)" -gt 10
kill -KILL $pid
wait 2>/dev/null
"$xsprof" recover -p $pid -o left.data 2>/dev/null

name="many short ones"
cat >storm.sh <<END
for i in $(seq 80 | tr '\n' ' '); do
	$steady s.\$i 20 0 &
	[ \$((i % 20)) != 0 ] || wait
done
wait
END
run "$xsprof" record --no-itt -o storm.data -- bash storm.sh
is "$name: status" $rc 0
ok "$name: accounted for" whole storm.data
is "$name: all ends" "$(grep -c 'how 1 status 0' seen)" 80
is "$name: every record" "$(ticks storm.data)" 1600
rm -f err
"$xsprof" record -a -o storm2.data >out 2>err &
recorder=$!
wait_for test -s storm2.data
bash storm.sh
kill -TERM $recorder
wait $recorder
is "$name: by -a" "$(ticks storm2.data)" 1600

name="idle"
rm -f g
"$steady" g 0 100000000 &
pid=$!
wait_for test -s g
"$xsprof" record -p $pid -o idle.data >out 2>err &
recorder=$!
switches()
{
	awk '/ctxt_switches/ { n += $2 } END { print n }' /proc/$recorder/status
}
# The recorder becomes idle, and then does not wake up; it does not matter how long that takes.
settled()
{
	local before

	before=$(switches)
	sleep 2
	[ "$(switches)" = "$before" ]
}
ok "$name: nothing wakes a recorder of processes that are silent" wait_for settled
kill -KILL $pid
wait $recorder
is "$name: but their end does" $? 0

name="recorder killed"
rm -f out err h
"$xsprof" record --no-itt -o kr.data -- "$steady" h 0 2000 >out 2>err &
recorder=$!
wait_for test -s h
pid=$(cat h)
sleep 0.5
kill -KILL $recorder
wait $recorder 2>/dev/null
run "$xsprof" list
has "$name: its producers stay" out "^  $pid .* $recorder, dead"
run "$xsprof" record --no-itt -o other.data true
has "$name: the next recorder tells of it" err "'xsprof recover s\.[^ ]*' saves"
kill -KILL $pid
run "$xsprof" recover
is "$name: recover" $rc 0
ok "$name: every record, once" whole kr.data
has "$name: and how it ended" seen 'how 2 status 9'
run "$xsprof" list
hasnt "$name: nothing is left of it" out "^  $pid |recorder is dead"
start f 0 2000
rm -f err
"$xsprof" record -p $pid -o ka.data >out 2>err &
recorder=$!
wait_for grep -q rings: err
sleep 0.5
kill -KILL $recorder
wait $recorder 2>/dev/null
run "$xsprof" recover
is "$name: of a running process" $rc 0
ok "$name: of a running process: every record, once" whole ka.data
run "$xsprof" record -p $pid -d 300ms -o kb.data
ok "$name: it records on" test "$(ticks kb.data)" -gt 10

name="looking on"
rm -f err
for_seconds 2 live "$xsprof" dump --live
is "$name: SIGTERM ends it well" $rc 0
ok "$name: something came" test "$(grep -c ' instant: *tick$' live)" -gt 10
"$xsprof" record -p $pid -d 2 -o lr.data >out 2>&1 &
recorder=$!
for_seconds 1 live "$xsprof" dump --live -p $pid
ok "$name: beside a recorder" test "$(grep -c ' instant: *tick$' live)" -gt 10
wait $recorder
ok "$name: which misses nothing" whole lr.data
run "$xsprof" dump --live -p $pid -n 3
is "$name: the first few only" "$rc $(wc -l <out)" "0 3"
(sleep 1; kill -KILL $pid) &
run timeout 60 "$xsprof" dump --live -p $pid
is "$name: until it ends" $rc 0
has "$name: and how" out 'exit: .*how=killed signal=9'
run "$xsprof" dump --live -p 1
is "$name: nobody to see" $rc 1
"$xsprof" recover -p $pid -o left.data 2>/dev/null

name="another user"
chmod 600 /dev/xsprof
if command -v setpriv >/dev/null; then
	chmod 777 . && mkdir -m 1777 nobody
	as="setpriv --reuid 65534 --regid 65534 --clear-groups env XSPROF_SHM_DIR=$PWD/nobody"
	start f 0 2000
	chmod 666 /dev/xsprof
	# shellcheck disable=SC2086
	run $as "$xsprof" list
	hasnt "$name: of others nothing is seen" out steady
	# shellcheck disable=SC2086
	run $as "$xsprof" record -p $pid -o n.data
	is "$name: nor recorded" $rc 2
	chmod 600 /dev/xsprof
	kill -KILL $pid
	# shellcheck disable=SC2086
	run $as "$xsprof" record --backend=device -o n.data -- true
	is "$name: not to be opened" $rc 2
	has "$name: said, with what to do" err '/dev/xsprof cannot be opened: permission denied'
	# shellcheck disable=SC2086
	run $as "$xsprof" record --no-itt -q -o n.data -- "$steady" nobody/f 50 0
	is "$name: auto takes tmpfs" "$rc $(ticks n.data)" "0 50"
else
	skip "$name: of others nothing is seen" "no setpriv"
	skip "$name: nor recorded" "no setpriv"
	skip "$name: not to be opened" "no setpriv"
	skip "$name: said, with what to do" "no setpriv"
	skip "$name: auto takes tmpfs" "no setpriv"
fi
chmod 666 /dev/xsprof
ok "no session stays behind" clean
finish
