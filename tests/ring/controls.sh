#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Negative controls: runs each test with a library, or a reader, that is broken in one place. If the
# test does not fail then, its passes mean nothing. TAP, inverted.
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh

progs=${BUILD:-build}/tests/ring
tap_log=$(mktemp) || exit 1
trap 'rm -f "$tap_log"' EXIT

# fails NAME [NAME=VALUE]... PROGRAM [ARG...]: the program must fail. One run is enough on any
# processor, because the program acts at a chosen instruction
fails()
{
	name=$1 env=''
	shift
	while case $1 in *=*) true ;; *) false ;; esac; do
		env="$env $1"
		shift
	done
	prog=$1
	shift
	# shellcheck disable=SC2086 # split into words on purpose
	timeout 60 "$progs/session" $env "$progs/$prog" "$@" >"$tap_log" 2>&1
	# A failed test, or a crash of the reader, or a hang.
	case $? in
	0) result "$name: not seen" 1 ;;
	99|125|126|127)
		cat "$tap_log"
		echo "Bail out! $name: could not be run"
		exit 1 ;;
	*)
		grep -m1 wrong "$tap_log" || echo "# $(tail -n1 "$tap_log")"
		result "$name: seen" 0 ;;
	esac
}

small=XSPROF_BUFFER_SIZE=16k
no_rseq=GLIBC_TUNABLES=glibc.pthread.rseq=0

# A signal arrives at each of the first instructions; its handler writes a record.
fails 'no arming store, DISCARD' $small bounded-noarm stride=1 upto=100
fails 'no arming store, OVERWRITE' $small XSPROF_MODE=overwrite bounded-noarm stride=1 upto=100
fails 'no arming store, inline' $small bounded-inline-noarm stride=1 upto=100 slots=1
if [ "$(nproc)" -gt 1 ]; then
	fails 'the ring of the CPU before' $small remember-stalering
	fails 'a CPU and its ring in two stores' $small remember-twostores
else
	skipped 'the ring of the CPU before' 'one CPU'
	skipped 'a CPU and its ring in two stores' 'one CPU'
fi
fails 'one slot published before its last word' $small step-early from=127
fails 'many slots published before the last' $small step-earlygeneral from=127
fails 'a drop that leaves the short way open' $small step-nobound from=127
fails 'a margin of one slot less' $small XSPROF_MODE=overwrite step-noarm from=120 margin=14
fails 'sequences tried without end' $small bounded-unbounded
fails 'a handler that waits for its own thread' $small $no_rseq locks-nestwait
fails 'the clock of a lock ring read before the lock' $small $no_rseq XSPROF_LOCK_RINGS=1 \
	order-earlyclock
finish
