#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# selftest.sh [KERNEL]: tests the guest runner with the kernel arm64 (default) or one of kernels.sh:
# what it must pass on, and that no way in which a guest can end looks like a pass by mistake. TAP;
# exit status 0, 1, or 77 where there are no guests. Tests that do not depend on the kernel run with
# arm64; with the others only in tier full.

set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/../common/tap.sh"
. "$here/kernels.sh"
cross=${CROSS_COMPILE:-aarch64-linux-gnu-}
kernel=${1:-arm64}
all=
[ "$kernel" != arm64 ] && [ "${XSPROF_TIER:-quick}" != full ] || all=y

# check NAME WANTED GOT
check()
{
	correct "$1" "$([ "$2" = "$3" ] ||
		printf '%s\n' "wanted: ${2//$'\n'/\\n}" "got: ${3//$'\n'/\\n}")"
}

guest()
{
	"$here/boot.sh" --kernel "$kernel" "$@"
}

# The first boot shows whether this machine can run a guest at all.
out=$(guest -- true 2>&1)
status=$?
if [ $status -eq 77 ]; then
	echo "$out"
	exit 77
fi
check "exit status 0" "0 " "$status $out"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# One boot tests both streams, their bytes, the arguments and the files.
printf 'a\r\nb\0c\377' > "$work/bytes"
printf '#!/bin/sh\ncat bytes; for i; do echo "[$i]" >&2; done; exit 3\n' > "$work/script"
chmod +x "$work/script"
guest "$work/bytes" "$work/script" -- ./script "it's" 'two  words' '' \
	> "$work/out" 2> "$work/err"
check "exit status 3" 3 $?
check "standard output to the byte" "" "$(cmp "$work/out" "$work/bytes" 2>&1)"
check "arguments, and standard error apart" $'[it\'s]\n[two  words]\n[]' "$(cat "$work/err")"

guest -- sh -c 'echo c > /proc/sysrq-trigger; sleep 60' 2> "$work/err"
check "panic: 125" 125 $?
check "panic: the console is shown" 1 "$(grep -c 'Kernel panic - not syncing' "$work/err")"
# Half a verdict does not count: here the leaving code alone (3 stands for status 0).
guest -- leave 3 2> /dev/null
check "leaving code without a written verdict: 125" 125 $?

# ends: tests more ways in which a guest or its emulator can end
ends()
{
	local boot limit

	guest -- sh -c 'exit 6'
	check "exit status 6" 6 $?
	guest -- sh -c 'head -c 3000000 /dev/zero; kill -SEGV $$' 2> /dev/null | cksum > "$work/sum"
	check "a command killed by a signal: 128 and its number" 139 "${PIPESTATUS[0]}"
	check "3 MB of output" "$(head -c 3000000 /dev/zero | cksum)" "$(cat "$work/sum")"
	guest -- poweroff -f 2> /dev/null
	check "power off: 125" 125 $?
	guest --limit 6 -- sleep 100 2> /dev/null
	check "past its limit: 124" 124 $?

	XSPROF_VM_BOOT_LIMIT=5 guest --append 'panic=0 rdinit=/bin/sh' -- true 2> "$work/err"
	check "a kernel that hangs before: 125, after three of them" "125 3" \
		"$? $(grep -c 'hung before its first program' "$work/err")"

	# An emulator that dies each time: its guests give no verdict.
	"$here/boot.sh" --kernel "$kernel" --limit 60 -- sleep 100 2> "$work/err" &
	boot=$!
	while kill -0 $boot 2> /dev/null; do
		for limit in $(pgrep -P $boot -x timeout); do
			pkill -ABRT -P "$limit"
		done
		sleep 0.3
	done
	wait $boot
	check "an emulator that dies: 125, after three of them" "125 2" \
		"$? $(grep -c 'ended by signal 6.*: another guest' "$work/err")"

	# A verdict that contradicts the code, then one with another run's nonce.
	guest -- sh -c 'echo "$(cat /nonce) 0" > /dev/ports/verdict; leave 5' 2> /dev/null
	check "written verdict and leaving code disagree: 125" 125 $?
	guest -- sh -c 'echo "0123456789abcdef 0" > /dev/ports/verdict; leave 3' 2> /dev/null
	check "verdict of another run: 125" 125 $?
}
[ -z "$all" ] || ends

guest "$work/absent" -- true 2> /dev/null
check "a file that is not there: 2" 2 $?
XSPROF_VM_DIR=$work/empty CROSS_COMPILE=no-such- CC=no-such-gcc \
	"$here/boot.sh" --kernel "$kernel" -- true > "$work/out" 2>&1
check "no compiler: 77" 77 $?
check "and the reason" "1..0 # SKIP boot.sh: no-such-gcc is not installed" "$(cat "$work/out")"

# A machine whose apt has no sources: downloads nothing, leaves no partial tree.
printf 'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "/dev/null";\n' > "$work/apt.conf"
XSPROF_VM_DIR=$work/empty APT_CONFIG=$work/apt.conf \
	"$here/boot.sh" --kernel "$kernel" -- true > "$work/out" 2>&1
check "no packages to be had: 77" 77 $?
check "and the reason, as TAP" 1 "$(grep -c '^1\.\.0 # SKIP boot.sh: .*linux-image' "$work/out")"
check "and no tree" "" "$(ls -d "$work/empty/trees/$kernel" 2> /dev/null)"

# gate: dmesg-gate.sh on logs with and without complaints, without a guest.
gate()
{
	printf '[    1.000000] %s\n' 'Linux version 6.1' "$@" '[ end' > "$work/log"
	"$here/dmesg-gate.sh" "$work/log" > /dev/null 2>&1
	echo $?
}

check "gate: an ordinary log" 0 "$(gate 'BUGS: none' 'Warning: unsafe' 'refcount is 1')"
while read -r line; do
	check "gate: $line" 1 "$(gate "$line")"
done << 'END'
WARNING: CPU: 0 PID: 1 at kernel/x.c:1 f+0x1/0x2
WARNING: possible circular locking dependency detected
WARNING: suspicious RCU usage
BUG: KASAN: slab-out-of-bounds in f+0x1/0x2 [xsprof]
BUG: sleeping function called from invalid context at x.c:1
BUG: unable to handle page fault for address: ffffc90000000000
UBSAN: shift-out-of-bounds in x.c:1:1
kmemleak: 1 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
ODEBUG: free active (active state 0) object type: timer_list
refcount_t: addition on 0; use-after-free.
list_add corruption. prev->next should be next
INFO: task x:1 blocked for more than 120 seconds.
Internal error: Oops: 0000000096000004 [#1] SMP
klog: the kernel overwrote messages before they were read
END

# ghost: ghost.sh on logs of kernels killed by their emulator and of others.
ghost()
{
	printf '[    1.000000] %s\n' 'Linux version 6.1' "$@" > "$work/log"
	"$here/ghost.sh" "$work/log"
	echo $?
}

check "ghost: an int3 that is not there" 0 "$(ghost 'Oops: int3: 0000 [#1] SMP NOPTI' \
	'RIP: 0010:f+0x1f0/0x460 [xsprof]' 'Code: e9 21 ff ff ff 66 <90> 31 c0' \
	'Oops: int3: 0000 [#2] SMP NOPTI' 'Code: e9 cc <90> 31 c0')"
check "ghost: as older kernels word it" 0 "$(ghost 'int3: 0000 [#1] PREEMPT SMP' \
	'Code: e9 21 ff ff ff 0f <1f> 44 00')"
check "ghost: an int3 that is there" 1 "$(ghost 'Oops: int3: 0000 [#1] SMP NOPTI' \
	'Code: e9 21 ff ff ff cc <90> 31 c0')"
check "ghost: another oops before it" 1 "$(ghost 'BUG: unable to handle page fault' \
	'Oops: 0000 [#1] SMP' 'Code: 66 <90>' 'Oops: int3: 0000 [#2] SMP' 'Code: 66 <90>')"
check "ghost: no oops" 1 "$(ghost hello)"
: > "$work/log"
"$here/dmesg-gate.sh" "$work/log" 2> /dev/null
check "gate: no log is no pass" 2 $?
check "gate: a failure that was asked for has a trace" 0 "$(gate \
	'FAULT_INJECTION: forcing a failure.' 'CPU: 0 PID: 1' 'Call Trace:' ' <TASK>' \
	' f+0x1/0x2' ' </TASK>')"
check "gate: a process killed for its cgroup's limit has a trace" 0 "$(gate \
	'x invoked oom-killer: gfp_mask=0x1' 'Call Trace:' ' <TASK>' ' </TASK>' \
	'Memory cgroup out of memory: Killed process 1 (x)')"
check "gate: one killed for want of memory" 1 "$(gate 'Out of memory: Killed process 1 (x)')"
check "gate: and hides nothing after it" 1 "$(gate \
	'FAULT_INJECTION: forcing a failure.' 'Call Trace:' ' </TASK>' 'BUG: KASAN: x')"
line='=================================================================='
check "gate: a race in the module" 1 "$(gate "$line" 'BUG: KCSAN: data-race in f / g' \
	'read to 0x1 of 8 bytes by task 1 on cpu 0:' ' f+0x1/0x2 [xsprof]' "$line")"
check "gate: one of the kernel's own" 0 "$(gate "$line" 'BUG: KCSAN: data-race in f / g' \
	'read to 0x1 of 8 bytes by task 1 on cpu 0:' ' f+0x1/0x2' "$line")"
check "gate: one far below the module" 0 "$(gate "$line" 'BUG: KCSAN: data-race in f / g' \
	'read to 0x1 of 8 bytes by task 1 on cpu 0:' ' f+0x1/0x2' ' g+0x1/0x2' ' h+0x1/0x2' \
	' i+0x1/0x2 [xsprof]' "$line")"
# queued MARK FUNCTION: prints a KCSAN report: the module queues work whose flags FUNCTION reads
queued()
{
	gate "$line" 'BUG: KCSAN: data-race in f / g' \
		" read-write$1 to 0x1 of 8 bytes by task 1 on cpu 1:" ' f+0x1/0x2' \
		' mod_delayed_work_on+0x1/0x2' ' h+0x1/0x2 [xsprof]' '' \
		' read to 0x1 of 8 bytes by task 2 on cpu 0:' " $2+0x1/0x2" "$line"
}
check "gate: the flags of a work that is taken" 0 "$(queued ' (marked)' process_one_work)"
check "gate: unmarked" 1 "$(queued '' process_one_work)"
check "gate: and where the thread looks again" 0 "$(queued ' (marked)' worker_thread)"
check "gate: and where another caller queues it" 0 "$(queued ' (marked)' __queue_work)"
check "gate: unmarked, likewise" 1 "$(queued '' __queue_work)"
check "gate: read by another" 1 "$(queued ' (marked)' g)"
# capable WRITER READER: the same: the module uses a capability, READER runs in an interrupt
capable()
{
	gate "$line" 'BUG: KCSAN: data-race in f / g' \
		' read to 0x1 of 4 bytes by interrupt on cpu 1:' \
		" $2" ' handle_softirqs+0x1/0x2' ' irq_exit_rcu+0x1/0x2' '' \
		' write to 0x1 of 4 bytes by task 2 on cpu 1:' " $1+0x1/0x2" \
		' h+0x1/0x2 [xsprof]' "$line"
}
check "gate: the flags of a task that uses a capability" 0 \
	"$(capable ns_capable_noaudit rcu_core+0x1/0x2)"
check "gate: written by another" 1 "$(capable f rcu_core+0x1/0x2)"
check "gate: read by the module" 1 "$(capable ns_capable_noaudit 'g+0x1/0x2 [xsprof]')"
# statistics WRITER READER: the same: the module frees memory, a task does too
statistics()
{
	gate "$line" 'BUG: KCSAN: data-race in f / g' \
		' write to 0x1 of 4 bytes by task 1 on cpu 0:' " $1+0x1/0x2" \
		' kvfree_call_rcu+0x1/0x2' ' h+0x1/0x2 [xsprof]' '' \
		' read to 0x1 of 4 bytes by task 2 on cpu 0:' " $2+0x1/0x2" "$line"
}
check "gate: statistics of debug objects" 0 \
	"$(statistics debug_object_activate debug_check_no_obj_freed)"
check "gate: written by another" 1 "$(statistics f debug_check_no_obj_freed)"
check "gate: read by another" 1 "$(statistics debug_object_activate f)"

# restartable: arm64: is there rseq, and would a broken sequence be noticed?
restartable()
{
	# Runs rseq-count in the guest. The broken sequence leaves one instruction for an interrupt
	# to fall on: with one instruction per block, about ten do in all these rounds.
	"${cross}gcc" -O2 -static -pthread -o "$work/rseq-count" "$here/rseq-count.c" &&
	"${cross}gcc" -O2 -static -pthread -DBROKEN -o "$work/rseq-broken" "$here/rseq-count.c"
	check "rseq programs build" 0 $?
	guest "$work/rseq-count" -- ./rseq-count 16 1000000
	check "glibc registers rseq, and sequences restart: exact" 0 $?
	guest --one-insn "$work/rseq-count" "$work/rseq-broken" -- sh -c \
		'./rseq-count 16 250000; echo "exact: $?" >&2
		 for try in 1 2 3 4; do
			./rseq-broken 16 500000
			status=$?
			[ $status = 0 ] || break
		 done
		 echo "broken: $status" >&2' 2> "$work/err"
	check "with one instruction per block: exact, and a sequence one store short is caught" \
		$'exact: 0\nbroken: 1' "$(cat "$work/err")"
}

# replaced CANARY BUG: runs a guest that CANARY makes lock up or sleep, as a fault of QEMU does.
# boot.sh's messages go to $work/err; ends when it says that it starts another guest.
replaced()
{
	local boot

	# The previous run's messages must not end the loop below.
	: > "$work/err"
	XSPROF_VM_LOCKUP=4 "$here/boot.sh" --kernel "$kernel" "$1" -- \
		insmod ./canary.ko bug="$2" 2> "$work/err" &
	boot=$!
	while kill -0 $boot && ! grep -q 'another guest' "$work/err"; do
		sleep 0.3
	done 2> /dev/null
	kill $boot 2> /dev/null
	wait $boot
}

# hangs: tests the part of tests/kmod that runs the programs, with a program that never ends
hangs()
{
	local module

	module=$("$here/module.sh" "$kernel" | tail -n 1)
	printf '#!/bin/sh\nmkfifo /tmp/never && read line < /tmp/never\n' > "$work/hang"
	printf '#!/bin/sh\nexit 0\n' > "$work/fine"
	chmod +x "$work/hang" "$work/fine"
	{
		echo 'export XSPROF_PROGRAM_LIMIT=2'
		cat "$here/../kmod/guest-run"
		printf '%s\n' 'run hang' 'run fine' finish
	} > "$work/run"
	guest --no-gate --dmesg "$work/dmesg" "$module" "$work"/{hang,fine,run} -- sh ./run
}

# modules: x86: modules, libraries, clocks, kernel text patched with two CPUs, and bugs of a module
# that must not pass.
modules()
{
	local canary toggle clocks

	mkdir -p "$work/canary" && cp "$here/canary.c" "$work/canary/" &&
	echo 'obj-m := canary.o' > "$work/canary/Kbuild"
	canary=$("$here/module.sh" --source "$work/canary" "$kernel" "$work/built" | tail -n 1)
	check "a module builds" canary.ko "${canary##*/}"
	guest --module "$canary" -- sh -c 'lsmod | grep -q ^canary' 2> /dev/null
	check "a module that cannot be loaded: insmod's status" 22 $?
	guest "$canary" -- insmod ./canary.ko bug=refcount 2> "$work/err"
	check "the command passes and the kernel warns: 126" 126 $?
	check "and the warning is shown" 1 "$(grep -c 'refcount_t: addition on 0' "$work/err")"
	guest --no-gate --dmesg "$work/dmesg" "$canary" -- insmod ./canary.ko bug=refcount
	check "without the gate: 0" 0 $?
	check "and the warning is in the log" 1 \
		"$(grep -c 'refcount_t: addition on 0' "$work/dmesg")"
	guest "$canary" -- insmod ./canary.ko bug=vmalloc 2> /dev/null
	check "an oops: 125" 125 $?
	XSPROF_VM_LOCKUP=4 guest "$canary" -- insmod ./canary.ko bug=lockup 2> "$work/err"
	check "a CPU that is locked up: 125" 125 $?
	check "and the reason, with what that CPU did" "1 1" "$(grep -c \
		'has had its interrupts off for 4 s: .*(lockup.sh)' "$work/err") $(grep -cm 1 \
		'^.* RIP: 0010:bug_lockup+' "$work/err")"
	XSPROF_VM_LOCKUP=3 guest "$canary" -- insmod ./canary.ko bug=busy
	check "a CPU that is busy with interrupts off most of the time: 0" 0 $?
	replaced "$canary" ghost
	check "one that its emulator has locked up: another guest" 1 \
		"$(grep -c 'runs a breakpoint .* (lockup.sh): another guest' "$work/err")"
	replaced "$canary" asleep
	check "one whose timers have stopped: another guest, and how its timers stand" 1 \
		"$(grep -c 'no timer has fired for 16 s; CPU 0: LVTT .* masked .*): another guest' \
			"$work/err")"
	XSPROF_VM_LOCKUP=4 guest -- sleep 25
	check "a command that sleeps longer than that: 0" 0 $?
	hangs > "$work/out" 2> "$work/err"
	check "a program of the module's tests that does not end: where it was, and the others" \
		"hang: no end within 2 s;fifo_open;passed: fine;unloaded;Show backtrace" \
		"$(grep -oE 'hang: no end within 2 s|fifo_open|passed: .*|unloaded' "$work/out" |
			uniq | tr '\n' ';')$(grep -om 1 'Show backtrace' "$work/dmesg")"
	toggle='cd /sys/kernel/tracing/events; for i in 1 2 3 4 5 6 7 8 9 10; do
		echo 1 > sched/enable; echo 1 > syscalls/enable
		echo 0 > syscalls/enable; echo 0 > sched/enable; done
		cd /t; ./cut --version | head -n 1'
	clocks='cat /sys/devices/system/clocksource/clocksource0/current_clocksource'
	check "tracepoints on and off with 2 CPUs, a dynamic program and its libraries, clock tsc" \
		"$(cut --version | head -n 1)"$'\ntsc' \
		"$(guest --clock tsc --with-libs /usr/bin/cut -- sh -c "$toggle; $clocks" 2>&1)"
	# What happens without --with-libs: there is no loader, so "not found".
	check "a dynamic program alone, clock hpet" $'127\nhpet' "$(guest --clock hpet \
		/usr/bin/cut -- sh -c "./cut --version > /dev/null 2>&1; echo \$?; $clocks" 2>&1)"
}

case $kernel in
arm64) restartable ;;
*) modules ;;
esac

finish
