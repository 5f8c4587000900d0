#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What remains when the recorder, the disk or the program fails: a capture that is valid up to its
# last whole chunk, and the rest where `xsprof recover` finds it.
. "$(dirname "$0")/tap.sh"

# ended FILE: the process whose id is in FILE has ended.
ended()
{
	! kill -0 "$(cat "$1")" 2>/dev/null
}

# sound: inspect accepts a file whose writer was killed, perhaps within a chunk.
sound()
{
	[ "$1" = 0 ] || [ "$1" = 3 ]
}

# The file that is being written has that many records.
has_read()
{
	"$inspect" "$1" | grep -q "^total records $2 "
}

name="recorder killed"
rm -f out err
"$xsprof" record -o k.data -- "$actor" hold 3000 held >out 2>err &
pid=$!
wait_for test -s held
sleep 1.5
kill -KILL $pid
wait $pid 2>/dev/null
"$inspect" k.data >seen
ok "$name: the file is sound, up to where it was cut" sound $?
has "$name: it holds what was read" seen '^total records 100 .* end 0'
# Two clocks, and a third when a producer uses another: so this also holds within the first second.
is "$name: the first sync points were stored as they were taken" \
	"$(grep -m 4 -c '^sync points [123]$' <(grep -m 4 '^sync points' seen))" 4
run "$xsprof" list
has "$name: list shows it" out 'recorder is dead'
run "$xsprof" record -o other.data -- true
has "$name: the next recorder tells of it" err "'xsprof recover s\.[^ ]*' saves"
wait_for ended held
cp k.data cut.data
run "$xsprof" recover
is "$name: recover" $rc 0
has "$name: what was there before is not counted" err \
	'recover: 100 events .*, added to what was in .*/k.data \]'
"$inspect" k.data >seen
ok "$name: the file is sound after it" test $? = 0
has "$name: and whole" seen '^total records 200 producers 1 end 1 why 3'
ok "$name: the session is gone" clean
run "$xsprof" recover
is "$name: nothing more to recover" $rc 0
has "$name: said" err 'nothing to recover'

# Nobody saw the program end: it was alive when it wrote the last record of the file.
name="recorder and program killed"
rm -f out err
"$xsprof" record -o k0.data -- "$actor" hold 600000 held0 >out 2>err &
pid=$!
wait_for test -s held0
sleep 1.5
kill -KILL $pid "$(cat held0)"
wait $pid 2>/dev/null
wait_for ended held0
run "$xsprof" recover
is "$name: recover" $rc 0
run "$xsprof" info --json k0.data
last=$("$xsprof" dump -f ndjson k0.data |
	sed -n 's/^{"ns":\([0-9]*\),"type":"instant",.*/\1/p' | tail -n 1)
exit_ns=$(sed -n 's/^{"number.*"exit_ns":\([0-9]*\),.*/\1/p' out)
within=$(sed -n 's/^{"number.*"exit_within_ns":\([0-9]*\),.*/\1/p' out)
if [ "${SIM_DEVICE:-}" ]; then
	is "$name: the module knows the end" "$within" 0
else
	is "$name: it is known to have lived until its last record" $((exit_ns - within)) "$last"
fi

name="killed, cut, recovered elsewhere"
rm -f out err
"$xsprof" record -o k2.data -- "$actor" hold 2500 held4 >out 2>err &
pid=$!
wait_for test -s held4
sleep 1.5
kill -KILL $pid
wait $pid 2>/dev/null
wait_for ended held4
printf 'half a chunk' >>k2.data
size=$(stat -c %s k2.data)
session=$(basename "$(find "$shm" -mindepth 2 -maxdepth 2 -name 's.*')")
run "$xsprof" recover -o saved.data
is "$name: -o wants a session" $rc 2
run "$xsprof" recover s.1.2.3
is "$name: an unknown session" $rc 1
run sh -c "ulimit -f 2; exec $xsprof recover -o full.data $session"
ok "$name: no room is an error" test $rc != 0
rm -f full.data*
run sh -c "trap '' XFSZ; ulimit -f 2; exec $xsprof recover -o full.data $session"
ok "$name: no room, and no signal" test $rc != 0
has "$name: why" err "full.data: cannot be written: File too large: free some space"
ok "$name: a part of a file does not stay" not test -e full.data
run "$xsprof" recover --list
has "$name: and the session stays" out "$session: recorder is dead"
run "$xsprof" recover -o saved.data "$session"
is "$name: status" $rc 0
has "$name: what was copied" err \
	"^xsprof: saved.data: 100 events copied from $dir/k2.data; the new ones follow\$"
has "$name: and what is new" err 'recover: 100 events .*, added to what was in saved.data \]$'
"$inspect" saved.data >seen
ok "$name: the file is sound" test $? = 0
has "$name: and whole" seen '^total records 200 producers 1 end 1'
is "$name: the cut capture is as it was" "$(stat -c %s k2.data)" "$size"
ok "$name: the session is gone" clean

name="capture gone"
rm -f out err
"$xsprof" record -o k3.data -- "$actor" hold 800 held5 >out 2>err &
pid=$!
wait_for test -s held5
kill -KILL $pid
wait $pid 2>/dev/null
rm k3.data
sleep 1
run "$xsprof" recover
is "$name: status" $rc 0
"$inspect" k3.data.recovered >seen
has "$name: into a new file" seen '^total records 200 producers 1 end 1'
has "$name: and what cannot be known" err \
	'k3.data is gone: processes that had ended before the recorder was killed are missing'

# What had been read before is in no file any more.
for how in gone replaced; do
	name="capture $how after some of it was read"
	rm -f out err held8 k6.data*
	"$xsprof" record -o k6.data -- "$actor" hold 600000 held8 >out 2>err &
	pid=$!
	wait_for test -s held8
	wait_for has_read k6.data 100
	kill -KILL $pid "$(cat held8)"
	wait $pid 2>/dev/null
	rm k6.data
	[ $how = gone ] || echo text >k6.data
	wait_for ended held8
	run "$xsprof" recover
	is "$name: records were lost" $rc 4
	has "$name: they are counted" err 'recover: 0 events .*, 0 lost, 100 slots missing, '
	why="is gone"
	[ $how = gone ] || why="is another file now"
	why="k6.data $why: what the killed recorder had stored there is missing: 100 slots of"
	has "$name: why" err "$why"
	run "$xsprof" report k6.data.recovered
	is "$name: report: records were lost" $rc 4
	has "$name: report: why" out "# lost: .*$why"
	run "$xsprof" info k6.data.recovered
	is "$name: info: records were lost" $rc 4
	has "$name: info: why" out "note.*$why"
done

# The next recording to the same file moves the capture away: an ended one, then a killed one.
name="capture replaced"
for gone in "" k5.data.old; do
	rm -f out err k5.data*
	"$xsprof" record -o k5.data -- "$actor" hold 800 held7 >out 2>err &
	pid=$!
	wait_for test -s held7
	kill -KILL $pid
	wait $pid 2>/dev/null
	run "$xsprof" record -o k5.data -- "$actor" count 10
	before=$(cksum <k5.data)
	[ -z "$gone" ] || rm "$gone"
	sleep 1
	run "$xsprof" recover
	is "$name${gone:+, and gone}: status" $rc 0
	is "$name${gone:+, and gone}: the newer one is as it was" "$(cksum <k5.data)" "$before"
	"$inspect" "k5.data.$([ -z "$gone" ] && echo old || echo recovered)" >seen
	has "$name${gone:+, and gone}: it is whole" seen '^total records 200 producers 1 end 1'
	rm -f held7
done

name="deleted"
rm -f out err
"$xsprof" record -o k4.data -- "$actor" hold 400 held6 >out 2>err &
pid=$!
wait_for test -s held6
kill -KILL $pid
wait $pid 2>/dev/null
run "$xsprof" recover --delete
is "$name: status" $rc 0
ok "$name: the session is gone" clean

name="several by name"
for i in 1 2; do
	"$xsprof" record -o k$i.data -- "$actor" hold 400 held_$i >out 2>err &
	pid=$!
	wait_for test -s held_$i
	kill -KILL $pid
	wait $pid 2>/dev/null
done
run "$xsprof" recover --delete $(ls "$shm"/*) s.1.2.3
is "$name: one is not there" $rc 1
has "$name: it is named" err 's.1.2.3: no such session'
is "$name: the others are removed" "$(grep -c ': removed$' err)" 2
ok "$name: all of them" clean

name="full disk"
# The limit is for the recorder only: rings are files too.
limited="ulimit -S -f 2000; exec $xsprof record -o f.data -- sh -c"
run sh -c "$limited 'ulimit -S -f unlimited; exec $actor count 200000'"
is "$name: the command ended well, the capture did not: 1" $rc 1
has "$name: said at once" err 'the file could not be written: File too large; nothing is stored'
has "$name: said at the end" err 'f.data: File too large: .* events are missing'
"$inspect" f.data >seen
ok "$name: the file is sound" test $? = 0
stored=$(sed -n 's/^total records \([0-9]*\) .*/\1/p' seen)
ok "$name: it holds what found room" test "$stored" -gt 1000
is "$name: what did not is counted" "$stored $(sed -n \
	's/^\[ xsprof record: \([0-9]*\) events .*, \([0-9]*\) lost.*/\1 \2/p' err)" \
	"$stored $stored $((200000 - stored))"
"$xsprof" report f.data >reported 2>reported.err
is "$name: and whoever reads the file is told" "$(sed -n 's/^# lost: \([0-9]*\) records.*/\1/p' \
	reported)" $((200000 - stored))
"$xsprof" dump f.data >dumped 2>>reported.err
is "$name: also where it is missing: slots of each ring" \
	"$(sed -n 's/^.* lost: .* slots=\([0-9]*\).*/\1/p' dumped | sort -n)" \
	"$(sed -n 's/.* unsaved \([1-9][0-9]*\).*/\1/p' seen | sort -n)"
"$xsprof" info --json f.data >told 2>>reported.err
is "$name: and whose they were: stored and lost of the one process" \
	"$(sed -n '/^{"num/s/.*"events":\([0-9]*\),"lost_records":\([0-9]*\),.*/\1 \2/p' told)" \
	"$stored $((200000 - stored))"
ok "$name: of which there are some" test -n "$(sed -n 's/.* unsaved \([1-9][0-9]*\).*/\1/p' seen)"
run sh -c "$limited 'ulimit -S -f unlimited; $actor count 100000 & $actor count 150000; wait'"
"$xsprof" info --json f.data >told 2>>reported.err
is "$name: of each of two: all that it wrote" "$(sed -n \
	's/^{"number":.*"events":\([0-9]*\),"lost_records":\([0-9]*\),.*/\1 \2/p' told |
	while read -r had lost; do echo $((had + lost)); done | sort -n)" "100000
150000"
run sh -c "$limited 'ulimit -S -f unlimited; $actor count 200000; exit 9'"
is "$name: the command's own status counts" $rc 9
if [ "$(id -u)" = 0 ] && mkdir -p small && mount -t tmpfs -o size=1m tmpfs small 2>/dev/null; then
	run "$xsprof" record -o small/f.data -- "$actor" count 200000
	"$inspect" small/f.data >seen
	ok "$name: ENOSPC: the file is sound" test $? = 0
	has "$name: ENOSPC: said" err 'No space left on device'
	has "$name: ENOSPC: the end found room" seen 'end 1 why 3'
	hasnt "$name: ENOSPC: markers were passed" err 'nothing was recorded'
	# A tmpfs cannot shrink below its contents.
	rm small/f.data
	mount -o remount,size=16k small
	run "$xsprof" record -o small/g.data -- "$actor" count 20000
	hasnt "$name: nothing found room, and markers were passed" err 'nothing was recorded'
	is "$name: all of it is told as lost" "$("$xsprof" report small/g.data 2>/dev/null |
		sed -n 's/^# lost: \([0-9]*\) records.*/\1/p')" 20000
	"$xsprof" info --json small/g.data >told 2>/dev/null
	is "$name: and each of a process, or of nobody" $((0$(sed -n \
		-e 's/^{"number":.*"lost_records":\([0-9]*\),.*/+\1/p' \
		-e 's/.*"lost_of_unknown":\([0-9]*\),.*/+\1/p' told))) 20000
	rm small/g.data
	# The recorder drops what finds no room, and is killed.
	mount -o remount,size=16k small
	rm -f out err held5
	"$xsprof" record -b 4M -o small/h.data -- "$actor" hold 60000 held5 20000 >out 2>err &
	pid=$!
	wait_for test -s held5
	sleep 0.5
	kill -KILL $pid
	wait $pid 2>/dev/null
	kill "$(cat held5)"
	wait_for ended held5
	mount -o remount,size=8m small
	run "$xsprof" recover
	is "$name: killed after that, recovered: what found no room is lost" $rc 4
	"$xsprof" report small/h.data >reported 2>/dev/null
	is "$name: and the reader is told" $? 4
	# A recorder that dies before it has read anything; then there is no room to recover.
	rm -f small/h.data out err held6
	"$xsprof" record -b 4M -o small/i.data -- "$actor" hold 1500 held6 >out 2>err &
	pid=$!
	wait_for test -s held6
	kill -STOP $pid
	sleep 3
	kill -KILL $pid
	wait $pid 2>/dev/null
	wait_for ended held6
	"$inspect" small/i.data >seen
	before=$(sed -n 's/^total records \([0-9]*\) .*/\1/p' seen)
	# Full to the last page: no room for the end, or room only for the end.
	for left in 0 1 2; do
		dd if=/dev/zero of=small/filler bs=4k count=2048 2>/dev/null
		truncate -s -$((4096 * left)) small/filler
		run "$xsprof" recover
		is "$name: recover with $left pages left is an error" $rc 1
		run "$xsprof" list
		has "$name: and the session stays ($left)" out 'recorder is dead'
		rm small/filler
	done
	run "$xsprof" recover
	is "$name: with room it goes on" $rc 0
	"$inspect" small/i.data >seen
	ok "$name: from $before records to all" grep -q '^total records 200 .* end 1 why 3' seen
	rm small/i.data
	mount -o remount,size=1m small
	# The session itself has room, but the rings have none.
	XSPROF_SHM_DIR=$dir/small run "$xsprof" record -o g.data -- "$marker" 100 1 0
	is "$name: no room for rings: the program does not mind" $rc 0
	umount small
else
	for i in 1 2 3 4 5 6 7 8; do
		skip "$name: ENOSPC" "needs root and mount"
	done
fi
run "$xsprof" record -o /dev/full -- true
is "$name: from the first byte" $rc 2

name="program killed"
run "$xsprof" record -b 16M -o p.data -- "$marker" 20000 2 0 kill
is "$name: status" $rc 137
is "$name: every record is there" \
	"$(sed -n 's/^\[ xsprof record: \([0-9]*\) events .* 0 lost.*/\1/p' err)" 80000

name="cut anywhere"
run "$xsprof" record -o cut.data -- "$actor" count 20000
size=$(stat -c %s cut.data)
bad=0
for at in 64 65 127 500 $((size / 3)) $((size / 2)) $((size - 1)); do
	head -c "$at" cut.data >part.data
	"$xsprof" info -i part.data >out 2>err
	[ $? -lt 126 ] && grep -qE 'part.data: .*(cut off|ends inside|no END)' err ||
		bad=$((bad + 1))
done
is "$name: read to the last whole chunk, with a warning" $bad 0

name="records itself"
# A leak check in a forked child cannot stop its parent's threads, and prints that to stderr.
export TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}die_after_fork=0
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
# The child of a process with threads may inherit a locked allocator of a sanitizer.
forks=2
[ "${XSPROF_VARIANT:-}" != asan ] || forks=0
XSPROF_RECORD=self.%p.data XSPROF_BUFFER_SIZE=16M run "$marker" 20000 2 $forks
is "$name: status" $rc 0
is "$name: nothing on stderr" "$(cat err)" ""
is "$name: one file" "$(ls self.*.data | wc -l)" 1
"$inspect" self.*.data >seen
ok "$name: the file is sound" test $? = 0
is "$name: it and its children" "$(grep -c '^producer' seen)" $((forks + 1))
is "$name: every record" "$(($(field read seen) - 0))" "$(field head seen)"
is "$name: all accounted for" "$(($(field head seen) + $(field lost out)))" "$(field events out)"
ok "$name: the session is gone" clean
rm -f self.*
XSPROF_RECORD=$dir/self.data XSPROF_BUFFER_SIZE=16M run "$marker" 20000 2 0 kill
is "$name, killed: status" $rc 137
"$inspect" self.data >seen
ok "$name, killed: the file is sound, up to where it was cut" sound $?
run "$xsprof" recover
is "$name, killed: recover" $rc 0
"$inspect" self.data >seen
is "$name, killed: every record" "$(field head seen)" 80000
# Another recorder mentions this one even if all records are in the file: the file has no end yet.
XSPROF_RECORD=$dir/idle.data "$steady" held8 0 100000 >out 2>err &
pid=$!
wait_for test -s held8
sleep 1.5
kill -KILL $pid
wait $pid 2>/dev/null
run "$xsprof" record -o other.data -- true
has "$name, killed while idle: the next recorder tells of it" err "'xsprof recover s\.[^ ]*' saves"
run "$xsprof" recover
is "$name, killed while idle: recover" $rc 0
"$inspect" idle.data >seen
has "$name, killed while idle: the file is whole" seen ' end 1 '
# The recorder runs in the program and ends at the execve(); the next image starts its own.
XSPROF_RECORD=$dir/image.data XSPROF_BUFFER_SIZE=16M run "$marker" 20000 2 0 exec
is "$name, executes itself: status" $rc 0
run "$xsprof" recover
is "$name, executes itself: recover" $rc 0
for file in image.data image.data.old; do
	"$inspect" $file >seen
	ok "$name, executes itself: $file is sound" test $? = 0
	# The next image removes a session that is all saved, and then nobody sums the accounts.
	is "$name, executes itself: $file is whole" "$(field begins_and_ends seen)" 80000
done
ok "$name, executes itself: the session is gone" clean
rm -f image.data*
# The recorder reads back what it wrote before it removes the session.
if [ "${XSPROF_VARIANT:-}" = asan ]; then
	skip "a disk that lies" "nothing can be preloaded before this sanitizer's library"
else
	# A recorder that reads nothing of it: it is stopped before the program starts.
	"$xsprof" record -o lied.data -- \
		sh -c "kill -STOP \$PPID; exec $actor hold 0 held9 2000" >out 2>err &
	pid=$!
	wait_for test -s held9
	kill -KILL $pid
	wait $pid 2>/dev/null
	wait_for ended held9
	run env LD_PRELOAD="$BUILD/tests/record/liar.so" "$xsprof" recover
	is "killed, on a disk that lies: not recovered" $rc 1
	has "killed, on a disk that lies: said" err \
		'lied.data: .*: the written file cannot be read back'
	ok "killed, on a disk that lies: the session is kept" not clean
	run "$xsprof" recover --delete
	ok "killed, on a disk that lies: removed by hand" clean
	rm -f lied.data
fi
# Many killed recorders: the next recorder removes saved sessions, without losing any records.
many=8
[ "${XSPROF_TIER:-quick}" = quick ] || many=1000
in_files()
{
	for i in $(seq $many); do
		"$inspect" many.$i.data || echo "many.$i.data is damaged" >>damaged
	done >seen
	field begins_and_ends seen
}
all=0
for i in $(seq $many); do
	XSPROF_RECORD=$dir/many.$i.data XSPROF_BUFFER_SIZE=1M run "$marker" 20000 1 0 kill
	all=$((all + $(field events out) - $(field lost out)))
done
saved=$(in_files)
XSPROF_RECORD=$dir/last.data run "$marker" 10 1 0
kept=$(du -sk "$shm" | cut -f1)
ok "$name, killed, $many times: $kept KiB are kept" test "$kept" -lt $((many * 400))
is "$name, killed, $many times: each is looked through once" \
	"$(cat "$shm"/*/s.*/lock | grep -c '^freed yes')" "$(ls -d "$shm"/*/s.* | wc -l)"
run "$xsprof" recover
is "$name, killed, $many times: recovered" $rc 0
is "$name, killed, $many times: every record" "$(in_files)" $all
ok "$name, killed, $many times: some were not in the files" test "$saved" -lt $all
ok "$name, killed, $many times: nothing stays" clean
ok "$name, killed, $many times: all files are sound" not test -e damaged
rm -f many.* last.data
XSPROF_RECORD=/no/such/dir/x run "$marker" 10 1 0
is "$name: a bad file name harms nobody, and is told" "$rc $(cat err)" "0 xsprof: XSPROF_RECORD:\
 '/no/such/dir/x': nothing is recorded: /no/such/dir/x: No such file or directory"
ok "$name: and leaves nothing" clean
XSPROF_RECORD=$dir/none.data run "$marker" 0 1 0
is "$name: nothing to record is told" "$rc $(cat err)" "0 xsprof: XSPROF_RECORD:\
 '$dir/none.data': nothing was recorded: no marker was executed"
XSPROF_RECORD=$dir/inner.data run "$xsprof" record -o outer.data -- "$marker" 100 1 0
ok "$name: not under a recorder" test ! -e inner.data
has "$name: which has it all" err ' 200 events from 1 process'
finish
