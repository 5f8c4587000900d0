#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The drain with hand-made producers: it accounts for every record and every loss, knows how each
# process ended, and a hostile producer does not affect the others.
. "$(dirname "$0")/tap.sh"

[ "${XSPROF_TIER:-quick}" = full ] && scale=10 || scale=1

# What actors printed (wrote ring K head H drops D) equals the ledgers in the capture.
same_ledgers()
{
	[ "$(sed -n 's/^wrote pid .* ring \(.*\) head \(.*\) drops \(.*\)/\1 \2 \3/p' out |
		sort)" = \
	  "$(awk '$1 == "ring" { print $3, $5, $13 }' seen | sort)" ]
}

# Every slot is read, skipped, refused or not saved.
adds_up()
{
	awk '$1 == "ring" && $5 != $7 + $9 + $11 + $15 { bad = 1 }
		$1 == "ring" { n++ } END { exit bad || !n }' seen
}

# Prints when each process of `info --json` ended.
exits()
{
	sed -n 's/.*"exit_ns":\([0-9]*\),.*/\1/p' "$1"
}

look()
{
	"$inspect" "$@" >seen
	ok "$name: every chunk is sound" test $? = 0
	ok "$name: ledgers add up" adds_up
}

name="three rings, 1 to 8 slots"
n=$((200000 * scale))
run "$xsprof" record -o a.data -- "$actor" count $n
is "$name: status" $rc 0
look a.data
has "$name: all there" seen "^total records $n producers 1 end 1 why 0 notes 0"
ok "$name: ledgers as written" same_ledgers
has "$name: it said goodbye" seen 'how 1 status 0'
has "$name: summary" err "\[ xsprof record: $n events from 1 process, .* 0 lost"

name="compressed"
run "$xsprof" record -z -o z.data -- "$actor" count $n
is "$name: status" $rc 0
ok "$name: smaller" test "$(stat -c %s z.data)" -lt "$(($(stat -c %s a.data) / 4))"
run "$xsprof" dump -f text -i z.data -o z.txt
is "$name: all there" "$(grep -c 'instant' z.txt)" $n

name="small ring, not waiting"
run "$xsprof" record -o l.data -- "$actor" lose $((300000 * scale))
look l.data
ok "$name: ledgers as written" same_ledgers
is "$name: every record is stored or a drop" $(($(field drops seen) +
	$(sed -n 's/^total records \([0-9]*\) .*/\1/p' seen))) $((300000 * scale))
ok "$name: there were drops" test "$(field drops seen)" -gt 0
has "$name: summary counts them" err " $(field drops seen) lost"
is "$name: the command's own status counts" $rc 0
for verb in report info "dump -f ndjson"; do
	# shellcheck disable=SC2086
	run "$xsprof" $verb l.data
	is "$name: $verb: 4" $rc 4
	# shellcheck disable=SC2086
	run "$xsprof" $verb --allow-lost l.data
	is "$name: $verb --allow-lost: 0" $rc 0
done
run "$xsprof" report a.data
is "$name: 0 where nothing was" $rc 0

name="OVERWRITE"
run "$xsprof" record -m overwrite -o o.data -- "$actor" overwrite $((300000 * scale))
look o.data
ok "$name: ledgers as written" same_ledgers
ok "$name: something was read" test "$(field read seen)" -gt 1000

name="ends"
for how in exit:1:7 _exit:1:8 kill:2:9 abort:2:6; do
	run "$xsprof" record -o e.data -- "$actor" end "${how%%:*}"
	look e.data
	has "$name ${how%%:*}" seen "how $(echo "${how#*:}" | sed 's/:/ status /')\$"
	has "$name ${how%%:*}: all there" seen '^total records 100 '
	# The same as another process's child, which only its parent can wait for. Before Linux 6.15
	# nobody else learns its status once the parent has waited.
	run "$xsprof" record -o e.data -- sh -c "$actor end ${how%%:*} 50; sleep 0.2"
	"$inspect" e.data >seen
	has "$name ${how%%:*} of a grandchild: all there" seen '^total records 100 '
	kept=$(echo "${how#*:}" | sed 's/:/ status /')
	[ "${how%%:*}" != exit ] || kept="1 status [0-9]*"
	newer 6.15 || kept="($kept|4 status 0)"
	has "$name ${how%%:*} of a grandchild: how" seen "how $kept\$"
done
has "$name: the summary names who was killed" err \
	'^\[ xsprof record: 1 of 1 process was killed \(SIGABRT: [0-9]+\) \]$'
run "$xsprof" record -o e.data -- "$actor" end exec
look e.data
has "$name exec" seen 'how 3'
for how in "" ", while the recorder stood still"; do
	# Then the recorder learns of it after both programs have ended: only the module knows the
	# status.
	status=7
	[ -z "$how" ] || [ "${SIM_DEVICE:-}" ] || status=0
	if [ -z "$how" ]; then
		run "$xsprof" record -o e.data -- "$actor" end again 50
	else
		run "$xsprof" record -o e.data -- sh -c \
			"kill -STOP \$PPID; $actor end again 50; kill -CONT \$PPID"
	fi
	look e.data
	is "$name exec of one that records too$how" \
		"$(sed -n 's/^producer . pid .* how/how/p' seen | sort)" \
		"how 1 status $status
how 3 status 0"
	"$xsprof" info --json e.data >told
	ok "$name: the old program has ended when the new one begins$how" \
		test "$(grep '"how":"exec"' told | exits /dev/stdin)" -le \
		"$("$xsprof" dump -f ndjson e.data |
			sed -n 's/^{"ns":\([0-9]*\),"type":"producer",.*/\1/p' | tail -n 1)"
done

# The recorder saw the first program but never the second: one process was killed, not two.
name="exec of one that is killed, while the recorder stood still"
rm -f out err
"$xsprof" record -o e.data -- "$actor" end again-kill 300 >out 2>err &
pid=$!
is_zombie() { grep -qs '^State:.*zombie' "/proc/$(sed -n 's/^wrote pid \([0-9]*\) .*/\1/p' out |
	head -n 1)/status"; }
wait_for is_zombie
kill -CONT $pid
wait $pid
is "$name: status" $? 137
look e.data
[ "${SIM_DEVICE:-}" ] && old="how 3 status 0" || old="how 4 status 0"
is "$name: how" "$(sed -n 's/^producer . pid .* how/how/p' seen | sort)" "how 2 status 9
$old"
has "$name: the summary" err "1 of 2 processes were killed \(SIGKILL: [0-9]+\)"
hasnt "$name: and no more" err "killed \(SIGKILL: [0-9]+, "

# The end lies between the last sign of life and the notice of the end.
name="killed between two looks"
run "$xsprof" record -o e.data -- sh -c "$actor end kill 150; sleep 0.3"
"$xsprof" info --json e.data >told
last=$("$xsprof" dump -f ndjson e.data |
	sed -n 's/^{"ns":\([0-9]*\),"type":"instant",.*/\1/p' | tail -n 1)
at=$(exits told)
within=$(sed -n 's/.*"exit_within_ns":\([0-9]*\).*/\1/p' told)
if [ "${SIM_DEVICE:-}" ]; then
	is "$name: the module knows the end exactly" "$within" 0
else
	ok "$name: the end is not exact" test "$within" -gt 0
fi
ok "$name: it lived when it was last seen, 150 ms after its last record" \
	test $((at - last)) -ge 150000000
ok "$name: the bound is of one look, not of the whole wait" test "$within" -lt $((at - last))

name="in a namespace of process ids"
if unshare -pf true 2>/dev/null; then
	run "$xsprof" record -o e.data -- unshare -pf sh -c "$actor end kill 50; sleep 0.1"
	"$inspect" e.data >seen
	newer 6.15 && kept="2 status 9" || kept="(2 status 9|4 status 0)"
	has "$name: how" seen "how $kept\$"
	hasnt "$name: by the number that we know" seen "pid [12] how"
	# It said goodbye, so the recorder must not wait for it any longer.
	run "$xsprof" record -o e.data -- unshare -pf "$actor" end exit 50
	"$inspect" e.data >seen
	has "$name: exited" seen 'how 1 '
else
	skip "$name: how" "no such namespace can be made"
	skip "$name: by the number that we know" "no such namespace can be made"
	skip "$name: exited" "no such namespace can be made"
fi

name="many processes"
run "$xsprof" record -o m.data -- sh -c "for i in \$(seq 40); do $actor end exit & done; wait"
look m.data
has "$name: all there" seen '^total records 4000 producers 40 end 1'
ok "$name: ledgers as written" same_ledgers

name="a child that outlives the command"
run "$xsprof" record -o c.data -- sh -c "$actor hold 400 held & sleep 0.1; exit 4"
is "$name: status" $rc 4
look c.data
has "$name: waited for" seen '^total records 200 '
run "$xsprof" record -o c.data -- sh -c "$actor hold 4000 held2 & sleep 0.1; exit 4"
look c.data
has "$name: but not for ever" seen '^total records 100 '
has "$name: marked as running" seen 'how 5'
has "$name: and told of" err 'processes of the command still run: --wait-all'
run "$xsprof" record -o c.data -- sh -c "(sleep 0.3; exec $actor end exit) & exit 4"
look c.data
has "$name: waited for before it has rings" seen '^total records 100 '
run "$xsprof" record --wait-all -o c.data -- sh -c "$actor hold 2000 held3 & exit 4"
look c.data
has "$name: --wait-all" seen '^total records 200 '

name="hostile"
rm -f out err
"$xsprof" record -o h.data -- sh -c "
	for i in 1 2 3 4; do $actor scribble \$i $((700 * scale)) & done
	$actor truncate & $actor heads &
	for i in 1 2 3; do $actor count 50000; done
	wait" >out 2>err
is "$name: the recorder survives" $? 0
pids=$(sed -n 's/^wrote pid \([0-9]*\) .*/\1/p' out | sort -u)
# shellcheck disable=SC2086
"$inspect" h.data $pids >seen
ok "$name: every chunk is sound" test $? = 0
for pid in $pids; do
	awk -v pid="$pid" '$1 == "producer" { on = $4 == pid } on && $1 == "ring"' seen |
		awk '{ print $3, $5, $13 }' | sort >theirs
	sed -n "s/^wrote pid $pid ring \(.*\) head \(.*\) drops \(.*\)/\1 \2 \3/p" out | sort >ours
	ok "$name: the ledger of $pid is exact" cmp -s ours theirs
	awk -v pid="$pid" '$1 == "producer" { on = $4 == pid } on && $1 == "ring"' seen >one
	is "$name: all of $pid is stored" "$(field read one)" "$(field head one)"
done
ok "$name: no session stays behind" clean

# A ring that would take a minute to read must not delay the others or a signal.
name="a ring that is a hole"
for mode in 0 1; do
	if [ "${SIM_DEVICE:-}" ]; then
		skip "$name, mode $mode" "the module lets no producer make one"
		skip "$name, mode $mode, interrupted" "the module lets no producer make one"
		continue
	fi
	rm -f out err
	timeout 60 "$xsprof" record -o y.data -- sh -c "
		$actor sparse $mode 500 & sleep 0.1; $actor count 50000; wait" >out 2>err
	is "$name, mode $mode: status" $? 0
	has "$name, mode $mode: it was one" out ready
	pid=$(sed -n 's/^wrote pid \([0-9]*\) .*/\1/p' out | head -n 1)
	"$inspect" y.data "$pid" >seen
	awk -v pid="$pid" '$1 == "producer" { on = $4 == pid } on && $1 == "ring"' seen >one
	is "$name, mode $mode: the other one is stored" "$(field read one)" "$(field head one)"
	has "$name, mode $mode: its slots are refused" err ' [0-9]{9,} slots (refused|overwritten)'
	rm -f out err
	timeout -s KILL 60 "$xsprof" record -o y.data -- "$actor" sparse $mode 600000 >out 2>err &
	pid=$!
	wait_for grep -q ready out
	run timeout -s KILL 60 "$xsprof" snapshot -o n.data
	is "$name, mode $mode: a snapshot" $rc 4
	run timeout -s KILL 60 "$xsprof" record --flight --watch x --stall 100ms -o f.data -- \
		"$actor" sparse $mode 500
	is "$name, mode $mode: a flight recorder that watches" $rc 0
	kill -INT $pid
	wait $pid
	is "$name, mode $mode: interrupted: it ends" $? 130
	"$inspect" y.data >seen
	ok "$name, mode $mode: interrupted: the file is sound" test $? = 0
done

name="what is no producer"
run "$xsprof" record -o s.data -- "$actor" shapes
is "$name: status" $rc 0
"$inspect" s.data >seen
has "$name: each is named once" seen '^note p.1.1.3: not recorded: was made by another major'
has "$name: a link" seen '^note p.1.1.7: not recorded: is a symbolic link'
has "$name: one with a second name" seen '^note p.1.1.10: not recorded: has a second name'
has "$name: a cut one" seen '^note p.1.1.5: not recorded: is shorter than its control page says'
has "$name: nonsense" seen '^note p.1.1.6: not recorded: has inconsistent numbers'
has "$name: a message is passed on" err 'process 4711 is not recorded: no room$'
has "$name: the real one is recorded" seen '^total records 1 producers 1'

name="littered"
run "$xsprof" record -o litter.data -- sh -c \
	'for i in $(seq 300); do echo >"$XSPROF_SESSION/p.$i.1.0"; done'
is "$name: so many are named" "$(grep -c '^xsprof: p\..*: not recorded: ' err)" 256
has "$name: and there are more" err '^xsprof: more than 256 files are not recorded: the others'

name="the library"
run "$xsprof" record -b 16M -o r.data -- "$marker" $((20000 * scale)) 4 3
is "$name: status" $rc 0
is "$name: four processes" "$(grep -c attached.1 out)" 4
is "$name: what was passed is stored or lost" \
	"$(($(sed -n 's/^\[ xsprof record: \([0-9]*\) events .*/\1/p' err) + $(field lost out)))" \
	"$(field events out)"
finish
