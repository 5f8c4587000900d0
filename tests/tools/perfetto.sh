#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof-dump -f perfetto: every type of record, compared with golden/ and read back by three
# independent readers (check-perfetto.py, protobuf-c, protoc-c --decode); the same ranges as in
# Chrome's JSON, the same number of events as in text. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
read_back=$BUILD/tests/tools/read-perfetto
check() { python3 "$here/check-perfetto.py" "$@"; }

# dump_all NAME [OPTION...]: checks the trace of the capture $dir/NAME.data.
dump_all()
{
	local kind=$1 lines

	shift
	lines=$("$dump" --allow-lost -q "$@" "$dir/$kind.data" 2>/dev/null | grep -vc ' open: ')
	"$dump" --allow-lost -q -f perfetto "$@" -o "$dir/$kind.pf" "$dir/$kind.data" \
		2>"$dir/log" &&
		check -r "$dir/$kind.pf" "$lines" >"$dir/ranges"
	result "$kind${*:+, $*}: the rules of a trace, $lines events" $?
	"$read_back" "$dir/$kind.pf" >"$dir/packets" 2>"$dir/log"
	status=$?
	result "$kind${*:+, $*}: protobuf-c reads all of $(cat "$dir/packets") packets" $status
	# If there are too many to remember, each output leaves out others.
	[ "$kind" != many ] || return
	"$dump" --allow-lost -q -f chrome "$@" -o "$dir/$kind.json" "$dir/$kind.data" \
		2>"$dir/log" &&
		python3 "$here/chrome-ranges.py" "$dir/$kind.json" >"$dir/chrome" 2>>"$dir/log" &&
		diff "$dir/ranges" "$dir/chrome" >>"$dir/log"
	status=$?
	result "$kind${*:+, $*}: the $(wc -l <"$dir/ranges") ranges of Chrome's JSON" $status
}

for kind in all hostile kernel; do
	"$make_capture" $kind "$dir/$kind.data" || exit 1
	dump_all $kind
	if ! command -v protoc-c >/dev/null; then
		skipped "$kind: protoc-c --decode" "no protoc-c"
	else
		protoc-c --proto_path=tests/tools --decode=pf.Trace perfetto.proto \
			<"$dir/$kind.pf" >"$dir/decoded" 2>"$dir/log" &&
			! grep -E '^ *[0-9]+[:{ ]' "$dir/decoded" >>"$dir/log" &&
			[ "$(grep -c '^packet {' "$dir/decoded")" = "$(cat "$dir/packets")" ]
		result "$kind: protoc-c --decode knows every field" $?
	fi
done

# Leaves out the clock error, which depends on the decoder's fit, and the version.
for kind in all kernel; do
	check -p "$dir/$kind.pf" | sed -e 's/\(clock_error_ns", "long_value": \)[0-9]*/\10/g' \
		-e 's/"xsprof [0-9.]*"/"xsprof 0"/' \
		-e 's/\("xsprof.version", "string_value": "\)[0-9.]*/\10/' >"$dir/golden"
	[ "${XSPROF_GOLDEN:-}" != update ] || cp "$dir/golden" "$here/golden/$kind.perfetto"
	diff -u "$here/golden/$kind.perfetto" "$dir/golden" >"$dir/log"
	result "golden/$kind.perfetto" $?
done

# Names are forgotten after about 12,000; the Python readers take most of the time.
seeds=1 threads=40000 busy=20000
[ "${XSPROF_TIER:-quick}" = full ] && seeds='1 2 3' threads=120000 busy=100000
for seed in $seeds; do
	"$make_capture" mess "$dir/mess.data" $seed || exit 1
	dump_all mess
done
check -p "$dir/mess.pf" >"$dir/log"
# Perfetto's UI shows what comes after the first event of the kernel.
python3 - "$dir/log" <<'END' >"$dir/first" 2>&1
import re, sys
text = open(sys.argv[1]).read()
begins = re.findall(r'"event_name": "xsprof_begin"}[^}]*"timestamp": ([0-9]+)', text)
assert [int(ns) for ns in begins] == \
    [min(int(ns) for ns in re.findall(r'"timestamp": ([0-9]+)', text))], begins
END
first=$?
[ "$(grep -c '"sched_process_free": {"pid": 500}' "$dir/log")" = 1 ]
result "the end of a process, by its exit alone" $?
mv "$dir/first" "$dir/log"
result "which is not the first that a viewer shows" $first
# Comes before the description of the next program.
"$make_capture" exec "$dir/exec.data" || exit 1
dump_all exec
check -p "$dir/exec.pf" >"$dir/log"
[ "$(grep -o '"sched_process_free": {"pid": 90}, "timestamp": [0-9]*' "$dir/log" |
	grep -o '[0-9]*$' | xargs)" = "1000000049999 1000000100001" ]
result "the end of a program by that another replaced it" $?
"$make_capture" threads "$dir/threads.data" || exit 1
dump_all threads
check -p "$dir/threads.pf" >"$dir/log"
grep -q '"processes": \[{"cmdline": \["prog"\], "pid": 602, "ppid": 600' "$dir/log"
result "a process that nobody kept the name of: what it was called when it was forked" $?
dump_all all -n 12
dump_all all --from 5.5us --to 14.5us
dump_all kernel --tid 100
dump_all kernel --from 15us --to 40us
check -p "$dir/kernel.pf" >"$dir/log"
grep -m 1 '"sched_switch"' "$dir/log" | grep -q '"next_comm": "alpha"' &&
	grep -q '"inferred_sched_switch"' "$dir/log"
result "who had the CPU when a window begins" $?
dump_all kernel --name 'sched_*'

# More names than are remembered: the trace tells readers which are forgotten; memory stays bounded.
"$make_capture" many "$dir/many.data" $threads || exit 1
small "$threads threads" "$dump" --allow-lost -f perfetto "$dir/many.data"
dump_all many
check -p "$dir/many.pf" | grep -c '"sequence_flags": 1' >"$dir/cleared"
[ "$(cat "$dir/cleared")" -gt $((threads / 20000)) ]
status=$?
result "names were forgotten: $(cat "$dir/cleared") packets say so" $status
"$make_capture" busy "$dir/busy.data" $busy || exit 1
dump_all busy
small "$busy kernel events" "$dump" --allow-lost -f perfetto "$dir/busy.data"

# An instant with a string in several records is one event, with the whole string.
"$make_capture" long "$dir/long.data" || exit 1
dump_all long
check -p "$dir/long.pf" >"$dir/log"
texts='one, \\"two\\", three\|four, five\|six, \|seven, \|eight, ni\.\.\.'
[ "$(grep -o "\"string_value\": \"\($texts\)\"" "$dir/log" | wc -l)" = 5 ] &&
	[ "$(grep -c '"string_value"' "$dir/log")" = 6 ]
result "an instant that goes on in other records is one event" $?
# Flows of two processes are separate, even with the same ids.
"$make_capture" links "$dir/links.data" || exit 1
dump_all links
check -p "$dir/links.pf" >"$dir/log"
[ "$(grep -oE '"(terminating_)?flow_ids": \[[^]]*' "$dir/log" | sed 's/.*\[//' | sort | uniq -c |
	awk '{ print $1 }' | xargs)" = "3 3" ]
result "two processes with a flow 7 have a flow each" $?
# The trace has all facts of an op.
"$make_capture" keys "$dir/keys.data" || exit 1
dump_all keys
check -p "$dir/keys.pf" | grep -q '{"name": "External id", "uint_value": 5}' 2>"$dir/log"
result "the ids of an op" $?
check "$dir/keys.pf" >"$dir/log" 2>&1 && check -p "$dir/keys.pf" >"$dir/log" &&
	grep -q '{"int_value": 3, "name": "k (2) (2)"}' "$dir/log" &&
	grep -q '{"int_value": 6, "name": "k (4)"}' "$dir/log" &&
	grep -q '{"int_value": 2, "name": "External id (2)"}' "$dir/log"
result "keys that are there already" $?
# Names of 4,000 bytes, and thousands of arguments in a range: all fit.
"$make_capture" crowded "$dir/crowded.data" || exit 1
"$dump" -q -f perfetto -o "$dir/crowded.pf" "$dir/crowded.data" 2>"$dir/log" &&
	check "$dir/crowded.pf" >>"$dir/log" 2>&1
result "more arguments than an event has" $?

# A missing switch is placed at the latest wakeup of the task, and marked.
"$make_capture" left-out "$dir/left-out.data" || exit 1
dump_all left-out
check -p "$dir/left-out.pf" >"$dir/log"
tr '}' '\n' <"$dir/log" >"$dir/lines"
tr '{' '\n' <"$dir/log" >"$dir/parts"
grep -q '"next_comm": "alpha", .*"prev_comm": "swapper/0"' "$dir/lines" &&
	[ "$(grep -o '"inferred_sched_switch"' "$dir/log" | wc -l)" = 5 ] &&
	grep -A9 '"inferred_sched_switch"' "$dir/parts" | grep -q '"timestamp": 1000000050000'
result "a switch from idle that was left out" $?
grep -q '"timestamp": 1000000093000' "$dir/lines" &&
	grep -q '"next_pid": 100,.* "prev_pid": 8, .*"prev_state": 0$' "$dir/lines" &&
	grep -q '"next_pid": 0,.* "prev_pid": 100, .*"prev_state": 0$' "$dir/lines"
result "switches from a task to another and to idle that were left out" $?
grep -A1 '"inferred_sched_switch"' "$dir/parts" | grep -o '"timestamp": [0-9]*' |
	cut -c 21- | sort -u | xargs >"$dir/times"
[ "$(cat "$dir/times")" = "050000 093000 095900 097700 160000" ] || {
	cat "$dir/times" >>"$dir/log"
	false
}
result "one that a marker tells, and one not before the task left its CPU" $?
grep -q ' 0\.000050: sched_switch: prev_comm=swapper/0 .* next_comm=alpha ' \
	"$dir/left-out.json" &&
	grep -q 'inferred_sched_switch: next_pid=100' "$dir/left-out.json" &&
	grep -q ' 0\.000093: sched_switch: prev_comm=<\.\.\.> prev_pid=8 .* next_comm=alpha ' \
		"$dir/left-out.json" &&
	grep -q 'inferred_sched_switch: next_pid=0' "$dir/left-out.json" &&
	grep -q ' 0\.000097: sched_switch: prev_comm=swapper/0 .* next_comm=alpha ' \
		"$dir/left-out.json" &&
	grep -q '\[001\].* 0\.000160: sched_switch: .* next_comm=alpha ' "$dir/left-out.json"
result "and in Chrome JSON" $?

# A CLOCK_BOOTTIME that goes back relative to the trace's clock, which no real one does: a CPU's
# events must not go back with it.
cat >"$dir/back.py" <<'END'
import struct, sys
sys.path.insert(0, sys.argv[1])
import fuzz

data = bytearray(open(sys.argv[2], "rb").read())
at, stored = next((at, stored) for at, kind, stored in fuzz.chunks(data) if kind == 2)
first, second = at + fuzz.CHUNK, at + fuzz.CHUNK + 72
boot, = struct.unpack_from("<Q", data, first + 24)
struct.pack_into("<Q", data, first + 24, boot + 3600 * 10**9)
# Ticks and three clocks of the second point: 40 us after the first.
for i in range(4):
    struct.pack_into("<Q", data, second + 8 * i, boot + 40000)
struct.pack_into("<I", data, at + 48, fuzz.crc32c(data[first:first + stored]))
struct.pack_into("<I", data, at + 52, fuzz.crc32c(data[at:at + 52]))
sys.stdout.buffer.write(data)
END
python3 "$dir/back.py" "$here" "$dir/kernel.data" >"$dir/back.data" || exit 1
"$dump" --allow-lost -q -f perfetto -o "$dir/back.pf" "$dir/back.data" 2>"$dir/log" &&
	check "$dir/back.pf" >>"$dir/log"
result "a clock that falls back" $?

# The check itself must notice such errors.
cat >"$dir/spoil.py" <<'END'
import sys
data, what = open(sys.argv[1], "rb").read(), sys.argv[2]

def packets():
    at = 0
    while at < len(data):
        start, size, shift = at, 0, 0
        at += 1
        while True:
            byte = data[at]
            size |= (byte & 127) << shift
            shift += 7
            at += 1
            if byte < 128:
                break
        at += size
        yield data[start:at]

out, done = [], False
for p in packets():
    hit = {"interned": b"\x68\x02\x62" in p[:16] and b"aten::conv2d" in p,
           "end": b"\x48\x02\x58" in p, "track": b"thread" in p or b"alpha" in p[30:],
           "event": b"loss" not in p and b"\x48\x03\x58" in p,
           "utf8": b"worker" in p}[what]
    if hit and not done:
        done = True
        if what == "utf8":
            out.append(p.replace(b"worker", b"wor\xff\xfer"))
        continue
    out.append(p)
assert done, what
sys.stdout.buffer.write(b"".join(out))
END
spoilt() # $1 what to damage, $2 the expected message
{
	python3 "$dir/spoil.py" "$dir/all.pf" "$1" >"$dir/spoilt.pf" 2>"$dir/log" &&
		! check "$dir/spoilt.pf" >"$dir/said" 2>>"$dir/log" && grep -q "$2" "$dir/said"
	status=$?
	result "the check notices: $(cut -c -70 "$dir/said")" $status
}
"$dump" --allow-lost -q -f perfetto -o "$dir/all.pf" "$dir/all.data" 2>/dev/null
spoilt interned 'is not interned'
spoilt end 'stay open'
spoilt track 'not described'
spoilt event 'says there are'
spoilt utf8 'no UTF-8'
head -c -3 "$dir/all.pf" >"$dir/spoilt.pf"
! "$read_back" "$dir/spoilt.pf" >/dev/null 2>"$dir/log"
result "protobuf-c notices a cut trace" $?
finish
