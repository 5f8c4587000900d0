#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# matrix.sh KERNEL [PROGRAM...]: the module and its test programs on one kernel. TAP.
#
# Builds the module and the programs, boots the kernel as seldom as can be, and there loads
# the module and runs what programs.list has for it, or the PROGRAMs named. Each program's
# TAP comes out as it is; to it come a line for its exit status and, at the end of a boot,
# lines for the unloading and for the kernel's log. On the debug kernels (debug, kcsan) the boot
# ends with the canary: if one of its planted bugs is not seen, a clean log means nothing.
#
# A line of programs.list is NAME [ARG...] [@WORD...]. The @WORDs choose the boot:
#
#	@kernels=A,B	on these only		@not=A,B	not on these
#	@clock=C,D	tsc, hpet, default (tsc): a boot of each
#	@smp=N @mem=S			a boot with other than 2 CPUs, 1G
#	@one-insn @one-thread @icount @nodes	a boot with this option of boot.sh
#	@full		in tier full only
#	@half=N		in a run of tier quick that has a turn: on debug, where N, 0 or 1, is
#			what the commit says (turn.sh), else on 6.1; other kernels have both
#
# A program that does not end is killed after 5 minutes (debug: 15; tier full: three times as long),
# and says where it was. All boots together end within 20 minutes (debug: 40), tier full: the same.

set -u
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.." || exit 1
vm=tests/vm
kernel=${1:-}
[ $# -ge 1 ] || { echo "usage: matrix.sh KERNEL [PROGRAM...]" >&2; exit 2; }
shift
only=" $* "
build=${BUILD:-build}
tier=${XSPROF_TIER:-quick}
. tests/common/tap.sh
. tests/common/turn.sh
# With PROGRAMs no half is left out.
[ $# -gt 0 ] && half= || half=$(turn_part 2)
case $kernel:$tier in
debug:full|kcsan:full) program_limit=2700 limit=7200 ;;
*:full) program_limit=900 limit=3600 ;;
debug:*|kcsan:*) program_limit=900 limit=2400 ;;
*) program_limit=300 limit=1200 ;;
esac

bail()
{
	tap_line 1 "$2" "$(cat "$1")"
	finish
}

# chosen OPTION VALUE: what one @WORD says of this kernel, tier and commit
chosen()
{
	case $1:$kernel in
	@half:debug) [ -z "$half" ] || [ "$half" = "$2" ]; return ;;
	@half:6.1) [ "$half" != "$2" ]; return ;;
	@half:*) return ;;
	esac
	case $1 in
	@kernels) [[ ,$2, == *,$kernel,* ]] ;;
	@not) [[ ,$2, != *,$kernel,* ]] ;;
	@full) [ "$tier" = full ] ;;
	esac
}

# plan: per line "CLOCK SMP MEM MODE COMMAND", the programs for this kernel. MODE is an option of
# boot.sh or "-".
plan()
{
	local -a words command
	local line word clocks smp mem mode clock

	while read -r line; do
		read -ra words <<< "${line%%#*}"
		[ ${#words[@]} -gt 0 ] || continue
		[ "$only" = '  ' ] || [[ $only == *" ${words[0]} "* ]] || continue
		clocks=tsc smp=2 mem=1G mode=- command=()
		for word in "${words[@]}"; do
			case $word in
			@kernels=*|@not=*) chosen "${word%%=*}" "${word#*=}" || continue 2 ;;
			@half=[01])
				chosen @half "${word#*=}" && continue
				echo "${words[0]}" >> "$work/others"
				continue 2 ;;
			@full) chosen @full y || [ "$only" != '  ' ] || continue 2 ;;
			@clock=*) clocks=${word#*=} ;;
			@smp=*) smp=${word#*=} ;;
			@mem=*) mem=${word#*=} ;;
			@one-insn|@one-thread|@icount|@nodes) mode=--${word#@} ;;
			@*) echo "matrix.sh: programs.list: $word: no such word" >&2; return 1 ;;
			*) command+=("$word") ;;
			esac
		done
		case $kernel in
		arm64)	# it has one clock, and its kernel patches no int3
			clocks=default mode=${mode/--one-thread/-} ;;
		debug|kcsan)	# one boot, which ends with the canary
			clocks=tsc smp=2 mem=1G mode=- ;;
		esac
		for clock in ${clocks//,/ }; do
			echo "$clock $smp $mem $mode ${command[*]}"
		done
	done < "$here/programs.list"
}

# build_programs: for the guest's architecture, one run at a time in a build folder
build_programs()
{
	local source name

	source=$($vm/fetch.sh source) || { echo "$source"; return 77; }
	source=${source#source }
	set -- KSELFTEST_DIR="$source/tools/testing/selftests" SAN=
	programs=$build
	if [ "$kernel" = arm64 ]; then
		programs=$build/arm64-kmod
		set -- "$@" CC="${ARM64_CROSS:-aarch64-linux-gnu-}gcc" LDFLAGS=-static
	fi
	while read -r _ _ _ _ name _; do
		set -- "$@" "$programs/tests/kmod/$name"
	done < "$work/plan"
	mkdir -p "$programs" &&
	flock "$programs/.kmod-lock" env -u MAKEFLAGS -u MFLAGS \
		make -s BUILD="$programs" "$@" > "$log.build" 2>&1
}

# judge_log FILE CANARY: the log of a boot, without what the canary did, and then that
judge_log()
{
	local dir=$log.parts bug

	rm -rf "$dir"; mkdir -p "$dir"
	awk -v dir="$dir" '
		/xsprof-test: start/ { started = 1 }
		!started && /kmemleak: [0-9]+ new/ { next }	# of the boot itself
		/xsprof-canary: begin / { part = $NF }
		{ print > (dir "/" (part == "" ? "log" : "canary-" part)) }
		/xsprof-canary: end/ { part = "" }' "$1"
	$vm/dmesg-gate.sh "$dir/log" > "$dir/complaints"
	result "$kernel: the kernel does not complain" $?
	sed 's/^/# /' "$dir/complaints"
	[ -n "$2" ] || return
	while IFS=$'\t' read -r bug words; do
		grep -qE "$words" "$dir/canary-$bug" 2> /dev/null &&
			! $vm/dmesg-gate.sh "$dir/canary-$bug" > /dev/null
		result "$kernel: a planted bug is seen: $bug" $?
	done <<< "$planted"
}

# boot CLOCK SMP MEM MODE COMMAND...: one boot for these commands
boot()
{
	local clock=$1 smp=$2 mem=$3 mode=$4 command script=$log.run canary='' status left
	local -a files=() options=(--kernel "$kernel" --smp "$smp" --mem "$mem")

	shift 4
	case $clock in tsc|hpet) options+=(--clock "$clock") ;; esac
	[ "$mode" = - ] || options+=("$mode")
	left=$((begun + limit - SECONDS))
	[ $left -gt 60 ] || left=60
	echo "# boot.sh ${options[*]}"
	{
		echo "export XSPROF_TIER=$tier XSPROF_SEED=${XSPROF_SEED:-}"
		echo "export XSPROF_MODULE=/t/xsprof.ko XSPROF_PROGRAM_LIMIT=$program_limit"
		[ -n "${XSPROF_SEED:-}" ] || echo "unset XSPROF_SEED"
		[ -z "$planted" ] || echo "export XSPROF_KERNEL=debug"
		[ "$mode" != --icount ] || echo "export XSPROF_ICOUNT=y"
		cat "$here/guest-run"
		for command; do
			echo "run $command"
			files+=("$programs/tests/kmod/${command%% *}")
		done
		echo "finish"
		if [ -n "$planted" ]; then
			canary=y
			cut -f 1 <<< "$planted" | sed 's/^/plant /'
		fi
		echo "exit 0"
	} > "$script"
	[ -n "$canary" ] && files+=("$canary_module")
	mapfile -t files < <(printf '%s\n' "${files[@]}" | sort -u)
	$vm/boot.sh "${options[@]}" --limit "$left" --no-gate --dmesg "$log.dmesg" \
		"$module" "${files[@]}" "$script" -- sh "./${script##*/}" > "$log.out" 2> "$log.err"
	status=$?
	# The guest marks what a program left behind with lines of its own; see guest-run.
	grep -v '^# xsprof: ' "$log.out"
	sed 's/^/# /' "$log.err"
	for command; do
		grep -qxF "# xsprof: passed: $command" "$log.out"
		result "$kernel: $command: exit status" $?
	done
	grep -qxF "# xsprof: unloaded" "$log.out"
	result "$kernel: the module can be removed afterwards" $?
	result "$kernel: the guest came to its end" $status
	if [ $status -ne 125 ] && [ $status -ne 124 ]; then
		judge_log "$log.dmesg" "$canary"
	else
		result "$kernel: the kernel does not complain" 1
		$vm/dmesg-gate.sh "$log.dmesg" | sed 's/^/# /'
		echo "# last of the kernel's log:"
		tail -n 20 "$log.dmesg" | sed 's/^/#     /'
	fi
}

mkdir -p "$build/kmod" || exit 1
work=$(mktemp -d "$build/kmod/matrix.XXXXXX") || exit 1
[ -n "${XSPROF_KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
log=$work/log

plan > "$work/plan" || exit 1
[ ! -s "$work/others" ] ||
	echo "# of other commits, not run: $(sort -u "$work/others" | paste -sd ' ')"
[ -s "$work/plan" ] || skip "no program for $kernel"
module=$($vm/module.sh "$kernel" 2> "$work/module")
case $? in
0) module=$(tail -n 1 <<< "$module") ;;
77) echo "$module"; exit 77 ;;
*) bail "$work/module" "$kernel: the module builds" ;;
esac
# What canary.list plants on this kernel, in lines BUG WORDS; nothing on one that is no debug kernel
planted=
case $kernel in
debug|kcsan)
	planted=$(awk -F '\t' -v OFS='\t' -v k="$kernel" \
		'!/^#/ && ($3 == "" || $3 == k) { print $1, $2 }' $vm/canary.list) ;;
esac
if [ -n "$planted" ]; then
	mkdir -p "$work/canary" && cp $vm/canary.c "$work/canary/" &&
		echo 'obj-m := canary.o' > "$work/canary/Kbuild"
	canary_module=$($vm/module.sh --source "$work/canary" "$kernel" "$work/canary-out" \
		2> "$work/module" | tail -n 1)
	[ -f "$canary_module" ] || bail "$work/module" "$kernel: the canary builds"
fi
build_programs
case $? in
0) ;;
77) exit 77 ;;
*) bail "$log.build" "$kernel: the programs build" ;;
esac

begun=$SECONDS
while read -r clock smp mem mode; do
	mapfile -t commands < <(sed -n "s/^$clock $smp $mem $mode //p" "$work/plan")
	boot "$clock" "$smp" "$mem" "$mode" "${commands[@]}"
done < <(cut -d' ' -f1-4 "$work/plan" | sort -u -t' ' -k1,4)
finish
