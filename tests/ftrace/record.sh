#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `xsprof record -e` on this machine's own kernel: the events are there, in order, on the markers'
# clock, and each lost one is counted; it changes nothing of other users, and leaves nothing behind.
# Skipped if tracefs allows no instance: the guests run it too.
top=$PWD
. "$top/tests/record/tap.sh"
pairs=$BUILD/tests/ftrace/pairs
order=$BUILD/tests/ftrace/order
dump=$BUILD/bin/xsprof-dump
tracing=/sys/kernel/tracing
full=
[ "${XSPROF_TIER:-quick}" = full ] && full=y

why=
if [ "$(id -u)" != 0 ]; then
	why="the kernel's tracer is root's"
elif ! grep -q " tracefs " /proc/mounts && ! mount -t tracefs nodev $tracing 2>err; then
	why="tracefs cannot be mounted here: $(cat err)"
elif ! mkdir $tracing/instances/xsprof-test-probe.$$ 2>err; then
	why="no instance of the tracer here: $(cat err)"
else
	rmdir $tracing/instances/xsprof-test-probe.$$
fi
if [ -n "$why" ]; then
	echo "1..0 # SKIP $why"
	exit 77
fi
instances() { ls $tracing/instances | grep -c '^xsprof-[0-9]'; }

# Prints the settings of others, as far as we may read them.
others()
{
	cat $tracing/trace_clock $tracing/tracing_on $tracing/buffer_size_kb $tracing/set_event \
		$tracing/set_event_pid $tracing/options/* 2>/dev/null
}

# Whatever the C library reports, the recorder reads all CPUs that the tracer has.
run env LD_PRELOAD="$BUILD/tests/ftrace/one-cpu.so" "$xsprof" record -e sched -o c.data -- true
cpus=$(ls -d $tracing/per_cpu/cpu* | wc -l)
has "all CPUs of the tracer are read" err "kernel events on $cpus CPUs?, "

# The kernel's events, and what they are
others >before
run "$xsprof" record -e sched -o s.data -- sh -c 'sleep 0.02; (true); sleep 0.02; exit 3'
others >after
is "the command's exit status" $rc 3
has "a summary of the kernel's events" err \
	'^\[ xsprof record: [1-9][0-9]* kernel events on [0-9]+ CPUs, 0 lost \]$'
ok "what others set is as it was" cmp before after
is "the instance is gone" "$(instances)" 0
run "$dump" -i s.data
is "it is decoded" $rc 0
prev='prev_comm=.* prev_pid=[0-9]+ prev_prio=[0-9]+ prev_state=[A-Z|+]+'
next='next_comm=.* next_pid=[0-9]+ next_prio=[0-9]+'
has "switches, as the kernel prints them" out " sched_switch: $prev ==> $next\$"
for e in sched_waking sched_wakeup sched_wakeup_new sched_process_fork sched_process_exec \
	sched_process_exit task_newtask; do
	has "$e" out " $e: "
done
hasnt "and no other of sched" out ' sched_stat_'
awk '{ t = substr($0, match($0, /[0-9]+\.[0-9]+: /)); sub(/:.*/, "", t);
	if (t + 0 < last) n++; last = t + 0 } END { exit n > 0 }' out
is "in the order of time" $? 0
# Also for tasks that ended before the recording: a process of the shell and a thread of Python. In
# a pid namespace the tracer's ids are not those of programs, and no process is stated.
run "$xsprof" record -e sched -o t.data -- sh -c '(:); python3 -c "
import threading
t = threading.Thread(target=lambda: None)
t.start()
t.join()"'
run "$dump" -f ndjson -i t.data
python3 - out >err 2>&1 <<'END'
import json, os, sys
namespaced = os.stat('/proc/self/ns/pid').st_ino != 0xeffffffc
procs, threads, of = {}, {}, {}
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e["type"] != "kernel":
        continue
    if e["name"] == "task_newtask" and e["comm"] in ("sh", "python3"):
        thread = e["fields"]["clone_flags"] & 0x10000
        (threads if thread else procs)[e["fields"]["pid"]] = e["tid"]
    of.setdefault(e["tid"], set()).add(e["pid"])
assert procs and threads, (procs, threads)
for tid in procs:
    assert of[tid] == {0 if namespaced else tid}, (tid, of[tid])
for tid, by in threads.items():
    assert of[tid] == {0 if namespaced else by}, (tid, of[tid])
END
is "each task is of its process" $? 0
# Sync points only at the ends would give a clock error of up to a millisecond.
run "$xsprof" record -q -e sched -o n.data -- sleep 1
run "$xsprof" info --json n.data
ok "sync points all the time, without any marker" python3 -c '
import json
clock = json.load(open("out"))["clock"]
assert clock["sync_points"] >= 8, clock'
run "$xsprof" report s.data
has "report of it is a table of threads" out '^# no ranges: where the time of threads went'
has "of the command's" out ' [1-9][0-9]* +(sh|sleep)-[0-9]+ +(sh|sleep)-[0-9]+$'
if [ "$(readlink /proc/self/ns/pid)" = "pid:[4026531836]" ]; then
	hasnt "and of no other" out '^ .* (kworker|ksoftirqd|rcu_)'
	has "which are counted" out '^\.\.\. and [0-9]+ threads? of other programs ran for '
fi
if [ "$(readlink /proc/self/ns/pid)" = "pid:[4026531836]" ]; then
	# Seen between two reads of the recorder, or still exiting at the last: the kernel's time
	# counts.
	for i in 1 2 3 4 5; do
		run "$xsprof" record -e sched --trace-buffer 16M -o m.data -- \
			sh -c "$actor end kill 50; sleep 0.2"
		run "$xsprof" info --json m.data
		has "the end of a killed process is exact, $i" out \
			'"how":"(killed|vanished)".*"exit_within_ns":0,'
	done
fi
run "$xsprof" record -e sched -o m.data -- true
hasnt "what has kernel events is not called nothing" err 'nothing was recorded'
run "$xsprof" info -i s.data
clocks='x86-tsc|mono_raw|mono|boot'
has "info says which clock, and how exact" out \
	"^tracer .*: [0-9]+ kinds of events, [0-9]+ CPUs, clock ($clocks), at most [0-9]+ ns"
run "$dump" -i s.data --name 'sched_sw*'
hasnt "--name leaves out the others" out ' sched_wak'
has "and keeps its own" out ' sched_switch: '
run "$dump" -i s.data --category irq
is "--category of another system: nothing" "$(wc -l <out)" 0
run "$dump" -i s.data --cpu 0
hasnt "--cpu" out '\[001\]'
run "$xsprof" record -q --irq --syscalls --faults -e 'block:block_rq_*' -o i.data -- true
run "$xsprof" report i.data
has "report without the scheduler's events says what to record" out 'record with -e sched$'
run "$dump" -i i.data
for e in sys_enter sys_exit page_fault_user; do
	# Some kernels have no tracepoints of page faults.
	[ $e != page_fault_user ] || [ -d $tracing/events/exceptions ] ||
		{ skip "$e" "this kernel has no events of faults"; continue; }
	has "$e" out " $e: "
done

# One clock: every write to the tracer lies between the markers around it
n=20000
[ -z "$full" ] || n=1000000
for clock in x86-tsc mono_raw mono boot; do
	grep -qw -- "$clock" $tracing/trace_clock 2>err || [ ! -r $tracing/trace_clock ] ||
		{ skip "$clock" "this kernel's tracer has no such clock"; continue; }
	run "$xsprof" record -q -b 64M -e sched --trace-buffer 64M --trace-clock $clock -o p.data \
		-- "$pairs" $n
	is "$clock: recorded" $rc 0
	run "$order" p.data $n
	read -r writes wrong worst bound <out
	echo "# $clock: $writes writes, $wrong out of order, the worst $worst ns, bound $bound ns"
	echo "# $clock: $(sed -n 2p out)"
	is "$clock: all of them are there" "$writes" $n
	is "$clock: none out of order beyond the bound" "$wrong" 0
	ok "$clock: the bound is below a microsecond" test "$bound" -lt 1000
done

# Another reader must get the same events at the same times from the same sub-buffers
if command -v trace-cmd >trace-cmd.path && command -v python3 >python3.path; then
	run "$xsprof" record -q -e sched --irq --syscalls --trace-clock mono -o t.data -- \
		sh -c 'for i in 1 2 3 4 5; do sleep 0.01; ls / >/dev/null; done'
	run python3 "$top/tests/ftrace/to-tracedat.py" t.data t.dat
	is "as a file of trace-cmd" $rc 0
	trace-cmd report -t -i t.dat 2>err |
		sed -nE 's/^.*-([0-9]+) +\[([0-9]+)\] +([0-9.]+): ([a-z_0-9]+):.*/\3 \2 \1 \4/p' |
		sort >theirs
	"$dump" -q -i t.data |
		sed -nE 's/^.*-([0-9]+) +\[([0-9]+)\] +([0-9.]+): ([a-z_0-9]+):.*/\3 \2 \1 \4/p' |
		sort >ours
	ok "there are some" test "$(wc -l <ours)" -gt 100
	diff ours theirs >err
	is "the same events, tasks, CPUs and times as trace-cmd has" $? 0
	trace-cmd report -t -R -i t.dat 2>/dev/null | grep -c ' sched_switch: ' >theirs
	is "and as many switches" "$("$dump" -q -i t.data | grep -c ' sched_switch: ')" \
		"$(cat theirs)"
else
	skip "the same events as trace-cmd has" "no trace-cmd, or no python3"
fi

# Losses: a buffer that is much too small, and a recorder that is stopped
cat >storm.sh <<-'END'
	kill -STOP $PPID
	i=0
	while [ $i -lt 400 ]; do /bin/true; i=$((i + 1)); done
	kill -CONT $PPID
END
run "$xsprof" record -e sched --syscalls --trace-buffer 64k -o l.data -- sh storm.sh
lost=$(sed -nE 's/^.*kernel events on [0-9]+ CPUs, ([0-9]+) lost.*$/\1/p' err)
ok "events were lost, and it says how many" test "${lost:-0}" -gt 0
has "and what helps" err 'use a larger --trace-buffer \(4M\)'
run "$dump" -i l.data
is "each of them is in the stream" \
	"$(sed -nE 's/^.*lost: +([0-9]+) kernel events$/\1/p' out |
		awk '{ n += $1 } END { print n + 0 }')" "$lost"
has "and on stderr" err "lost $lost kernel events"

# Many events: how to get a smaller trace
run "$xsprof" record -e sched --syscalls --trace-buffer 64M -o l.data -- \
	dd if=/dev/zero of=/dev/null bs=1 count=400000
large=" MB of kernel events: to convert a part, 'xsprof dump' with --from and --to; "
large+="to record less, "
has "many events: what makes the trace smaller" err "$large--duration, --filter-tree "
run "$xsprof" record -e sched --syscalls --filter-tree --trace-buffer 64M -o l.data -- \
	dd if=/dev/zero of=/dev/null bs=1 count=400000
has "and with --filter-tree" err "$large--duration, or fewer events \\(-e\\)\$"
run "$xsprof" record -e sched -o l.data -- true
hasnt "of few there is no word" err 'to convert a part'
rm -f l.data*

# Only the command's events
run "$xsprof" record -q -e sched --syscalls --filter-tree -o f.data -- \
	sh -c 'sleep 0.02; (sleep 0.02); true'
run "$dump" -i f.data --name 'sys_*'
ok "--filter-tree: the command's system calls" test -s out
sed -nE 's/^ *(.*)-[0-9]+ +\[.*/\1/p' out | sort -u >comms
hasnt "--filter-tree: nobody else's" comms '^(bash|systemd|kworker.*)$'
run "$dump" -i f.data --name sched_process_exit
ok "--filter-tree: of what it forked too" test "$(wc -l <out)" -ge 3

# Errors
run "$xsprof" record -e sched_swich -o e.data -- true
is "an unknown event: 2" $rc 2
has "and which was meant" err "^xsprof: -e sched_swich: .*did you mean sched_switch"
ok "nothing was made" test ! -e e.data
run "$xsprof" record -e shced:sched_switch -- true
is "a system that does not exist: 2" $rc 2
has "and which was meant" err ": did you mean sched:sched_switch\?"
run "$xsprof" record -e shed -- true
is "a system misspelt: 2" $rc 2
has "and which was meant" err "^xsprof: -e shed: .*did you mean sched\?"
run "$xsprof" record -e sched,irk -o e.data -- true
is "one of several that does not exist: 2" $rc 2
has "and which was meant" err "^xsprof: -e irk: .*did you mean irq\?"
ok "nothing was made of the others" test ! -e e.data
run "$xsprof" record -q -e sched,task_rename,raw_syscalls:* -o e.data -- sh -c '(:); sleep 0.01'
is "several with commas: 0" $rc 0
run "$dump" -i e.data
for event in sched_switch sched_process_fork task_rename sys_enter; do
	has "several with commas: $event" out " $event: "
done
for event in sched, ,sched sched,,irq , sched,:; do
	run "$xsprof" record -e "$event" -o none.data -- true
	is "-e $event: 2" $rc 2
done
ok "nothing was made of these" test ! -e none.data
run "$xsprof" record -e nosuchsystem:nosuchevent -- true
is "an unknown system: 2" $rc 2
run "$xsprof" record -e sched --trace-clock local -- true
is "a clock that cannot be compared: 2" $rc 2
has "and why" err "other clocks cannot be compared with that of markers"
run "$xsprof" record --filter-tree -- true
is "--filter-tree of nothing: 2" $rc 2
run "$xsprof" record -e '' -- true
is "an empty event: 2" $rc 2
is "no instance of all that" "$(instances)" 0

# Events that tracefs has but refuses to enable: here the folder of one system shows ten that an
# instance lacks, in a mount namespace of its own.
refusing()
{
	unshare --mount --propagation private sh -c '
		d='$tracing'/events/irq
		mount -t tmpfs none $d && touch $d/enable || exit 99
		for i in 0 1 2 3 4 5 6 7 8 9; do
			mkdir $d/xsprof_refused_$i
			touch $d/xsprof_refused_$i/enable $d/xsprof_refused_$i/format
		done
		exec "$@"' sh "$@"
}
if refusing true 2>err; then
	refused='irq:xsprof_refused_3: not recorded: the kernel cannot enable this event: No such'
	run refusing "$xsprof" record -e irq:xsprof_refused_3 -e sched -o r.data -- \
		sh -c '(true); exit 3'
	is "an event that is not enabled: the command's status" $rc 3
	is "one line says which and why" "$(grep -c "^xsprof: $refused" err)" \
		"$(grep -c refused err)"
	has "the others are recorded" err '^\[ xsprof record: [1-9][0-9]* kernel events on'
	run "$dump" -i r.data
	is "and decoded" $rc 0
	has "as they are" out ' sched_process_fork: '
	run "$xsprof" info -i r.data
	has "the capture says it too" out "^note +$refused"
	run refusing "$xsprof" record -e 'irq:xsprof_*' -e sched_switch -o r.data -- true
	is "of many that are not enabled, eight by name" \
		"$(grep -c '^xsprof: irq:xsprof_ref' err)" 8
	has "and how many more" err '^xsprof: 2 more events that the kernel cannot enable'
	has "and the others are recorded" err ' kernel events on [0-9]+ CPUs'
	run refusing "$xsprof" record -e irq:xsprof_refused_3 -o r.data -- sh -c 'exit 4'
	is "no event is enabled: the command's status" $rc 4
	has "which and why" err "^xsprof: $refused"
	has "and that nothing is left" err '^xsprof: no kernel events are recorded: '
	hasnt "and the instance is not held" err 'cannot be removed'
	is "none is left behind" "$(instances)" 0
else
	skip "events that are not enabled" "no mount namespace here: $(cat err)"
fi

# The pid of a recorder in another pid namespace is unknown here
if unshare --pid --fork --mount-proc true 2>err; then
	# The shell's commands in the background would ignore SIGINT.
	env --default-signal=INT "$xsprof" record -q -e sched -o ns1.data -- sleep 31.28 \
		2>err.ns &
	recorder=$!
	wait_for sh -c "ls $tracing/instances | grep -q '^xsprof-$recorder-'"
	run unshare --pid --fork --mount-proc "$xsprof" record -q -o ns2.data -- true
	hasnt "a recorder in another pid namespace is not ended" err 'left by an ended recorder'
	is "and keeps its instance" "$(instances)" 1
	kill -INT $recorder
	wait $recorder
	is "until it ends" "$(instances)" 0
else
	skip "a recorder in another pid namespace" "no pid namespaces here: $(cat err)"
fi

# One recorder takes it for dead each time, and removes what it may
removed=0
for i in 1 2 3; do
	"$xsprof" record -e sched -o m.data -- sh -c 'exit 5' >out 2>err &
	recorder=$!
	while kill -0 $recorder 2>/dev/null; do
		rmdir $tracing/instances/xsprof-$recorder-* 2>/dev/null && removed=$((removed + 1))
	done
	wait $recorder
	is "run $i beside who removes instances: recorded" \
		"$? $(grep -c ' kernel events on' err)" '5 1'
	hasnt "run $i: no word of it" err '^xsprof: (no kernel events|.*cannot be removed)'
done
echo "# removed $removed times"

# The recorder is killed
"$xsprof" record -q -e sched -o k.data -- sh -c 'sleep 0.3; exec sleep 31.27' 2>err &
recorder=$!
wait_for test "$(instances)" -ge 0
wait_for sh -c "ls $tracing/instances | grep -q '^xsprof-$recorder-'"
wait_for test -s k.data
sleep 0.2
kill -KILL $recorder
wait $recorder 2>/dev/null
pkill -f 'exec sleep 31.27' 2>/dev/null
pkill -x -f 'sleep 30' 2>/dev/null
is "its instance is still there" "$(instances)" 1
run "$xsprof" record -q -o k2.data -- true
is "and gone after the next recording of any kind" "$(instances)" 0
run "$dump" -q -i k.data
is "what it wrote is decoded, with the status of a cut file" $rc 3

# A thread that ended long before its process was killed has no open ranges then
run "$xsprof" record -q -e sched -o g.data -- "$BUILD/tests/tools/open" tids gone
run "$xsprof" report g.data
is "what a thread was in ended with it" \
	"$(grep -c 'was in fetch for [0-9.]* [mun]*s (in batch) when the thread ended$' out)" 1
is "and what others were in when the process was killed" \
	"$(grep -c 'was in .* when killed by SIGKILL$' out)" 3
run "$xsprof" report --json g.data
python3 - out >err 2>&1 <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
gone = [t for t in r["open_at_end"] if t["thread_ended"]]
assert len(gone) == 1 and [x["name"] for x in gone[0]["ranges"]] == ["batch", "fetch"], gone
assert all(x["open_ns"] < 1_500_000_000 for x in gone[0]["ranges"]), gone
END
is "in JSON as well" "$? $(cat err)" "0 "
for format in chrome kineto ndjson; do
	run "$dump" -f $format -i g.data
	is "$format: two ranges ended with their thread" \
		"$(grep -o '"thread_ended":true' out | wc -l)" 2
done

# A user without the permission
if command -v setpriv >err; then
	chmod 755 . "$shm"
	chmod 1777 "$shm"
	mkdir -m 1777 public
	cp "$xsprof" public/xsprof
	run env TMPDIR=/tmp setpriv --reuid 65534 --regid 65534 --clear-groups \
		public/xsprof record -e sched -o public/n.data -- sh -c 'exit 7'
	is "not root: the command runs, and its status is returned" $rc 7
	has "one line says what is missing" err \
		'^xsprof: no kernel events are recorded: .*: needs root'
	run "$xsprof" info -i public/n.data
	has "and so does the capture" out '^note .*no kernel events are recorded'
else
	skip "not root" "no setpriv"
fi
finish
