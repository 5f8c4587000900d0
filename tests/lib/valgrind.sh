#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Under valgrind: no invalid access, no use of uninitialized data, and rings that are exact.
# Valgrind has no rseq, so these are lock rings. TAP.
progs=${BUILD:-build}/tests
failed=0

run() # [NAME=VALUE]... PROGRAM [ARG...]
{
	env=''
	while case $1 in *=*) true ;; *) false ;; esac; do
		env="$env $1"
		shift
	done
	# shellcheck disable=SC2086 # split into words on purpose
	"$progs/ring/session" $env valgrind -q --error-exitcode=9 --fair-sched=yes "$@" || failed=1
}

run XSPROF_BUFFER_SIZE=1M LOCAL_RANK=3 "$progs/lib/args"
run XSPROF_BUFFER_SIZE=256k XSPROF_ARENA_SIZE=16k XSPROF_CATEGORIES=-unwanted \
	"$progs/lib/categories"
run XSPROF_BUFFER_SIZE=64k "$progs/ring/ledger" threads=4 records=5000 timer=500
run XSPROF_BUFFER_SIZE=16k "$progs/ring/ledger" threads=4 records=5000 timer=500 reader=slow
run XSPROF_MODE=overwrite XSPROF_BUFFER_SIZE=16k "$progs/ring/snapshot" threads=3 records=5000 \
	timer=500 cursor=1
run XSPROF_BUFFER_SIZE=16k "$progs/ring/leak" records=5000
exit $failed
