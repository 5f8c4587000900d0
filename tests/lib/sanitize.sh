#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The ring and library tests, with the library linked in, built with ASan and UBSan, and with TSan.
# TAP.
#
# Limits of TSan: the restartable sequences are assembly, so it does not know their memory order. It
# runs on the lock rings and the calls around them. The tests' own reader reads rings by plain loads
# after an acquire of head, which TSan does know. TSan cannot follow a fork with several threads:
# fork and moments are left out.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
failed=0
no_rseq=GLIBC_TUNABLES=glibc.pthread.rseq=0

programs_of() # NAME
{
	tests/builds/make.sh "$1"
	case $? in
	0) ;;
	77) exit 77 ;;
	*) echo "Bail out! the $1 build"; exit 1 ;;
	esac
	progs=$build/$1/tests
}

t()
{
	env=''
	while case $1 in *=*) true ;; *) false ;; esac; do
		env="$env $1"
		shift
	done
	prog=$1
	shift
	# shellcheck disable=SC2086 # words on purpose
	"$build/tests/ring/session" $env "$progs/$prog" "$@" || failed=1
}

programs_of asan-gcc
for how in XSPROF_PREFAULT=0 $no_rseq; do
	t $how XSPROF_BUFFER_SIZE=64k ring/ledger threads=4 records=50000 place=0
	t $how XSPROF_BUFFER_SIZE=16k XSPROF_MODE=overwrite ring/snapshot threads=4 records=50000
	t $how XSPROF_BUFFER_SIZE=16k ring/leak records=50000
	t $how XSPROF_BUFFER_SIZE=16k ring/hostile writes=2000000 records=50000
	t $how XSPROF_BUFFER_SIZE=256k LOCAL_RANK=3 lib/api
	t $how XSPROF_BUFFER_SIZE=1M lib/args
	t $how XSPROF_BUFFER_SIZE=256k XSPROF_ARENA_SIZE=16k XSPROF_CATEGORIES=-unwanted \
		lib/categories
	t $how XSPROF_BUFFER_SIZE=256k lib/fork
	t $how XSPROF_BUFFER_SIZE=256k lib/clone
	t $how XSPROF_BUFFER_SIZE=1M lib/moments
done
t $no_rseq XSPROF_BUFFER_SIZE=16k ring/locks

programs_of tsan
t $no_rseq XSPROF_BUFFER_SIZE=64k ring/ledger threads=4 records=20000 timer=500
t $no_rseq XSPROF_BUFFER_SIZE=16k ring/ledger threads=4 records=20000 timer=500 reader=slow
t XSPROF_BUFFER_SIZE=1M lib/args
t XSPROF_BUFFER_SIZE=256k XSPROF_ARENA_SIZE=16k XSPROF_CATEGORIES=-unwanted lib/categories
exit $failed
