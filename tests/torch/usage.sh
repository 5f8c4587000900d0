#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What xsprof report and the exports say of a PyTorch program, against what torch.profiler says of
# the same run: the sums of key_averages(), with memory and FLOPs, and each allocation.
# Usage: usage.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh
save=$BUILD/tests/profiler/save

# record COMMAND...: into $dir/data
record()
{
	rm -f data
	"$xsprof" record --torch all -o data -- "$@" >out 2>log ||
		! echo "exit status $?" >>log
}

# Without oneDNN's own ranges, which key_averages() lacks.
record env -u INTEL_LIBITTNOTIFY64 "$python" -W ignore "$here/averages.py" theirs &&
	python3 "$here/averages.py" compare theirs "$xsprof" data >>log
status=$?
result "report has the sums of key_averages(): $(tail -n 1 log)" $status
"$dump" -q -f kineto -o ours data 2>log && "$save" snapshot data snapshot 2>>log &&
	"$save" host-timeline data timeline.json 2>>log &&
	"$save" host-timeline data timeline.raw.json 2>>log &&
	"$xsprof" report --steps=window --json data >steps 2>>log &&
	"$python" "$here/memory.py" theirs.memory ours snapshot timeline.json timeline.raw.json \
		steps >>log 2>&1
status=$?
result "each allocation, as a trace, timeline and snapshot: $(tail -n 1 log)" $status
for by in name shape line module; do
	"$xsprof" report --by $by --json data >by.$by 2>log || break
done
[ $by = module ] && python3 - 2>>log <<'END'
import json, re
rows = {by: json.load(open("by." + by))["ranges"] for by in ("name", "shape", "line", "module")}
def total(by, what):
    return sum(r[what] for r in rows[by])
for by in rows:
    assert total(by, "self_cpu_bytes") == total("name", "self_cpu_bytes"), by
assert total("shape", "flops") == total("name", "flops") > 0
# What is in a module is of itself and of those that it has, forward and backward.
module = {r["module"]: r for r in rows["module"] if "module" in r}
assert len(module) >= 8 and any(r["cpu_bytes"] for r in module.values()), list(module)
for name, row in module.items():
    own, back = re.fullmatch(r"(.*?)( \(backward\))?", name).groups()
    parts = [r for n, r in module.items()
             if re.fullmatch(re.escape(own) + r"\.[^. ]+" + re.escape(back or ""), n)]
    assert row["cpu_bytes"] == row["self_cpu_bytes"] + sum(r["cpu_bytes"] for r in parts), name
conv = [r for r in rows["shape"] if r["name"] == "aten::conv2d"]
# Two products and sums for each weight and element of the output.
assert sorted(r["flops"] / r["count"] for r in conv) == [
    2 * 4 * 8 * 4 * (3 * 2) * 3 * 4, 2 * 4 * 3 * 8 * (3 * 3) * 8 * 8], conv
assert sum(r["flops"] for n, r in module.items() if n == "Sequential") == \
    sum(r["flops"] for n, r in module.items() if re.fullmatch(r"Sequential\.\d", n)) > 0
END
result "report --by shape, line and module: the same bytes and FLOPs in other rows" $?
record "$python" -W ignore -c 'import ctypes, torch
failed = [getattr(ctypes.CDLL(None), "_ZN3c1027reportOutOfMemoryToProfilerE%sNS_6DeviceE" % t)
          for t in ("lmm", "lll")]
def allocate(f, size):
    f(ctypes.c_int64(size), ctypes.c_size_t(1000), ctypes.c_size_t(3000), ctypes.c_uint16(0x201))
with torch.profiler.profile(profile_memory=True) as prof:
    with torch.profiler.record_function("allocates"):
        allocate(failed[0], 1 << 20)
    allocate(failed[1], 1 << 30)
def tree(events):
    for e in events:
        yield e
        yield from tree(e.children)
events = tree(prof.profiler.kineto_results.experimental_event_tree())
print(sum(e.name == "[OutOfMemory]" for e in events))' && [ "$(cat out)" -ge 1 ] &&
	"$xsprof" report --json data 2>>log | python3 -c '
import json, sys
oom = json.load(sys.stdin)["out_of_memory"]
got = [[o[k] for k in ("bytes", "device_type", "device", "allocated", "reserved", "in")]
       for o in oom["first"]]
assert got == [[1 << 20, 1, 2, 1000, 3000, "allocates"], [1 << 30, 1, 2, 1000, 3000, None]], got' \
	2>>log
result "what an allocator had no memory for: report has it, and torch.profiler as before" $?
finish
