#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# ring.sh SUBJECT: runs the ring tests of one subject, each in its own session. TAP. XSPROF_TIER,
# quick or full, sets the counts. Plain sh: an emulated guest has no bash.
#
# Optional: SESSION starts a session, RUNNER runs a program of another machine (qemu-aarch64).
cd "$(dirname "$0")/../.." || exit 1

progs=${RING_PROGS:-${BUILD:-build}/tests/ring}
session=${SESSION:-${BUILD:-build}/tests/ring/session}
full=
[ "${XSPROF_TIER:-quick}" = full ] && full=y
failed=0
no_rseq=GLIBC_TUNABLES=glibc.pthread.rseq=0
step_from=125

# t [NAME=VALUE]... PROGRAM [ARG...]: runs the program in a session
t()
{
	env=
	while case $1 in *=*) true ;; *) false ;; esac; do
		env="$env $1"
		shift
	done
	prog=$1
	shift
	# shellcheck disable=SC2086 # split into words on purpose
	"$session" $env $RUNNER "$progs/$prog" "$@" || failed=1
}

# Runs all combinations of reader, ring size and record size.
matrix() # $1 sizes, $2 records a thread, the rest more environment
{
	sizes=$1 records=$2
	shift 2
	for size in $sizes; do
		for most in 1 8; do
			for reader in fast slow stopped killed; do
				t "$@" XSPROF_BUFFER_SIZE=$size ledger threads=4 \
					records=$records most=$most reader=$reader place=$place
			done
		done
	done
}

case $1 in
ledger)
	place=1
	if [ $full ]; then
		matrix '4k 16k 64k 256k 1M 8M' 1000000
		for threads in 8 16; do
			for reader in fast slow stopped; do
				t XSPROF_BUFFER_SIZE=16k ledger threads=$threads records=1000000 \
					reader=$reader place=1
			done
		done
	else
		matrix '16k 1M' 150000
		t XSPROF_BUFFER_SIZE=16k ledger threads=8 records=100000 place=1
		t XSPROF_BUFFER_SIZE=64k ledger threads=16 records=50000 reader=slow place=1
	fi
	# Each thread stays on one CPU: then each record knows the place of its drop.
	t XSPROF_BUFFER_SIZE=16k ledger threads=2 records=300000 pinned=1 timer=0 reader=slow \
		place=1
	t XSPROF_BUFFER_SIZE=16k XSPROF_PREFAULT=1 ledger threads=4 place=1
	;;
room)
	# With room nothing is lost: 10^9 records, each received and checked.
	if [ $full ]; then
		t XSPROF_BUFFER_SIZE=8M ledger threads=8 records=126000000 room=1
	else
		t XSPROF_BUFFER_SIZE=8M ledger threads=8 records=1500000 room=1
	fi
	;;
snapshot)
	n=200000
	[ $full ] && n=5000000
	for size in 16k 64k; do
		for most in 1 8; do
			for cursor in 0 1; do
				t XSPROF_MODE=overwrite XSPROF_BUFFER_SIZE=$size snapshot \
					threads=4 records=$n most=$most cursor=$cursor
			done
		done
	done
	t XSPROF_MODE=overwrite XSPROF_BUFFER_SIZE=16k snapshot threads=16 records=$((n / 4)) \
		cursor=1
	;;
step)
	lock_from=126
	[ $full ] && step_from=100 lock_from=100
	for mode in discard overwrite; do
		t XSPROF_MODE=$mode XSPROF_BUFFER_SIZE=16k step-noarm from=$((step_from - 5))
		# Lock rings have three times the instructions, DISCARD has five times the cases.
		from=$lock_from
		[ $mode = overwrite ] && from=$((step_from - 5))
		t XSPROF_MODE=$mode XSPROF_BUFFER_SIZE=16k $no_rseq step from=$from
		t XSPROF_MODE=$mode XSPROF_BUFFER_SIZE=16k step-noarm from=127 kill=1
	done
	t XSPROF_BUFFER_SIZE=16k step-noarm from=125 watermark=3
	t XSPROF_BUFFER_SIZE=16k $no_rseq step from=127 watermark=8
	if [ $full ]; then
		t XSPROF_BUFFER_SIZE=16k step-noarm from=118 whole=1
		t XSPROF_BUFFER_SIZE=16k step-noarm from=120 kill=1
	fi
	stride=11
	[ $full ] && stride=1
	t XSPROF_BUFFER_SIZE=16k bounded stride=$stride
	;;
kills)
	n=1500
	[ $full ] && n=45000
	t XSPROF_BUFFER_SIZE=16k kills kills=$n
	t XSPROF_BUFFER_SIZE=256k kills kills=$((n / 2)) live=0
	t XSPROF_BUFFER_SIZE=16k XSPROF_MODE=overwrite kills kills=$((n / 2))
	t XSPROF_BUFFER_SIZE=16k $no_rseq kills kills=$((n / 4))
	;;
lock)
	t $no_rseq XSPROF_BUFFER_SIZE=16k locks
	t $no_rseq XSPROF_LOCK_RINGS=1 XSPROF_BUFFER_SIZE=16k order-points
	place=0
	if [ $full ]; then
		matrix '16k 1M' 1000000 $no_rseq
	else
		matrix 16k 50000 $no_rseq
	fi
	for threads in 6 16; do
		t $no_rseq XSPROF_BUFFER_SIZE=64k ledger threads=$threads records=50000
		t $no_rseq XSPROF_BUFFER_SIZE=16k XSPROF_MODE=overwrite snapshot \
			threads=$threads records=50000 cursor=1
	done
	t XSPROF_CLOCK=mono XSPROF_BUFFER_SIZE=64k ledger threads=4 records=50000
	t XSPROF_LOCK_RINGS=64 XSPROF_CLOCK=mono XSPROF_BUFFER_SIZE=16k ledger threads=16 \
		records=20000
	;;
inline)
	n=50000
	[ $full ] && n=1000000
	for reader in fast slow stopped killed; do
		t XSPROF_BUFFER_SIZE=16k ledger-inline threads=4 records=$n reader=$reader place=1
	done
	t $no_rseq XSPROF_BUFFER_SIZE=16k ledger-inline threads=4 records=$n
	t XSPROF_MODE=overwrite XSPROF_BUFFER_SIZE=16k snapshot-inline threads=4 records=$n \
		cursor=1
	t XSPROF_BUFFER_SIZE=16k remember
	t XSPROF_BUFFER_SIZE=16k bounded-inline stride=11
	t XSPROF_BUFFER_SIZE=16k leak-inline records=$n
	t XSPROF_BUFFER_SIZE=8M ledger-inline threads=4 records=200000 room=1
	t XSPROF_BUFFER_SIZE=16k step-inline-noarm from=125
	t XSPROF_BUFFER_SIZE=16k step-inline-noarm from=127 kill=1
	t XSPROF_MODE=overwrite XSPROF_BUFFER_SIZE=16k step-inline-noarm from=120
	t XSPROF_BUFFER_SIZE=16k kills-inline kills=300
	t XSPROF_MODE=overwrite XSPROF_BUFFER_SIZE=16k kills-inline kills=300
	;;
hostile)
	n=10000000
	[ $full ] && n=25000000
	for what in tail rings arena control all; do
		t XSPROF_BUFFER_SIZE=16k hostile what=$what writes=$n
		t XSPROF_BUFFER_SIZE=16k $no_rseq hostile what=$what writes=$((n / 5)) threads=2
	done
	;;
leak)
	n=100000
	[ $full ] && n=1000000
	t XSPROF_BUFFER_SIZE=16k leak records=$n
	t XSPROF_BUFFER_SIZE=16k $no_rseq leak records=$n
	;;
*)
	echo "usage: ring.sh ledger|room|snapshot|step|kills|lock|inline|hostile|leak" >&2
	exit 2
	;;
esac
exit $failed
