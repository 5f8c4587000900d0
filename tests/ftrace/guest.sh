# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest, in its shell (busybox): the kernel's events beside markers in rings that the
# module owns, on whichever clock this kernel trusts. TAP. Usage: guest.sh PAIRS
n=0
bad=0
pairs=$1

result() # $1 name, $2 0 when it holds
{
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n $1"
	else
		echo "not ok $n $1"
		sed 's/^/# /' err out 2>/dev/null | tail -n 20
		bad=1
	fi
}

clocks=$(tr -d '[]' </sys/kernel/tracing/trace_clock)
echo "# $(uname -r), $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
for clock in default mono_raw mono boot; do
	given="--trace-clock $clock"
	[ $clock != default ] || given=
	# shellcheck disable=SC2086
	./xsprof record -e sched --irq --trace-buffer 16M -b 8M $given -o p.data -- \
		./pairs "$pairs" >out 2>err
	result "$clock: recorded" $?
	grep -q '^xsprof: rings: /dev/xsprof' err
	result "$clock: the rings are the module's" $?
	./order p.data "$pairs" >out 2>err
	read -r writes wrong worst bound <out
	echo "# $clock: $writes writes, $wrong out of order, worst $worst ns, bound $bound ns"
	echo "# $clock: $(sed -n 2p out)"
	[ "$writes" = "$pairs" ]
	result "$clock: all of them are there" $?
	[ "$wrong" = 0 ]
	result "$clock: none out of order beyond the bound" $?
done
./xsprof info -i p.data >out 2>err
grep -q '^tracer .*clock boot' out
result "info says which clock" $?
./xsprof record -q -e sched --syscalls -o s.data -- sh -c 'sleep 0.1; (true); true' >out 2>err
result "switches and system calls" $?
./xsprof dump -i s.data >out 2>err
for e in sched_switch sched_waking sys_enter sys_exit sched_process_fork; do
	grep -q " $e: " out
	result "$e" $?
done
[ -z "$(ls /sys/kernel/tracing/instances)" ]
result "no instance stays behind" $?
echo "$clocks" >err
./xsprof record -e sched --trace-clock local -- true >out 2>err
[ $? = 2 ]
result "a clock that cannot be compared is refused" $?
echo "1..$n"
exit $bad
