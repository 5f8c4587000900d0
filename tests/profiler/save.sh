#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Results as files: the JSON of PyTorch's profiler, key by key, memory, execution traces; complete
# files or none; unusual data. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
here=$PWD/tests/profiler
make=$BUILD/tests/profiler/kineto-capture
save=$BUILD/tests/profiler/save

{ "$make" ops "$dir/ops.data" && "$make" rank "$dir/rank.data" 1 2 &&
	"$make" hostile "$dir/odd.data" && "$make" memory "$dir/memory.data" 40 &&
	"$make" many "$dir/many.data" 60000; } || exit 1

"$save" test "$dir/ops.data" "$dir" >"$dir/log" 2>&1
status=$?
result "calls: $(grep -c '^ok' "$dir/log") good, $(grep '^not ok' "$dir/log" | tr '\n' ' ')" $status
! compgen -G "$dir/*.tmp*" >"$dir/log"
result "nothing stays of what was not written" $?

kineto() # $1 kind of check, $2 capture, then more for save
{
	local kind=$1 capture=$2

	shift 2
	"$save" kineto "$capture" "$dir/x.json" "$@" >"$dir/log" 2>&1 &&
		python3 "$here/check-kineto.py" "$dir/x.json" "$kind" >>"$dir/log" 2>&1
}

for kind in ops rank; do
	kineto $kind "$dir/$kind.data"
	result "a trace of $kind, key by key" $?
done
kineto any "$dir/odd.data"
result "names and values that nobody would give" $?
for kind in all hostile; do
	"$make_capture" $kind "$dir/other.data" && kineto any "$dir/other.data"
	result "every record: $kind" $?
done
for seed in 1 2 3 4; do
	"$make_capture" mess "$dir/other.data" $seed && kineto any "$dir/other.data"
	result "ranges at random: $seed" $?
done

# Launches without the id of their op.
{ "$make" inline "$dir/inline.data" && kineto any "$dir/inline.data" &&
	python3 - "$dir/x.json"; } >>"$dir/log" 2>&1 <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
def of(cat):
    return [(e["args"].get("External id"), e["args"].get("correlation"), e["tid"])
            for e in events if e.get("cat") == cat]
assert of("cuda_driver") == [(70, 5, 500), (71, 6, 501), (88, 7, 500), (70, 8, 500)], \
    of("cuda_driver")
upload = [(e["ph"], e["args"]) for e in events if e.get("cat") == "user_async"]
assert upload == [("b", {"size": 4096}), ("e", {})], upload
assert of("kernel") == [(70, 5, 7), (71, 6, 8), (None, 99, 7)], of("kernel")
notes = [(e["name"], e["tid"], e["dur"]) for e in events if e.get("cat") == "gpu_user_annotation"]
assert [(n, tid, round(dur * 1000)) for n, tid, dur in notes] == [("train", 7, 10002)], notes
END
result "a launch belongs to the op that is open in its thread" $?

# The program's metadata: JSON unchanged, other text as a string, no key twice.
"$save" kineto "$dir/ops.data" "$dir/x.json" 2>"$dir/log" && python3 - "$dir/x.json" \
	>>"$dir/log" 2>&1 <<'END'
import json, sys
def pairs(items):
    assert len(items) == len(dict(items)), items
    return dict(items)
trace = json.load(open(sys.argv[1]), object_pairs_hook=pairs)
assert trace["job"] == {"id": [1, 2500.0, None]}, trace["job"]
assert trace["bad"] == "{oops" and len(trace["traceEvents"]) > 20
END
result "metadata" $?

# From 40 to 75 us: ranges that reach in are cut; those open at the end are marked.
"$save" kineto "$dir/ops.data" "$dir/x.json" 1000000040000 1000000075000 2>"$dir/log" &&
	python3 - "$dir/x.json" >>"$dir/log" 2>&1 <<'END'
import json, sys
trace = json.load(open(sys.argv[1]))
base = (1700001000000000000 - trace["baseTimeNanoseconds"]) / 1000
got = {(e["name"], e["ts"] - base, e["dur"], "finished" in e["args"])
       for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] != "Trace"}
assert got == {("aten::mm", 40, 20, False), ("aten::cat", 70, 5, True),
               ("forward pass", 40, 35, True), ("ProfilerStep#3", 40, 35, True)}, got
assert not [e for e in trace["traceEvents"] if e["name"] == "[memory]"]
END
result "a window cuts" $?

# The clocks' error depends on the position in the capture.
error_from() # $1 begin of the window, ns
{
	"$save" kineto "$dir/late.data" "$dir/x.json" "$1" 1001000000000 2>>"$dir/log" &&
		python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["xsprof_clock_error_ns"])' "$dir/x.json" 2>>"$dir/log"
}

"$make" late "$dir/late.data" && for from in 1000000000000 1000500000000 1000999000000; do
	error_from $from
done >"$dir/errors" && python3 - "$dir/errors" >>"$dir/log" 2>&1 <<'END'
import sys
whole, half, none = map(int, open(sys.argv[1]))
# 500 ns for each millisecond away from the nearest comparison.
assert [round((n - none) / 1e5, 1) for n in (whole, half)] == [5, 2.5], (whole, half)
assert none < 1000, none
END
result "the clocks' error is that of what is shown" $?

# The tool writes the same events as the library.
"$save" kineto "$dir/rank.data" "$dir/x.json" 2>"$dir/log" &&
	"$dump" -q -f kineto -o "$dir/y.json" "$dir/rank.data" 2>>"$dir/log" &&
	diff <(grep '^{"ph"' "$dir/x.json") <(grep '^{"ph"' "$dir/y.json") >>"$dir/log" &&
	python3 "$here/check-kineto.py" "$dir/y.json" rank >>"$dir/log" 2>&1
result "xsprof-dump -f kineto" $?
status 0 "$dump" -f kineto "$dir/ops.data" &&
	python3 "$here/check-kineto.py" "$dir/out" ops >>"$dir/log" 2>&1
result "... to a pipe" $?

"$save" kineto "$dir/ops.data" "$dir/x.json" 2>"$dir/log" &&
	"$save" kineto "$dir/ops.data" "$dir/z.json.gz" 2>>"$dir/log"
status=$?
if [ $status = 1 ] && grep -q 'without zlib' "$dir/log"; then
	skipped ".gz" "built without zlib"
	rm -f "$dir/log"
else
	[ $status = 0 ] && gzip -t "$dir/z.json.gz" 2>>"$dir/log" &&
		diff <(grep -v traceName "$dir/x.json") \
			<(zcat "$dir/z.json.gz" | grep -v traceName) >>"$dir/log"
	result ".gz is the same, packed" $?
fi

# A disk that has room for a part only.
if mkdir "$dir/small" && mount -t tmpfs -o size=256k tmpfs "$dir/small" 2>/dev/null; then
	for kind in kineto execution snapshot timeline; do
		capture=$dir/many.data
		[ $kind = kineto ] || [ $kind = execution ] || {
			capture=$dir/blocks.data
			"$make" memory "$capture" 20000
		}
		status 1 "$save" $kind "$capture" "$dir/small/x.json" &&
			grep -q "small/x.json: No space left.*free some space" "$dir/log" &&
			[ -z "$(ls -A "$dir/small")" ]
		result "$kind: a full disk is told, and nothing is left on it" $?
	done
	umount "$dir/small"
else
	skipped "a full disk" "no right to mount one"
fi

{ "$save" timeline "$dir/memory.data" "$dir/timeline.json" &&
	"$save" timeline "$dir/memory.data" "$dir/raw.raw.json" &&
	"$save" snapshot "$dir/memory.data" "$dir/snapshot.pickle" &&
	"$save" execution "$dir/memory.data" "$dir/execution.json" &&
	python3 "$here/check-memory.py" "$dir"; } >"$dir/log" 2>&1
result "memory over time, its snapshot, the execution trace" $?
{ "$save" execution "$dir/ops.data" "$dir/ops.et" && python3 - "$dir/ops.et"; } \
	>"$dir/log" 2>&1 <<'END'
import json, sys
nodes = {n["attrs"][0]["value"]: n for n in json.load(open(sys.argv[1]))["nodes"]
         if not n["name"].startswith("[")}
mm, cat, back = nodes[2], nodes[3], nodes[4]
assert mm["inputs"] == {
    "values": [[11, 111, 0, 6, 4, "cuda:0"], [12, 112, 0, 12, 4, "cuda:0"], "<None>", 1, True,
               [1, -2], "sum, €"],
    "shapes": [[2, 3], [3, 4], [], [], [], [[], []], []],
    "types": ["Tensor(float)", "Tensor(float)", "Generator", "Double", "Bool",
              "GenericList[Int,Int]", "String"],
    "strides": [[3, 1], [4, 1], [], [], [], [[], []], []]}, mm["inputs"]
assert cat["inputs"]["types"][0] == "GenericList[Tensor(float),Tensor(float)]"
assert cat["inputs"]["types"][2] == "GenericList[Double,Double,Double]", cat["inputs"]
assert cat["inputs"]["values"][2] == [0.5, "NaN", 2], cat["inputs"]
assert cat["inputs"]["shapes"][0] == [[5], [5]], cat["inputs"]
attrs = {a["name"]: a["value"] for a in back["attrs"]}
# Nothing is open in the forward thread by then but the thread itself.
assert (attrs["fw_parent"], attrs["seq_id"], attrs["fw_tid"], attrs["tid"], attrs["scope"]) == \
    (nodes[1]["ctrl_deps"], 9, 500, 501, 1), attrs
assert mm["ctrl_deps"] == nodes[1]["id"] == cat["ctrl_deps"], "forward pass is around them"
END
result "an execution trace of ops" $?
for kind in timeline snapshot execution; do
	"$save" $kind "$dir/odd.data" "$dir/odd.$kind" >"$dir/log" 2>&1 &&
		python3 -c '
import json, pickle, sys
pickle.load(open(sys.argv[1], "rb")) if sys.argv[1].endswith("snapshot") else \
    json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit(c))' "$dir/odd.$kind" \
			>>"$dir/log" 2>&1
	result "$kind of names and values that nobody would give" $?
done

named=$(ldd "$BUILD/tests/profiler/save-session" | grep -c libdw)
{ PT_PROFILER_JOB_NAME='a "job"' PT_PROFILER_JOB_VERSION=2 PT_PROFILER_JOB_ATTEMPT_INDEX=3 \
	"$BUILD/tests/profiler/save-session" "$dir" &&
	python3 "$here/check-session.py" "$dir" "$named" &&
	python3 "$here/check-kineto.py" "$dir/session.json" any; } >"$dir/log" 2>&1
result "a session of the library's own" $?

# 60000 ops with inputs are 40 MB of JSON.
for kind in kineto execution; do
	small "$kind takes little memory" "$save" $kind "$dir/many.data" "$dir/many.json"
done
finish
