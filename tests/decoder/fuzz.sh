#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzzes the decoder with libFuzzer, AddressSanitizer and UBSan: each target starts with its own
# seeds and the corpus of earlier runs. Prints TAP; leaves crashes in the corpus folder.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh

BUILD=${BUILD:-build}
targets='decoder/fuzz-capture decoder/fuzz-ring decoder/fuzz-arena decoder/fuzz-records
	profiler/result-fuzz'
seconds=${FUZZ_SECONDS:-3}
out=$BUILD/fuzz

if ! make -s BUILD="$out" CC=clang SAN=address,undefined FUZZER=1 \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' decoder-fuzz >"$out.log" 2>&1; then
	tap_line 1 "building the targets" "$(tail -n 20 "$out.log")"
	finish
fi

for t in $targets; do
	dir=$out/corpus/${t##*/}
	mkdir -p "$dir" "$dir.seeds"
	log=$dir.log
	# The driver without libFuzzer writes the seeds.
	"$BUILD/tests/$t" seeds="$dir.seeds" >"$log" 2>&1 &&
	"$out/tests/$t" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 \
		-artifact_prefix="$dir.crash-" -print_final_stats=1 "$dir" "$dir.seeds" \
		>>"$log" 2>&1
	status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	tap_line $status "$t: ${runs:-?} runs, $(find "$dir" -type f | wc -l) in the corpus" \
		"$(tail -n 15 "$log")"
done
finish
