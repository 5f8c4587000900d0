# SPDX-License-Identifier: GPL-2.0-only
#
# The rows of the recorder: bytes on disk, and events a second.
# Sourced by run.sh.

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
