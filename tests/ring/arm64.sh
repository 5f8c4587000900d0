#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# arm64.sh user|step|kernel: runs the ring tests in arm64 programs. TAP.
#
#	user	under qemu-user, which has no rseq: lock rings, on another instruction set
#	step	on Debian's arm64 kernel in an emulated machine: single-steps the arm64
#		sequences
#	kernel	the same, interrupted at random. A guest takes interrupts only between blocks,
#		so this needs one instruction per block; stepping does not, and runs faster
#		without
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
build=${BUILD:-build}
arm=$build/arm64
full=
[ "${XSPROF_TIER:-quick}" = full ] && full=y

progs=(session ledger snapshot step step-noarm step-early \
	step-earlygeneral step-nobound bounded bounded-noarm kills locks leak)
tests/builds/make.sh arm64
case $? in
0) ;;
77) exit 77 ;;
*) echo "Bail out! the arm64 build"; exit 1 ;;
esac

user()
{
	local failed=0 how

	command -v qemu-aarch64 >/dev/null || skip "no qemu-aarch64"
	t()
	{
		"$build/tests/ring/session" XSPROF_BUFFER_SIZE="$1" $how qemu-aarch64 \
			"$arm/tests/$2" "${@:3}" || failed=1
	}
	how=XSPROF_MODE=discard
	t 16k ring/locks
	t 64k ring/ledger threads=4 records=20000 timer=1000
	t 16k ring/ledger threads=4 records=20000 timer=1000 reader=slow
	t 16k ring/leak records=20000
	t 1M lib/args
	how='XSPROF_ARENA_SIZE=16k XSPROF_CATEGORIES=-unwanted'
	t 256k lib/categories
	how=XSPROF_MODE=overwrite
	t 16k ring/snapshot threads=4 records=20000 timer=1000 cursor=1
	exit $failed
}

# Writes the script that a guest runs: cases, each with its expected result.
guest_begin()
{
	cat <<-'END'
		#!/bin/sh
		mkdir -p /dev/shm
		mount -t tmpfs none /dev/shm 2>/dev/null
		number=0 failed=0
		verdict() # $1 wanted, $2 status, $3 name
		{
			number=$((number + 1))
			ok=no
			case $1 in
			pass) [ $2 = 0 ] && ok=yes ;;
			# A crash of a reader that was shown nonsense is a finding, too.
			fail) case $2 in 0|99|125|126|127) ;; *) ok=yes ;; esac ;;
			esac
			if [ $ok = yes ]; then
				echo "ok $number $3"
			else
				echo "not ok $number $3: status $2"
				failed=1
			fi
		}
		t() # $1 wanted, $2 name, the rest: session's arguments
		{
			wanted=$1 name=$2
			shift 2
			./session XSPROF_BUFFER_SIZE=16k "$@" >log 2>&1
			status=$?
			sed -n 's/^# /#   /p' log
			verdict $wanted $status "$name"
		}
	END
}

guest_end()
{
	echo 'echo "1..$number"'
	echo 'exit $failed'
}

interrupted_cases()
{
	local n=3000 kills=40

	[ $full ] && n=9000 kills=120
	cat <<-END
		t pass 'ledger, 4 threads' ./ledger threads=4 records=$n timer=2000
		t pass 'ledger, slow reader' ./ledger threads=4 records=$n timer=2000 \
			reader=slow place=1
		t pass 'ledger, room for all' XSPROF_BUFFER_SIZE=1M ./ledger threads=4 \
			records=$n timer=2000 room=1
		t pass 'snapshot' XSPROF_MODE=overwrite ./snapshot threads=4 records=$n \
			timer=2000 cursor=1
		t pass 'kill -9' ./kills kills=$kills
	END
}

stepped_cases()
{
	local from=127 stride=997

	[ $full ] && from=125 stride=331
	cat <<-END
		t pass 'every instruction, DISCARD' ./step-noarm from=$from
		t pass 'every instruction, OVERWRITE' XSPROF_MODE=overwrite ./step-noarm from=120
		t pass 'single step is bounded' ./bounded stride=$stride
		t pass 'lock rings' GLIBC_TUNABLES=glibc.pthread.rseq=0 ./locks
		t pass 'no leak' ./leak records=20000
		t fail 'control: not armed' ./bounded-noarm stride=3 upto=100
		t fail 'control: one slot early' ./step-early from=127
		t fail 'control: many slots early' ./step-earlygeneral from=127
		t fail 'control: the bound is left' ./step-nobound from=127
		t fail 'control: a margin of one less' XSPROF_MODE=overwrite ./step-noarm from=120 \
			margin=14
	END
}

boot() # $1 cases, the rest: options of the guest
{
	local out=$arm/guest-$1.sh cases=$1

	shift
	{
		guest_begin
		"$cases"
		guest_end
	} >"$out"
	chmod +x "$out"
	tests/vm/arm64.sh "$@" "${progs[@]/#/$arm/tests/ring/}" "$out" -- "./${out##*/}"
}

limit=900
[ $full ] && limit=3000

case ${1:-} in
user) user ;;
step) boot stepped_cases --limit $limit ;;
kernel) boot interrupted_cases --one-insn --limit $limit ;;
*) echo "usage: arm64.sh user|step|kernel" >&2; exit 2 ;;
esac
