#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tracers.sh [KERNEL]: Debian's own trace-cmd, perf and bpftrace, in a guest with the module, see
# the markers of a program that knows nothing of them: as many of each kind as it makes, beside
# the scheduler's events. TAP.
#
# The tools are unpacked into the cache of tests/vm, with what they are linked to (350 MB).

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. tests/vm/kernels.sh
. tests/vm/guest.sh
kernel=${1:-6.12}
build=${BUILD:-build}
turns=100
. tests/common/tap.sh

tree=$vm_dir/trees/tracers
mkdir -p "$vm_dir/trees" "$build/kmod" || exit 1
exec {lock}> "$vm_dir/lock-tracers"
flock "$lock"
# All but the C library, which must be of one piece with this machine's loader
deb_tree bookworm "$tree" \
	'lib[abd-z][^=]*|libc[^6=][^=]*|zlib1g|trace-cmd|bpftrace|linux-perf[^=]*' \
	trace-cmd bpftrace linux-perf || vm_skip "$deb_error"
exec {lock}>&-
source=$(tests/vm/fetch.sh source) || { echo "$source"; exit 77; }
source=${source#source }
module=$(tests/vm/module.sh "$kernel" 2> "$build/kmod/tracers.log")
case $? in
0) module=$(tail -n 1 <<< "$module") ;;
77) echo "$module"; exit 77 ;;
*)
	tap_line 1 "the module builds" "$(cat "$build/kmod/tracers.log")"
	finish ;;
esac
flock "$build/.kmod-lock" env -u MAKEFLAGS -u MFLAGS make -s BUILD="$build" SAN= \
	KSELFTEST_DIR="$source/tools/testing/selftests" "$build/tests/kmod/markers" || exit 1
work=$(mktemp -d "$build/kmod/tracers.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# Each part says on lines of its own, "PART EVENT COUNT", what the tool has seen.
cat > "$work/guest" << 'END'
export XSPROF_BACKEND=device XSPROF_TEST_TURNS=TURNS PYTHONHOME=/none PAGER=cat
count() { awk -v part=$1 '{ n[$1]++ } END { for (k in n) print "#=", part, k, n[k] }'; }

./trace-cmd record -b 16384 -e xsprof -e sched -o /tmp/t ./markers > /tmp/record 2>&1 ||
	{ echo "# trace-cmd: $?"; tail -n 5 /tmp/record | sed 's/^/# /'; }
./trace-cmd report -i /tmp/t 2> /dev/null > /tmp/report
# COMM-PID [CPU] TIME: EVENT: ...
sed -nE 's/^ .*\[[0-9]+\] +([a-zA-Z.]+ +)?[0-9.]+: (xsp_)?([a-z_]+): .*/\3/p' /tmp/report |
	count trace-cmd
grep -m 1 ' xsp_begin:' /tmp/report | sed 's/^/# trace-cmd: /'
grep -m 1 ' xsp_counter:' /tmp/report | sed 's/^/# trace-cmd: /'
grep -c ' xsp_begin: .*a range category=some-category ticks=[1-9]' /tmp/report |
	sed 's/^/#= trace-cmd named /'
# The bits of 0.25
grep -c ' xsp_counter: .*a thing=4598175219545276416 double=1 category=some-category' /tmp/report |
	sed 's/^/#= trace-cmd double /'
rm -f /tmp/t /tmp/report

./perf record -q -m 4096 -e 'xsprof:*' -a -o /tmp/p ./markers > /tmp/record 2>&1 ||
	{ echo "# perf: $?"; tail -n 5 /tmp/record | sed 's/^/# /'; }
./perf script -i /tmp/p 2> /dev/null > /tmp/report
sed -nE 's/.*[0-9.]+: +xsprof:xsp_([a-z_]+): .*/\1/p' /tmp/report | count perf
grep -c 'xsprof:xsp_begin: a range category=some-category ticks=[1-9]' /tmp/report |
	sed 's/^/#= perf named /'
rm -f /tmp/p /tmp/report

cat > /tmp/b.bt << 'BT'
tracepoint:xsprof:xsp_begin { @begin = count(); }
tracepoint:xsprof:xsp_begin /str(args->name) == "a range"/ { @named = count(); }
tracepoint:xsprof:xsp_end { @end = count(); }
tracepoint:xsprof:xsp_instant { @instant = count(); }
tracepoint:xsprof:xsp_counter { @counter = count(); }
tracepoint:xsprof:xsp_complete { @complete = count(); }
tracepoint:sched:sched_switch { @sched_switch = count(); }
BT
./bpftrace -q -c ./markers /tmp/b.bt > /tmp/report 2> /tmp/error || echo "# bpftrace: $?"
sed 's/^/# bpftrace: /' /tmp/error
sed -nE 's/^@([a-z_]+): ([0-9]+)$/#= bpftrace \1 \2/p' /tmp/report

# And afterwards no tracer is left: a program makes events no longer.
./markers
sed -n 's/^/#= off users /p' /sys/kernel/tracing/events/xsprof/enable
exit 0
END
sed -i "s/TURNS=TURNS/TURNS=$turns/" "$work/guest"
library=$tree/usr/lib/x86_64-linux-gnu:$tree/lib/x86_64-linux-gnu
LD_LIBRARY_PATH=$library tests/vm/boot.sh --kernel "$kernel" --mem 2G --limit 900 --with-libs \
	--module "$module" "$build/tests/kmod/markers" "$work/guest" \
	"$tree"/usr/bin/{trace-cmd,perf,bpftrace} -- sh ./guest > "$work/out" 2> "$work/err"
status=$?
[ $status -ne 77 ] || { cat "$work/out"; exit 77; }
sed 's/^/# /' "$work/out" "$work/err"
result "$kernel: the guest came to its end, and the kernel does not complain" $status

seen()	# PART EVENT: how many
{
	sed -n "s/^#= $1 $2 //p" "$work/out"
}

# In one turn of the program, of five threads; a signal's instants come on top.
for part in trace-cmd perf bpftrace; do
	for event in begin=2 end=2 counter=2 complete=2 named=1; do
		[ "$(seen $part "${event%=*}")" = $((${event#*=} * turns * 5)) ]
		result "$kernel: $part: each ${event%=*} is an event" $?
	done
	[ "$(seen $part instant)" -ge $((4 * turns * 5)) ] 2> /dev/null
	result "$kernel: $part: each instant is an event" $?
done
[ "$(seen trace-cmd double)" = $((turns * 5)) ]
result "$kernel: trace-cmd: the bits of a double" $?
for part in trace-cmd perf; do
	[ "$(seen $part clock_sync)" -ge 1 ] 2> /dev/null
	result "$kernel: $part: there are sync points" $?
done
for part in trace-cmd bpftrace; do
	[ "$(seen $part sched_switch)" -ge 1 ] 2> /dev/null
	result "$kernel: $part: beside the scheduler's events" $?
done
[ "$(seen off users)" = 0 ]
result "$kernel: nothing is left on" $?
finish
