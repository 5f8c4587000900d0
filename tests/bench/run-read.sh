# SPDX-License-Identifier: GPL-2.0-only
#
# The rows of reading a capture: dump, save, memory, large captures.
# Sourced by run.sh.

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
