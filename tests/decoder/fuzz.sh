#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fuzzes the decoder with libFuzzer, AddressSanitizer and UBSan: each target starts with its own
# seeds and the corpus of earlier runs. Prints TAP; leaves crashes in the corpus folder.
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
targets='decoder/fuzz-capture decoder/fuzz-ring decoder/fuzz-arena decoder/fuzz-records
	profiler/result-fuzz'
seconds=${FUZZ_SECONDS:-3}
out=$BUILD/fuzz

if ! make -s BUILD="$out" CC=clang SAN=address,undefined FUZZER=1 \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' decoder-fuzz >"$out.log" 2>&1; then
	tail -n 20 "$out.log" | sed 's/^/# /'
	echo "1..1"
	echo "not ok 1 building the targets"
	exit 1
fi

n=0
failed=0
echo "1..$(wc -w <<<"$targets")"
for t in $targets; do
	n=$((n + 1))
	dir=$out/corpus/${t##*/}
	mkdir -p "$dir" "$dir.seeds"
	log=$dir.log
	# The driver without libFuzzer writes the seeds.
	"$BUILD/tests/$t" seeds="$dir.seeds" >"$log" 2>&1 &&
	"$out/tests/$t" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 \
		-artifact_prefix="$dir.crash-" -print_final_stats=1 "$dir" "$dir.seeds" \
		>>"$log" 2>&1
	if [ $? -eq 0 ]; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
		echo "ok $n $t: ${runs:-?} runs, $(find "$dir" -type f | wc -l) in the corpus"
	else
		tail -n 15 "$log" | sed 's/^/# /'
		echo "not ok $n $t"
		failed=1
	fi
done
exit $failed
