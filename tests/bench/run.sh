#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures everything that has a bar, prints the table and writes $BUILD/bench.json.
# `make bench` installs and builds first. Documentation/benchmarks.md says what each row is.
# Every number is measured in this run. Usage: tests/bench/run.sh [PART...]
# parts: marker ops python opencl cupti lttng disk record dump save memory large device tracer
# (default: all of these), torch (of which PyTorch's wheel is downloaded)
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath -m "${BUILD:-build}")
bin=$BUILD/bin
here=$BUILD/tests/bench
work=$BUILD/bench
raw=$work/raw.tsv
runs=9

all="marker ops python opencl cupti lttng disk record dump save memory large device tracer"
parts=${*:-$all}
status=0
lttng_pid=

say() { echo "bench: $*" >&2; }
fail() { say "$*"; status=1; }

# Seconds since the start, for the curious.
began=$SECONDS

for p in "$bin/xsprof" "$here/marker"; do
	[ -x "$p" ] || { say "$p: not built: run 'make bench', or 'make all tests' first"; exit 1; }
done
mkdir -p "$work" || exit 1
rm -f "$raw"
cpu_model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed -n 1p)
cpu_model=${cpu_model:-$(uname -m)}
cpu_vendor=$(sed -n 's/^vendor_id[^:]*: //p' /proc/cpuinfo | sed -n 1p)
printf 'processor\t%s\t%s\n' "${cpu_vendor:-unknown}" "$cpu_model" >"$raw"

BENCH_SHM=$(mktemp -d /dev/shm/xsprof-bench.XXXXXX) || exit 1
# The programs of figures that a neighbour on the same core would spoil note their slices here.
BENCH_SLICES=$work/slices
export BENCH_SHM BENCH_SLICES
cleanup()
{
	[ -z "$lttng_pid" ] || kill "$lttng_pid" 2>/dev/null
	rm -rf "$BENCH_SHM" "$work/captures"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# Captures go to tmpfs where there is room, so that no disk is measured.
room=$(df -Pk "$BENCH_SHM" | awk 'NR == 2 { print $4 }')
free=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
if [ "$room" -gt 8388608 ] && [ "$free" -gt 8388608 ]; then
	caps=$BENCH_SHM/captures
	where="tmpfs"
else
	caps=$work/captures
	where="the disk of $BUILD"
fi
mkdir -p "$caps" || exit 1

cpus=$(nproc)
cpu_list=$(taskset -pc $$ | sed 's/.*: //' | tr , '\n' |
	awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
cpu0=$(echo "$cpu_list" | sed -n 1p)
cpu1=$(echo "$cpu_list" | sed -n 2p)
cpu1=${cpu1:-$cpu0}

if nice -n -20 true 2>/dev/null && [ "$(nice -n -20 nice 2>/dev/null)" = -20 ]; then
	favour="nice -n -20"
else
	favour=
fi
# The recorder is to have its core for itself; it sleeps often enough for real-time priority.
if chrt -f 10 true 2>/dev/null; then
	realtime="SCHED_FIFO"
	own_core="chrt -f 10"
else
	realtime="not permitted: ordinary priority, more noise"
	own_core=$favour
fi

echo "cpu         $cpu_model, $cpus usable"
echo "kernel      $(uname -r), load average $(cut -d' ' -f1-3 /proc/loadavg)"
echo "real-time   $realtime; tools: ${favour:-ordinary priority}, on CPU $cpu1"
echo "captures    on $where; at least $runs runs, medians; started $(date -u +%H:%M:%S) UTC"
echo

# id, unit, value...: min, median and max of the values.
figure()
{
	local id=$1 unit=$2

	shift 2
	printf '%s\n' "$@" | sort -g | awk -v id="$id" -v unit="$unit" '
		{ v[NR] = $1 }
		END {
			printf "%s\t%s\t%.4f\t%.4f\t%.4f\n", id, unit, v[1],
				v[int((NR + 1) / 2)], v[NR]
		}' >>"$raw"
}
# id, wanted, made, of what: a figure of less than its row says is no verdict on its bar.
less()
{
	[ "$3" -ge "$2" ] || printf '%s\tdoubt\tof %s %s only\n' "$1" "$3" "$4" >>"$raw"
}
skip() { printf '%s\tskip\t%s\n' "$1" "$2" >>"$raw"; say "$1: skipped: $2"; }
calc() { awk "BEGIN { printf(\"%.6f\", ($*)) }"; }

# Runs a tool on its CPU, at the priority $with if that is set; its cost is in the array cost:
# user, system and wall seconds, resident, own resident and anonymous memory.
measure()
{
	local rc

	taskset -c "$cpu1" ${with-$favour} "$here/measure" "$@" 3>"$work/cost"
	rc=$?
	read -r -a cost <"$work/cost"
	return $rc
}
cpu_time() { calc "${cost[0]} + ${cost[1]}"; }

# rate, events, file, more options of record: sets sent, lost and secs.
record()
{
	local rate=$1 events=$2 file=$3

	shift 3
	rm -f "$file"
	taskset -c "$cpu1" $own_core "$bin/xsprof" record -q -o "$file" "$@" -- \
		"$here/produce" "$rate" "$events" "$cpu0" >"$work/produced" || return 1
	read -r sent lost secs <"$work/produced"
}

# The same by four producers, two on each CPU, a quarter each: streams to be merged.
record_four()
{
	local rate=$1 events=$2 file=$3

	rm -f "$file"
	# shellcheck disable=SC2016
	taskset -c "$cpu1" $own_core "$bin/xsprof" record -q -o "$file" -b 16M -- sh -c '
		for cpu in $3 $4 $3 $4; do
			"$0" $1 $2 $cpu &
			pids="$pids $!"
		done
		for pid in $pids; do wait $pid || exit 1; done' \
		"$here/produce" $((rate / 4)) $((events / 4)) "$cpu0" "$cpu1" >"$work/produced" ||
		return 1
	read -r sent lost < <(awk '{ s += $1; l += $2 } END { print s, l }' "$work/produced")
}

# The parts: a function each.
. tests/bench/run-marker.sh
. tests/bench/run-ops.sh
. tests/bench/run-record.sh
. tests/bench/run-read.sh
. tests/bench/run-system.sh
. tests/bench/run-program.sh

for p in $parts; do
	case $p in
	marker|ops|python|opencl|cupti|lttng|disk|record|dump) ;;
	save|memory|large|device|tracer|torch) ;;
	*) say "$p: no such part: $all torch"; exit 2 ;;
	esac
	say "$p ($((SECONDS - began)) s)"
	"part_$p"
done

echo
# shellcheck disable=SC2086
tests/bench/table.py "$raw" "$BUILD/bench.json" $parts || status=1
echo "load average at the end $(cut -d' ' -f1-3 /proc/loadavg); $((SECONDS - began)) s;" \
	"also in $BUILD/bench.json"
exit $status
