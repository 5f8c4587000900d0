#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lockup.sh RUN SECONDS: ends an x86 guest in which a CPU is locked up, or in which all CPUs sleep
# for ever, and prints why.
#
# Watches the guest of the folder RUN (guest.sh) through QEMU's monitor, the pipe RUN/mon. While the
# guest writes nothing, it samples the registers of each CPU. When a CPU was in the kernel and not
# halted in every sample of SECONDS, it has QEMU log the interrupts and exceptions that it delivers
# for a moment, with the registers at each. The log tells apart:
#
# - the emulator's fault: the CPU takes int3 again and again at an address where memory has another
#   byte (ghost.sh has the cause). Linux 6.1 takes this for a breakpoint that another CPU has just
#   removed, and runs the instruction again, for ever; later kernels (8e791f7eba4c) die. "ghost: "
#   and the place go to the file RUN/lockup, and QEMU ends.
# - the kernel's fault: the CPU had its interrupts off in every sample and in the log. The reason
#   goes to RUN/lockup. An NMI, which the kernel's command line turns into a panic with a backtrace
#   of each CPU, ends the guest; if it does not, QEMU ends 15 s later.
#
# Otherwise the CPU is busy, and the watch goes on.
#
# klog.c writes an empty line to RUN/kmsg every 10 s, by a timer. When that stops, and every CPU is
# halted in every sample of four times SECONDS, the emulated machine has lost its timers'
# interrupts, as happens now and then. "asleep: " and the state of the timers go to RUN/lockup, and
# the NMI ends the guest. vm_watch() finds a guest that hangs before its first program.
set -u
[ $# = 2 ] || { echo "usage: lockup.sh RUN SECONDS" >&2; exit 2; }
run=$1 seconds=$2
step=$(((seconds + 14) / 15))
exec 5<> "$run/mon.in" 6<> "$run/mon.out" || exit

# ask JSON: runs a command of QMP, sets $answer to the line that it returned; false if there is
# none. Skips lines of events.
ask()
{
	printf '%s\n' "$1" >&5
	while read -r -t 5 answer <&6; do
		case $answer in
		'{"return"'*) return 0 ;;
		'{"error"'*) return 1 ;;
		esac
	done
	return 1
}

# monitor LINE [CPU]: runs a command of the human monitor, with CPU current, prints its output
monitor()
{
	ask "{\"execute\": \"human-monitor-command\", \"arguments\":
		{\"command-line\": \"$1\"${2:+, \"cpu-index\": $2}}}" || return
	answer=${answer#*'"return": "'}
	answer=${answer%'"}'*}
	printf '%s\n' "${answer//'\r\n'/$'\n'}"
}

# registers: reads QEMU's register dumps, and prints "CPU CPL HALTED IRQS-OFF GS" for each. In the
# kernel each CPU has its own base of GS, which identifies the CPU in a log of all.
registers()
{
	awk '
		/^CPU#/ { cpu = substr($1, 5) }
		/^RIP=/ {
			match($0, /RFL=[0-9a-f]+/)
			off = index("014589cd", substr($0, RSTART + RLENGTH - 3, 1)) > 0
			match($0, /CPL=[0-9]/)
			cpl = substr($0, RSTART + 4, 1)
			halted = /HLT=1/ ? 1 : 0
		}
		/^GS / { print cpu == "" ? "-" : cpu, cpl, halted, off, $3 }'
}

# written: prints how many bytes the guest has written up to now, without klog's empty lines
written()
{
	stat -c %s "$run"/{said,said.err,console} 2> /dev/null | tr '\n' ' '
	tr -d '\n' < "$run/kmsg" 2> /dev/null | wc -c
}

# sample: counts, per CPU, the consecutive samples in which it was in the kernel, and in which it
# had interrupts off there, and those in which all CPUs were halted; false if QEMU does not answer.
sample()
{
	local cpu cpl halted off gs text all=1

	text=$(monitor 'info registers -a') || return
	while read -r cpu cpl halted off gs; do
		[ "${base[cpu]:-}" = "$gs" ] || kernel[cpu]=0 masked[cpu]=0 base[cpu]=$gs
		[ "$halted" = 1 ] || all=0
		[ "$cpl$halted" = 00 ] || off=0 cpl=3
		kernel[cpu]=$((cpl == 0 ? ${kernel[cpu]:-0} + 1 : 0))
		masked[cpu]=$((off == 1 ? ${masked[cpu]:-0} + 1 : 0))
	done < <(registers <<< "$text")
	asleep=$((all == 1 ? asleep + 1 : 0))
}

# timers: prints the state of each CPU's local APIC: its timer and its pending interrupts
timers()
{
	local cpu

	for cpu in "${!kernel[@]}"; do
		echo "CPU $cpu:" "$(monitor "info lapic $cpu" |
			sed 's/\\t/ /g' | grep -E '^(LVTT|Timer|ISR|IRR) ' | tr -s ' \n' ' ')"
	done | paste -sd ' '
}

# end: has the guest's kernel print what each CPU does, and ends the guest
end()
{
	ask '{"execute": "inject-nmi"}'
	sleep 15
	ask '{"execute": "quit"}'
	exit
}

# traffic: has QEMU log interrupts and exceptions to RUN/int for a moment
traffic()
{
	rm -f "$run/int"
	monitor "logfile $run/int" > /dev/null && monitor 'log int' > /dev/null || return
	sleep 0.5
	monitor 'log none' > /dev/null && [ -f "$run/int" ]
}

# ghost CPU: prints the address of an int3 that RUN/int has 20 times in the kernel, where the memory
# as CPU sees it has none; returns false if there is none.
ghost()
{
	local address byte

	address=$(awk '
		/ v=03 / && / i=1 cpl=0 / && match($0, /IP=[0-9a-f]+:[0-9a-f]+/) {
			split(substr($0, RSTART, RLENGTH), ip, ":")
			if (++n[ip[2]] == 20) { print ip[2]; exit }
		}' "$run/int")
	[ -n "$address" ] || return
	byte=$(monitor "x /1xb 0x$address" "$1") || return
	[[ $byte =~ :\ 0x([0-9a-f]{2}) ]] && [ "${BASH_REMATCH[1]}" != cc ] && echo "0x$address"
}

# judge CPU: ends the guest if this CPU, which was in the kernel all the time, is locked up. Checks
# three times, because a busy host may stop the guest during one check.
judge()
{
	local place try samples=$((seconds / step))

	for try in 1 2 3; do
		traffic || return
		if place=$(ghost "$1"); then
			echo "ghost: CPU $1 runs an int3 at $place that memory has not" \
				> "$run/lockup"
			ask '{"execute": "quit"}'
			exit
		fi
		[ "${masked[$1]}" -ge "$samples" ] || return
		registers < "$run/int" | grep -q "^- 0 . 0 ${base[$1]}\$" && return
	done
	echo "CPU $1 has had its interrupts off for $seconds s: an NMI is to end it" \
		> "$run/lockup"
	end
}

ask '{"execute": "qmp_capabilities"}' || exit
kernel=() masked=() base=() before='' asleep=0 beat=''
while sleep "$step" && [ -p "$run/mon.in" ]; do
	now=$(stat -c %s "$run/kmsg" 2> /dev/null)
	[ "$now" = "$beat" ] || asleep=0 beat=$now
	now=$(written)
	if ! [ -s "$run/kmsg" ] || [ "$now" != "$before" ] || ! sample; then
		kernel=() masked=() asleep=0 before=$now
		continue
	fi
	if [ $asleep -ge $((4 * seconds / step)) ]; then
		echo "asleep: no timer has fired for $((4 * seconds)) s; $(timers)" > "$run/lockup"
		end
	fi
	for cpu in "${!kernel[@]}"; do
		[ "${kernel[cpu]}" -lt $((seconds / step)) ] || judge "$cpu"
	done
done
