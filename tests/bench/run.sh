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

# ---- markers ----

# The programs of those figures, by the figures' ids.
declare -A quiet=([noclock_so]=noclock [noclock_inline]=inline [drop]=drop)
# Each round is a process: where its pages lie in memory is worth a tenth, and nobody's merit.
rounds=5
most_rounds=40

# A round of the programs of those ids, in turn.
quiet_round()
{
	local id

	for id in "$@"; do
		"$here/${quiet[$id]}" || { fail "${quiet[$id]}: failed"; return 1; }
	done
}

# Neighbours may stay for seconds: what has too few slices after all rounds gets more. What is
# enough is known from the controls alone, by those of all programs.
quiet_more()
{
	local round wanting

	for round in $(seq $((rounds + 1)) $most_rounds); do
		wanting=$(tests/bench/quiet.py "$BENCH_SLICES" --wanting) || return 1
		[ -n "$wanting" ] || return 0
		say "round $round of at most $most_rounds for" $wanting "($((SECONDS - began)) s)"
		sleep 0.5
		# shellcheck disable=SC2086
		quiet_round $wanting || return 1
	done
}

# The programs of markers with the clock, in turn: a ratio is the median of five processes, for
# where a process's pages lie is in it too.
called_markers()
{
	local p i id unit value ratios=()

	: >"$work/markers"
	for i in $(seq $rounds); do
		for p in marker marker-archive; do
			"$here/$p" >"$work/marker" || { fail "$p: failed"; return; }
			cat "$work/marker" >>"$work/markers"
		done
	done
	awk -F '\t' '!seen[$1]++ { print $1, $2 }' "$work/markers" |
	while read -r id unit; do
		# shellcheck disable=SC2046
		figure "$id" "$unit" \
			$(awk -F '\t' -v id="$id" '$1 == id { print $4 }' "$work/markers")
	done
	while read -r value; do
		ratios+=("$value")
	done < <(awk -F '\t' '$1 == "marker_ratio" { so = $4 }
		$1 == "archive_marker_ratio" { print $4 / so }' "$work/markers")
	figure archive_ratio ratio "${ratios[@]}"
	echo "on $cpu_model a marker costs, in units of the bare counter:" \
		"$(awk -F '\t' '$1 == "marker_ratio" { c = $4 } $1 == "inline_ratio" { i = $4 }
			END { printf("%.3f called, %.3f inline", c, i) }' "$raw")"
}

part_marker()
{
	local p

	rm -rf "$BENCH_SLICES"
	mkdir "$BENCH_SLICES" || exit 1
	for p in disabled misses threads; do
		"$here/$p" >>"$raw" || fail "$p: failed"
	done
	called_markers
	for _ in $(seq $rounds); do
		quiet_round "${!quiet[@]}" || break
	done
	quiet_more
	tests/bench/quiet.py "$BENCH_SLICES" >>"$raw" || fail "quiet.py: failed"
}

# ---- ops ----

# libkineto is nobody's package: its row needs its sources, and fmt.
build_kineto()
{
	g++ -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -DFMT_HEADER_ONLY \
		-I"$LIBKINETO/include" ${FMT_INCLUDE:+-I"$FMT_INCLUDE"} \
		-o "$work/kineto.so" tests/bench/kineto.cc \
		"$LIBKINETO"/src/{GenericTraceActivity,ActivityType,ThreadUtil}.cpp \
		2>"$work/kineto.log"
}

part_ops()
{
	local i id unit low mid high

	if [ -n "${LIBKINETO:-}" ]; then
		build_kineto ||
			{ fail "ops: libkineto is not built, see $work/kineto.log"; return; }
		export BENCH_KINETO=$work/kineto.so
	fi
	rm -f "$work/ops"
	# Each round is a process, as above.
	for i in $(seq $rounds); do
		"$here/ops" >>"$work/ops" || { fail "ops: failed"; return; }
		BENCH_NVTX=$BUILD/lib/libxsprof-nvtx.so "$here/nvtx" >>"$work/ops" ||
			{ fail "nvtx: failed"; return; }
		BENCH_ITT=$BUILD/lib/libxsprof-itt.so "$here/itt" >>"$work/ops" ||
			{ fail "itt: failed"; return; }
	done
	awk -F '\t' '$2 == "skip"' "$work/ops" | sort -u >>"$raw"
	awk -F '\t' '$2 != "skip" { print $1, $2 }' "$work/ops" | sort -u |
	while read -r id unit; do
		# shellcheck disable=SC2046
		figure "$id" "$unit" $(awk -F '\t' -v id="$id" '$1 == id { print $4 }' "$work/ops")
	done
	"$BUILD/tests/profiler/op-alloc" bench >>"$raw" || fail "op-alloc: failed"
}

# ---- LTTng-UST, in a session of our own ----

lttng_start()
{
	export LTTNG_HOME=$work/lttng LTTNG_UST_REGISTER_TIMEOUT=3000

	rm -rf "$LTTNG_HOME"
	mkdir -p "$LTTNG_HOME"
	: >"$work/lttng.log"
	# Debian's package starts one where there is systemd: a session of our own in it will do.
	if ! lttng --no-sessiond list >/dev/null 2>&1; then
		lttng-sessiond --no-kernel --quiet >"$work/lttng.log" 2>&1 &
		lttng_pid=$!
		for _ in $(seq 50); do
			lttng --no-sessiond list >/dev/null 2>&1 && break
			sleep 0.1
		done
	fi
	{
		lttng --no-sessiond create --snapshot xsprof-bench \
			--output="$LTTNG_HOME/out" &&
		lttng --no-sessiond enable-channel -u --overwrite --subbuf-size=1M \
			--num-subbuf=4 ring &&
		lttng --no-sessiond enable-event -u -c ring xsprof_bench:marker &&
		lttng --no-sessiond start
	} >>"$work/lttng.log" 2>&1 && return
	why="its session daemon does not run here ($(tail -n 1 "$work/lttng.log" | cut -c1-80))"
	return 1
}

part_lttng()
{
	local why

	if [ ! -x "$here/lttng" ] || ! command -v lttng-sessiond >/dev/null; then
		skip lttng_ratio "liblttng-ust-dev or lttng-tools is not installed"
		return
	fi
	if lttng_start; then
		"$here/lttng" >>"$raw" || fail "lttng: failed"
		lttng --no-sessiond destroy xsprof-bench >>"$work/lttng.log" 2>&1
	else
		skip lttng_ratio "$why"
	fi
	[ -z "$lttng_pid" ] || { kill "$lttng_pid"; wait "$lttng_pid"; lttng_pid=; }
}

# ---- bytes on disk: the demo's programs ----

part_disk()
{
	local demo=$work/demo i pair whole slots pairs=() wholes=()

	mkdir -p "$demo"
	if ! clang -O2 -fopenmp -o "$demo/heat" tests/demo/heat.c -lm 2>"$work/demo.log" ||
		! echo 'int main(void) { return 0; }' >"$demo/hello.c" ||
		! gcc -c -o "$demo/hello.o" "$demo/hello.c" || ! command -v mold >/dev/null ||
		! /usr/bin/python3 -c 'import torch' 2>>"$work/demo.log"; then
		skip disk_pair "the demo's programs are not installed (see $work/demo.log)"
		return
	fi
	for i in 1 2 3; do
		"$bin/xsprof" record -q --compress -o "$caps/demo.$i" -- \
			tests/demo/work.sh "$demo" >>"$work/demo.log" 2>&1 ||
			{ fail "demo: record failed, see $work/demo.log"; return; }
		read -r pair whole slots < <(tests/bench/disk.py "$caps/demo.$i")
		pairs+=("$pair")
		wholes+=("$whole")
	done
	figure disk_pair B "${wholes[@]}"
	figure disk_pair_ring_chunks B "${pairs[@]}"
}

# ---- the recorder ----

# Bytes that a capture will take: memory that was just in use. Pages that a virtual machine has
# never touched, or gave back, cost several times as much at first use: the host's figure.
warm()
{
	[ "$where" = tmpfs ] || return 0
	head -c $(($1 + $1 / 2 + 268435456)) /dev/zero >"$caps/warm"
	rm -f "$caps/warm"
}

# id, rate in events a second, bytes an event may take, options: the highest rate that lost
# nothing in 2 seconds. From the rate upwards; or downwards from there.
sustain()
{
	local id=$1 rate=$2 bytes=$3 best=0 tries=0 down= made kept most

	shift 3
	while [ "$rate" -gt 500000 ] && [ "$rate" -lt 90000000 ]; do
		warm $((rate * 2 * bytes))
		record "$rate" $((rate * 2)) "$caps/$id" "$@" ||
			{ fail "$id: record failed"; return; }
		rm -f "$caps/$id"
		made=$(calc "$sent / $secs / 1e6")
		kept=$(calc "$made * 1e6 >= $rate * 0.95")
		printf '%s\t%s\t%s\t%s\n' "$id" "$rate" "$made" "$lost" >>"$work/steps.tsv"
		if [ "$lost" = 0 ]; then
			best=$(calc "$made > $best ? $made : $best")
			if [ "$kept" = 1.000000 ]; then
				[ -z "$down" ] || break
				tries=0
				rate=$((rate * 3 / 2))
				continue
			fi
		fi
		# Again: the host's turn on one of these CPUs is not the recorder's limit, and
		# it never makes a rate hold that would not. Less patient where one has held.
		most=5
		[ "$best" = 0 ] || most=2
		tries=$((tries + 1))
		[ $tries -ge $most ] || continue
		[ $most = 5 ] || break
		tries=0
		down=1
		rate=$((rate * 4 / 5))
	done
	figure "$id" M/s "$best"
}

part_record()
{
	rm -f "$work/steps.tsv"
	if [ "$cpu1" = "$cpu0" ]; then
		skip record_plain "one CPU"
		skip record_zstd "one CPU"
		return
	fi
	# A little above the bars: the producer's start is in its rate.
	sustain record_plain 22000000 33 -b 64M --prefault
	sustain record_zstd 5500000 4 -b 64M --prefault --compress
}

# ---- reading ----

# id, unit, amount, command...: amount by CPU seconds, in millions
rate_of()
{
	local id=$1 unit=$2 amount=$3 i rates=() walls=()

	shift 3
	for i in $(seq $((runs + 1))); do
		measure "$@" >/dev/null || { fail "$id: $1 failed"; return 1; }
		# The first is the warm-up.
		[ "$i" = 1 ] || rates+=("$(calc "$amount / $(cpu_time) / 1e6")")
	done
	figure "$id" "$unit" "${rates[@]}"
}

part_dump()
{
	local cap=$caps/speed same=$caps/same ours=() theirs=() ratios=() i bytes events

	warm 400000000
	record_four 8000000 10000000 "$cap" || { fail "dump: record failed"; return; }
	[ "$lost" = 0 ] || say "dump: the capture lacks $lost of $sent events"
	events=$("$here/decode" "$cap" | cut -f1)
	rate_of decode_rate M/s "$events" "$here/decode" "$cap"
	rate_of text_rate M/s "$events" "$bin/xsprof-dump" -f text -i "$cap"
	bytes=$("$bin/xsprof-dump" -f chrome -i "$cap" | wc -c)
	rate_of chrome_rate MB/s "$bytes" "$bin/xsprof-dump" -f chrome -i "$cap"
	bytes=$("$bin/xsprof-dump" -f ndjson -i "$cap" | wc -c)
	rate_of ndjson_rate MB/s "$bytes" "$bin/xsprof-dump" -f ndjson -i "$cap"
	bytes=$("$bin/xsprof-dump" -f perfetto -i "$cap" | wc -c)
	rate_of perfetto_rate MB/s "$bytes" "$bin/xsprof-dump" -f perfetto -i "$cap"
	rate_of report_rate M/s "$events" "$bin/xsprof" report -i "$cap"
	rm -f "$cap"
	# The kernel's events: two CPUs in turn, the same every time.
	"$BUILD/tests/tools/make-capture" busy "$cap" 3000000 ||
		{ fail "dump: no capture"; return; }
	bytes=$("$bin/xsprof-dump" -f perfetto -i "$cap" | wc -c)
	rate_of perfetto_kernel_rate MB/s "$bytes" "$bin/xsprof-dump" -f perfetto -i "$cap"
	rm -f "$cap"

	if ! command -v babeltrace2 >/dev/null; then
		skip bt2_ratio "babeltrace2 is not installed"
		return
	fi
	# In turn, so that a change of the machine's speed meets both.
	record_four 4000000 1000000 "$same" || { fail "dump: record failed"; return; }
	mkdir "$caps/ctf"
	events=$("$here/ctf" "$same" "$caps/ctf") || { fail "ctf: failed"; return; }
	for i in $(seq $((runs + 1))); do
		measure babeltrace2 "$caps/ctf" >/dev/null || { fail "babeltrace2 failed"; return; }
		theirs+=("$(cpu_time)")
		measure "$bin/xsprof-dump" -f text -i "$same" >/dev/null ||
			{ fail "xsprof-dump failed"; return; }
		ours+=("$(cpu_time)")
		ratios+=("$(calc "${theirs[-1]} / ${ours[-1]}")")
	done
	figure bt2_ratio ratio "${ratios[@]:1}"
	figure bt2_rate M/s "$(calc "$events / 1e6 / $(printf '%s\n' "${theirs[@]:1}" | sort -g |
		sed -n $(((runs + 1) / 2))p)")"
	rm -rf "$same" "$caps/ctf"
}

# ---- results ----

part_save()
{
	local cap=$caps/ops out=$caps/ops.json n=${BENCH_SAVE_OPS:-10000000} i bytes most=0
	local rates=() walls=()

	"$BUILD/tests/profiler/kineto-capture" many "$cap" "$n" ||
		{ fail "save: no capture"; return; }
	# Once to a file: what it takes with one, and how long it is.
	measure "$BUILD/tests/profiler/save" kineto "$cap" "$out" ||
		{ fail "save: failed"; return; }
	bytes=$(stat -c %s "$out")
	rm -f "$out"
	figure save_file_wall MB/s "$(calc "$bytes / ${cost[2]} / 1e6")"
	figure save_file_rate MB/s "$(calc "$bytes / $(cpu_time) / 1e6")"
	for i in $(seq 5); do
		measure "$BUILD/tests/profiler/save" kineto "$cap" /dev/null ||
			{ fail "save: failed"; return; }
		rates+=("$(calc "$bytes / $(cpu_time) / 1e6")")
		walls+=("$(calc "$bytes / ${cost[2]} / 1e6")")
		[ "${cost[3]}" -le "$most" ] || most=${cost[3]}
	done
	figure save_rate MB/s "${rates[@]}"
	figure save_wall MB/s "${walls[@]}"
	figure save_memory MiB "$(calc "$most / 1024")"
	less save_rate 10000000 "$n" ops
	less save_memory 10000000 "$n" ops
	rm -f "$cap"
}

# ---- memory ----

# id, KiB: notes a tool's memory and keeps the most of all
note_memory()
{
	figure "memory_$1" MiB "$(calc "$2 / 1024")"
	figure "memory_anon_$1" MiB "$(calc "$3 / 1024")"
	[ "$2" -le "$most" ] || most=$2
}

part_memory()
{
	local cap=$caps/large most=0 n=50000000 bytes=33 f z

	for z in "" --compress; do
		rm -f "$cap"
		warm $((n * bytes))
		if ! with="$own_core" measure "$bin/xsprof" record -q $z -b 64M -o "$cap" -- \
			"$here/produce" 10000000 $n "$cpu0" >"$work/produced"; then
			fail "memory: record failed"
			return
		fi
		bytes=4
		# Its own: the producer is a child of it, and holds its rings.
		note_memory "record${z#-}" "${cost[4]}" "${cost[5]}"
		read -r sent lost secs <"$work/produced"
		[ "$lost" = 0 ] || say "memory: the capture lacks $lost of $sent events"
		# The plain capture is what the other tools read; 1.6 GB of mapped file would show.
		[ -n "$z" ] || mv "$cap" "$cap.plain"
	done
	for f in text chrome ndjson perfetto; do
		measure "$bin/xsprof-dump" -f $f -i "$cap.plain" >/dev/null ||
			{ fail "memory: dump -f $f failed"; return; }
		note_memory "dump_$f" "${cost[3]}" "${cost[5]}"
	done
	measure "$bin/xsprof-dump" -f text -i "$cap" >/dev/null ||
		{ fail "memory: dump of a compressed capture failed"; return; }
	note_memory dump_text_zstd "${cost[3]}" "${cost[5]}"
	for f in report info; do
		measure "$bin/xsprof" $f -i "$cap.plain" >/dev/null ||
			{ fail "memory: $f failed"; return; }
		note_memory $f "${cost[3]}" "${cost[5]}"
	done
	rm -f "$cap" "$cap.plain"
	figure tool_memory MiB "$(calc "$most / 1024")"
}

# Gigabytes of the kernel's events: those of a capture again and again, each time later.
part_large()
{
	local cap=$caps/busy big=$caps/large bytes=${BENCH_LARGE_BYTES:-$((4 << 30))} most=0 f

	{ "$BUILD/tests/tools/make-capture" busy "$cap" 3000000 &&
		"$here/pages" "$cap" "$big" "$bytes"; } || { fail "large: no capture"; return; }
	for f in text chrome kineto ndjson perfetto; do
		measure "$bin/xsprof-dump" -q -f $f -i "$big" >/dev/null ||
			{ fail "large: dump -f $f failed"; return; }
		note_memory "large_$f" "${cost[3]}" "${cost[5]}"
	done
	for f in report info; do
		measure "$bin/xsprof" $f -q -i "$big" >/dev/null ||
			{ fail "large: $f failed"; return; }
		note_memory "large_$f" "${cost[3]}" "${cost[5]}"
	done
	less large_memory $((4 << 30)) "$(stat -c %s "$big")" bytes
	rm -f "$cap" "$big"
	figure large_memory MiB "$(calc "$most / 1024")"
}

# ---- the kernel's tracer beside a recording ----

part_tracer()
{
	local small=$caps/tracer.data dat=$caps/tracer.dat with= i ns
	local off=() on=() theirs=() ours=() ratio=() cap=$caps/pair.data

	if ! "$bin/xsprof" record -q -e sched --trace-buffer 64M --trace-clock mono -o "$small" \
			-- taskset -c "$cpu0" "$here/pingpong" 200000 2>"$work/tracer.log" ||
			[ -s "$work/tracer.log" ]; then
		for i in tracer_marker tracer_text; do
			skip $i "$(tail -n 1 "$work/tracer.log")"
		done
		return
	fi
	# In turn, so that a change of the machine's speed meets both.
	for i in $(seq 11); do
		ns=$("$bin/xsprof" record -q -m overwrite -b 4M -o "$cap" -- \
			taskset -c "$cpu0" "$here/pair") || { fail "pair failed"; return; }
		off+=("$(awk '{ print $2 }' <<<"$ns")")
		ns=$("$bin/xsprof" record -q -m overwrite -b 4M -e sched -o "$cap" -- \
			taskset -c "$cpu0" "$here/pair") || { fail "pair failed"; return; }
		on+=("$(awk '{ print $2 }' <<<"$ns")")
		ratio+=("$(calc "${on[-1]} / ${off[-1]}")")
	done
	figure tracer_marker ratio "${ratio[@]}"
	figure tracer_marker_off ns "${off[@]}"
	figure tracer_marker_on ns "${on[@]}"

	ratio=()
	if command -v trace-cmd >/dev/null &&
			python3 tests/ftrace/to-tracedat.py "$small" "$dat"; then
		for i in $(seq 5); do
			measure trace-cmd report -i "$dat" >/dev/null 2>"$work/tracer.log" ||
				{ fail "trace-cmd failed"; return; }
			theirs+=("$(cpu_time)")
			measure "$bin/xsprof-dump" -q -i "$small" >/dev/null ||
				{ fail "xsprof-dump failed"; return; }
			ours+=("$(cpu_time)")
			ratio+=("$(calc "${theirs[-1]} / ${ours[-1]}")")
		done
		figure tracer_text ratio "${ratio[@]}"
		figure tracer_text_theirs s "${theirs[@]}"
		figure tracer_text_ours s "${ours[@]}"
	else
		skip tracer_text "no trace-cmd, or no python3"
	fi

	rm -f "$small" "$dat" "$cap"
}

# ---- the device: in a virtual machine, whose times are good for ratios only ----

part_device()
{
	local ko tmpfs=() device=() first=() cold=() library=() where pair ms i

	ko=$(tests/vm/module.sh 6.12 2>"$work/module.log" | tail -n 1)
	if [ ! -s "$ko" ]; then
		case $ko in
		*SKIP*) skip device_ratio "${ko#*SKIP }"; skip device_first "${ko#*SKIP }" ;;
		*) fail "device: the module is not built, see $work/module.log" ;;
		esac
		return
	fi
	# In turn, so that a change of the machine's speed meets both.
	tests/vm/boot.sh --kernel 6.12 --limit 300 --with-libs --module "$ko" \
		"$BUILD/tests/ring/session" "$here/pair" "$here/attach" -- sh -c '
		export XSPROF_MODE=overwrite
		for i in $(seq 21); do
			./session XSPROF_BACKEND=tmpfs ./pair || exit 1
			./session XSPROF_BACKEND=device ./pair || exit 1
			./attach || exit 1
		done' >"$work/device" 2>"$work/device.log" ||
		{ fail "device: the guest failed, see $work/device.log"; return; }
	while read -r where pair ms; do
		case $where in
		tmpfs) tmpfs+=("$pair") ;;
		device) device+=("$pair"); library+=("$ms") ;;
		attach) cold+=("$pair"); first+=("$ms") ;;
		esac
	done <"$work/device"
	[ ${#tmpfs[@]} = 21 ] && [ ${#device[@]} = 21 ] && [ ${#first[@]} = 21 ] ||
		{ fail "device: not both backends were used, see $work/device"; return; }
	figure device_pair_tmpfs ns "${tmpfs[@]}"
	figure device_pair ns "${device[@]}"
	figure device_first ms "${first[@]}"
	figure device_first_cold ms "${cold[@]}"
	figure device_first_library ms "${library[@]}"
	for i in "${!device[@]}"; do
		device[i]=$(calc "${device[i]} / ${tmpfs[i]}")
	done
	figure device_ratio ratio "${device[@]}"
}

# Not recorded and recorded in turn: PoCL's own threads use the other CPU, and how they and the
# program meet is another one in each process.
part_opencl()
{
	local bare=() layer=() ratio=() i

	if ! ${CC:-cc} -O2 -o "$work/opencl" tests/bench/opencl.c -lOpenCL \
			2>"$work/opencl.log"; then
		skip opencl_ratio "ocl-icd-opencl-dev is not installed"
		return
	fi
	for i in $(seq $runs) $(seq $runs); do
		bare+=("$("$work/opencl")") &&
		layer+=("$("$bin/xsprof" record -q --gpu --no-torch -b 64M \
			-o "$work/opencl.data" "$work/opencl")") ||
			{ fail "opencl: failed"; return; }
		ratio+=("$(calc "${layer[-1]} / ${bare[-1]} - 1")")
	done
	figure opencl_bare ns "${bare[@]}"
	figure opencl_layer ns "${layer[@]}"
	figure opencl_ratio ratio "${ratio[@]}"
}

# activities, more options of record: sets cost to what $here/cupti says.
record_cupti()
{
	local n=$1 cap=$caps/cupti rc

	shift
	XSPROF_CUPTI=$here/libcupti-replay.so taskset -c "$cpu1" "$bin/xsprof" record --gpu \
		-b 64M --prefault "$@" -o "$cap" -- taskset -c "$cpu0" \
		"$here/cupti" "$here/libcupti-replay.so" "$n" >"$work/cupti" 2>"$work/cupti.log"
	rc=$?
	rm -f "$cap"
	read -r -a cost <"$work/cupti"
	[ $rc = 0 ] && [ "${cost[0]}" = "$n" ]
}

# What the thread does that makes records of CUPTI's, of which no GPU is needed.
part_cupti()
{
	local rates=() walls=() i n=${BENCH_CUPTI:-100000000}

	warm 820000000
	for i in $(seq $runs); do
		record_cupti 5000000 && grep -q '^\[ xsprof record: 5000001 events .* 0 lost' \
			"$work/cupti.log" || { fail "cupti: failed, see $work/cupti.log"; return; }
		rates+=("$(calc "${cost[0]} / ${cost[1]} / 1e6")")
		walls+=("$(calc "${cost[0]} / ${cost[2]} / 1e6")")
	done
	figure cupti_rate M/s "${rates[@]}"
	figure cupti_wall M/s "${walls[@]}"
	# Sixteen gigabytes would be a measurement of the disk: rings that keep the latest.
	record_cupti "$n" -m overwrite || { fail "cupti: failed, see $work/cupti.log"; return; }
	figure cupti_growth MiB "$(calc "${cost[3]} / 1024")"
	less cupti_growth 100000000 "$n" activities
}

part_python()
{
	tests/bench/python-cost.py "$bin/xsprof" "$BUILD/lib/libxsprof-python.so" "$work" \
		/usr/bin/python3 >"$work/python.tsv" ||
		{ fail "python: a measurement failed, see above"; return; }
	cat "$work/python.tsv" >>"$raw"
}

# Programs as users run them, so that all is as it is for these: processes in turn, no priority.
part_torch()
{
	local rc id

	(cd "$work" && rm -f torch.data)
	tests/torch/wheel.sh 2.13.0+cpu python3 "$PWD/tests/bench/torch-cost.py" "$bin/xsprof" \
		"$BUILD/lib/libxsprof-torch.so" "$work" >"$work/torch.tsv"
	rc=$?
	if [ $rc = 77 ]; then
		for id in names shapes all count off step growth exit; do
			skip "torch_$id" "$(sed -n 's/^1\.\.0 # SKIP //p' "$work/torch.tsv")"
		done
		return
	fi
	[ $rc = 0 ] || { fail "torch: a measurement failed, see above"; return; }
	cat "$work/torch.tsv" >>"$raw"
}

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
