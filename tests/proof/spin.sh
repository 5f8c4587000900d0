#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the models of the rings through spin: each must hold over its whole state space,
# with no line of it left unreached, and each mutant must be found, by the check that is
# there to find it. TAP; exit status 0, 1, or 77 without spin.
#
# XSPROF_TIER=full adds larger state spaces (1 minute, 900 MB).

set -u
here=$(dirname "$(readlink -f "$0")")
build=${BUILD:-build}
case $build in
/*) ;;
*) build=$(dirname "$(dirname "$here")")/$build ;;
esac
cc=${CC:-cc}
memory=500	# MB a run may take
. "$here/../common/tap.sh"

for tool in spin "$cc"; do
	command -v "${tool%% *}" > /dev/null || skip "${tool%% *} is not installed"
done
mkdir -p "$build/proof" && work=$(mktemp -d "$build/proof/spin.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
tap_log=$work/log

# verify MODEL OPTIMIZE DEFINE...: spin's verdict in $work/log; status 0 when it ran. A
# mutant is found at once, so that the compiler's work is most of it: -O0.
verify()
{
	local model=$1 optimize=$2

	shift 2
	rm -f "$work"/*
	(cd "$work" && spin "${@/#/-D}" -a "$here/$model.pml" &&
	 $cc -w "$optimize" -DSAFETY -DCOLLAPSE -DMEMLIM=$memory -o pan pan.c &&
	 ./pan -m100000) > "$work/log" 2>&1
}

# holds MODEL NAME DEFINE...
holds()
{
	local model=$1 name=$2 states unreached

	shift 2
	if ! verify "$model" -O2 "$@" ||
	   ! grep -q ', errors: 0$' "$work/log" ||
	   grep -qE 'Search not completed|max search depth too small' "$work/log"; then
		result "$model: $name: does not hold, or the search did not end" 1
		return
	fi
	# A line that no interleaving reaches is a check that never runs. A loop's end is
	# none: the reader goes on for ever.
	unreached=$(sed -n '/^unreached in/,$p' "$work/log" | grep '\.pml:' | grep -v '"-end-"')
	states=$(awk '/ states, stored/ { printf "%d states", $1; exit }' "$work/log")
	[ -z "$unreached" ]
	result "$model: $name (${unreached:-$states})" $?
}

# found MODEL CHECK DEFINE...: spin's message must say CHECK
found()
{
	local model=$1 check=$2 message

	shift 2
	verify "$model" -O0 "$@"
	message=$(sed -n 's/^pan:1: //p' "$work/log")
	grep -qF -e "$check" <<< "$message"
	result "$model: mutant $* is found (${message:-nothing found})" $?
}

holds discard "2 threads, a handler, a reader: exact, drops in their place"
holds discard "two records of thread 0, long ones of thread 1" EMITS0=2 LONG=1
placement='assertion violated (before[(p%4)]==lost_now)'
found discard "$placement" RAISE_PENDING
found discard "$placement" RAISE_OUTSIDE
found discard "$placement" NO_LOWER
found discard "$placement" MARK_AFTER
found discard "$placement" DROP_OUTSIDE
found discard '(a==b))' EARLY_PUBLISH
found discard '-tail)<4' LOST_UNPAID
found discard '(count==0)' READER_EARLY
found discard '(published==head)' NO_ABORT

holds overwrite "a reader with a cursor trusts no torn record"
holds overwrite "a reader without one sets in at a whole record, with less margin" BY_PAGE MARGIN=2
found overwrite 'a==truth' MARGIN=2
found overwrite 'a==truth' BY_PAGE MARGIN=1
found overwrite 'a==truth' STALE_HEAD
found overwrite 'a==truth' BY_PAGE STALE_HEAD
found overwrite 'a==truth' EARLY_PUBLISH

holds lock "2 threads, 2 handlers, 2 rings, a dead owner: exact"
holds lock "nobody waits for ever, with both rings held by the dead" NO_READER STOPS=2
found lock 'invalid end state' NO_READER NESTED_WAITS
found lock 'invalid end state' NO_READER STOPS=2 OTHERS_WAIT
found lock 'owner[r]==tid' STEAL_OWN
found lock 'head[r]' UNLOCK_EARLY
found lock 'lost_sum==0' BUSY_PLAIN

if [ "${XSPROF_TIER:-quick}" = full ]; then
	memory=1000
	holds discard "bound lowered before mark is set" BOUND_FIRST
	holds discard "two records of thread 0" EMITS0=2
	holds discard "two records of thread 1" EMITS1=2
	holds discard "two records of the handler" EMITS2=2
	holds overwrite "three times round" END=26
	holds lock "two dead owners: exact" STOPS=2
fi

finish
