#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The cost of reading a capture grows linearly with its size, for every kind of contents: measures,
# with valgrind, the instructions for once, twice and four times the same. The step from two to four
# may cost at most 2.5 times the step from one to two; a quadratic reader needs 4 times. Memory is
# limited to 24 MiB plus 20 bytes per byte of the file. Times in seconds are only printed. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/common/turn.sh
# A run with a turn has every second case, chosen by the commit.
part=$(turn_part 2)
cases=0 others=''

work() # $1 file, then a verb: prints the instructions
{
	local file=$1

	shift
	valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
		"$xsprof" "$@" "$file" 2>&1 >/dev/null | sed -n '/ I *refs:/{s/.*: *//;s/,//gp}'
}

cost() # $1 kind, $2 how many, then a verb
{
	local kind=$1 many=$2 w=() i small

	shift 2
	cases=$((cases + 1))
	if [ "$part" = $((cases % 2)) ]; then
		others="$others${others:+, }$* of $kind"
		return
	fi
	for i in 1 2 4; do
		[ -f "$dir/$kind.$i" ] ||
			"$make_capture" "cost-$kind" "$dir/$kind.$i" $((many * i)) || exit 1
		w[$i]=$(work "$dir/$kind.$i" "$@")
	done
	{
		echo "instructions: ${w[1]} ${w[2]} ${w[4]}"
		python3 - "$xsprof" "$@" "$dir/$kind.4" <<-'END'
			import os, resource, subprocess, sys
			subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL,
				       stderr=subprocess.DEVNULL)
			use = resource.getrusage(resource.RUSAGE_CHILDREN)
			size = os.path.getsize(sys.argv[-1])
			print("%d kB: %.2f us and %.1f bytes of memory for a byte" % (size // 1000,
			      use.ru_utime / size * 1e6, use.ru_maxrss * 1024 / size))
			sys.exit(use.ru_maxrss * 1024 > (24 << 20) + 20 * size)
		END
		small=$?
	} >"$dir/log"
	sed 's/^/# /' "$dir/log"
	[ $small = 0 ] && [ $(((w[4] - w[2]) * 10)) -le $(((w[2] - w[1]) * 25)) ]
	result "$* of $kind" $?
}

cost control 1000 report
cost control 1000 dump
cost async 1000 report
cost ledgers 1000 info
cost exits 500 report
cost chunks 500 info
cost records 2000 report
cost records 2000 dump
for verb in report dump; do
	cost ftrace-cpus 200 $verb
	cost formats 500 $verb
	cost index 1000 $verb
done
cost rings 7000 dump
cost users 8000 dump -f kineto
cost memory 1000 report
cost memory 1000 report --steps=kept
cost hidden 1000 report
cost mappings 1000 dump -f kineto
cost parts 1000 report
for kind in devices activities calls; do
	cost $kind 1000 report --gpu
	for format in kineto chrome perfetto; do
		cost $kind 1000 dump -f $format
	done
done
cost processes 250 report --steps
cost processes 250 report --steps --json
cost processes 250 dump -f kineto
cost tasks 250 dump -f perfetto
cost crowd 2000 report
cost crowd 2000 report --open
cost crowd 2000 dump -f kineto
cost ends 1000 info
cost threads 1000 report
cost alike 2000 dump -f ndjson
if [ "${XSPROF_TIER:-quick}" = full ]; then
	for verb in report info "dump -f chrome" "dump -f perfetto" "dump -f ndjson" \
		    "dump -f kineto"; do
		for kind in control async ledgers exits records chunks ftrace-cpus formats index; do
			cost $kind 1000 $verb
		done
	done
fi
[ -z "$others" ] || echo "# of other commits, not run: $others"
finish
