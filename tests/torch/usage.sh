#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compares xsprof report and the exports of a PyTorch program with torch.profiler of the same run:
# the sums of key_averages(), with memory and FLOPs, and each allocation. Usage: usage.sh PYTHON.
# TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh
save=$BUILD/tests/profiler/save

# record COMMAND...: records to $dir/data
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
# A device's allocator reports like the CPU's. Here the device does not exist: type 1, index 2. Each
# version of PyTorch calls one of the two functions.
record "$python" -W ignore -c 'import ctypes, torch
for types in "lmm", "lll":
    reporter = getattr(ctypes.CDLL(None), "_ZN3c1027reportMemoryUsageToProfilerEPv%sNS_6DeviceE" %
                       types)
    def told(address, size, total):
        reporter(ctypes.c_void_p(address), ctypes.c_int64(size), ctypes.c_size_t(total),
                 ctypes.c_size_t(1 << 21), ctypes.c_uint16(0x201))
    with torch.profiler.record_function("takes"):
        told(0x7000, 4096, 4096)
        told(0x9000, 512, 4608)
    with torch.profiler.record_function("gives"):
        told(0x7000, -4096, 512)
    if types == "lmm":
        told(0x9000, -512, 0)' && "$xsprof" report --json data >rows 2>>log &&
	"$xsprof" report data >table 2>>log && "$dump" -q -f kineto -o ours data 2>>log &&
	"$dump" -q -f memory-snapshot -o snapshot data 2>>log && python3 - 2>>log <<'END'
import json, pickle, re
report = json.load(open("rows"))
rows = {r["name"]: r for r in report["ranges"]}
for name, n in ("takes", 2 * 4608), ("gives", 2 * -4096):
    assert rows[name]["count"] == 2, rows[name]
    assert rows[name]["device_bytes"] == rows[name]["self_device_bytes"] == n, rows[name]
assert report["memory"]["in_no_range"]["device_bytes"] == -512, report["memory"]
assert re.search(r"\bDevice Mem +Self Device Mem +Name\n(.*\n)*.* 9\.2 kB +9\.2 kB +takes\n",
                 open("table").read()), open("table").read()
calls = [[0x7000, 4096, 4096], [0x9000, 512, 4608], [0x7000, -4096, 512]]
want = calls + [[0x9000, -512, 0]] + calls
events = [e for e in json.load(open("ours"))["traceEvents"] if e.get("name") == "[memory]"]
got = sorted((e["args"] for e in events if e["args"]["Device Type"]), key=lambda a: a["Ev Idx"])
assert [[a[k] for k in ("Device Type", "Device Id", "Total Reserved")] for a in got] == \
    [[1, 2, 1 << 21]] * len(want), got
assert [[a[k] for k in ("Addr", "Bytes", "Total Allocated")] for a in got] == want, got
traces = pickle.load(open("snapshot", "rb"))["device_traces"]
assert [len(t) > 0 for t in traces] == [False, False, True], traces
got = [[e["action"], e["addr"], e["size"], e["frames"][0]["name"] if e["frames"] else None]
       for e in traces[2] if e["action"] != "free_requested"]
assert got == [["alloc" if n > 0 else "free_completed", at, abs(n),
                ("takes" if n > 0 else "gives") if i != 3 else None]
               for i, (at, n, _) in enumerate(want)], got
left, = pickle.load(open("snapshot", "rb"))["segments"]
assert [left[k] for k in ("device", "address", "allocated_size")] == [2, 0x9000, 512], left
END
result "what the allocator of a device reports: report, Kineto's JSON and snapshot have it" $?
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
