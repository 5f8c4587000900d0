#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Negative controls: each test with a library, or a reader, that is broken in one place. A test
# that does not fail then sees nothing, and its passes are worth nothing. TAP, inverted.
cd "$(dirname "$0")/../.." || exit 1

progs=${BUILD:-build}/tests/ring
number=0
failed=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

# fails NAME TRIES [NAME=VALUE]... PROGRAM [ARG...]: one of so many runs must find it out
fails()
{
	name=$1 tries=$2 env='' try=0
	shift 2
	while case $1 in *=*) true ;; *) false ;; esac; do
		env="$env $1"
		shift
	done
	prog=$1
	shift
	number=$((number + 1))
	while [ $try -lt "$tries" ]; do
		try=$((try + 1))
		# shellcheck disable=SC2086 # words on purpose
		timeout 60 "$progs/session" $env "$progs/$prog" "$@" >"$log" 2>&1
		# A verdict, or an end that is one: a crash of the reader, a hang.
		case $? in
		0) continue ;;
		99|125|126|127)
			cat "$log"
			echo "Bail out! $name: could not be run"
			exit 1 ;;
		esac
		grep -m1 wrong "$log" || echo "# $(tail -n1 "$log")"
		echo "ok $number $name: seen, run $try"
		return
	done
	sed 's/^/# /' "$log" | tail -n5
	echo "not ok $number $name: not seen in $tries runs"
	failed=1
}

skip() # NAME WHY
{
	number=$((number + 1))
	echo "ok $number $1 # SKIP $2"
}

small=XSPROF_BUFFER_SIZE=16k
no_rseq=GLIBC_TUNABLES=glibc.pthread.rseq=0

# Up to 10 runs, where a run has hundreds of interrupted sequences and one is enough; the others
# do what is broken at a chosen instruction, and one run is certain.
fails 'no arming store, DISCARD' 10 $small ledger-noarm threads=6 records=300000 timer=40
fails 'no arming store, OVERWRITE' 10 $small XSPROF_MODE=overwrite snapshot-noarm threads=6 \
	records=300000 timer=40
fails 'no arming store, inline' 10 $small ledger-inline-noarm threads=6 records=300000 timer=40
if [ "$(nproc)" -gt 1 ]; then
	fails 'the ring of the CPU before' 10 $small ledger-stalering threads=6 records=300000 \
		timer=40
	fails 'a CPU and its ring in two stores' 1 $small remember-twostores
else
	skip 'the ring of the CPU before' 'one CPU'
	skip 'a CPU and its ring in two stores' 'one CPU'
fi
fails 'one slot published before its last word' 1 $small step-early from=127
fails 'many slots published before the last' 1 $small step-earlygeneral from=127
fails 'a drop that leaves the short way open' 1 $small step-nobound from=127
fails 'a margin of one slot less' 1 $small XSPROF_MODE=overwrite step-noarm from=120 margin=14
fails 'sequences tried without end' 1 $small bounded-unbounded
fails 'a handler that waits for its own thread' 1 $small $no_rseq locks-nestwait
fails 'the clock of a lock ring read before the lock' 1 $small $no_rseq XSPROF_LOCK_RINGS=1 \
	order-earlyclock
echo "1..$number"
exit $failed
