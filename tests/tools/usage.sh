#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# xsprof report: what ranges allocate and free, what ops compute, and the memory in use in each
# step. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

"$make_capture" usage "$dir/data" || exit 1

# rows OPTIONS...: writes the report's JSON to $dir/json
rows()
{
	"$xsprof" report --allow-lost --json "$@" "$dir/data" >"$dir/json" 2>"$dir/log"
}

rows && python3 - "$dir/json" 2>>"$dir/log" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
got = {r["name"]: (r["cpu_bytes"], r["self_cpu_bytes"], r["device_bytes"],
                   r["self_device_bytes"], r["flops"]) for r in report["ranges"]}
assert got == {
    "step": (100 + 13, -300 + 13, 1000, 0, 0), "aten::mm": (400, 0, 1000, 1000, 48),
    "aten::empty": (400, 400, 0, 0, 0), "aten::copy_": (120, 120, 0, 0, 0),
    "other": (11, 5, 0, 0, 0), "whole": (0, 0, 0, 0, 0), "aten::add.Tensor": (0, 0, 0, 0, 5),
    "tail": (5 + 6 + 7 + 9 + 11, 9 + 11, 0, 0, 0), "lossy": (0, 0, 0, 0, 0)}, got
assert report["memory"] == {
    "records": 17,
    "in_no_range": {"allocations": 3, "frees": 1, "cpu_bytes": 11, "device_bytes": 0},
    "without_times": {"cpu_bytes": 70, "device_bytes": 0, "flops": 0},
    "left_out": 0, "flops_unknown": 3}, report["memory"]
oom = report["out_of_memory"]
assert oom["count"] == 2 and [o["in"] for o in oom["first"]] == ["aten::empty", None], oom
assert [(o["bytes"], o["device_type"], o["device"], o["allocated"], o["reserved"], o["tid"])
        for o in oom["first"]] == [(1 << 20, 1, 0, 1000, 3000, 200),
                                   (1 << 20, 0, 0, 1000, None, 200)], oom
END
result "bytes and FLOPs of ranges; those in no range, and what is in doubt" $?
rows --include-uncertain && python3 - "$dir/json" 2>>"$dir/log" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
row = [r for r in report["ranges"] if r["name"] == "lossy"][0]
assert (row["cpu_bytes"], row["self_cpu_bytes"]) == (70, 70), row
assert report["memory"]["without_times"] == {"cpu_bytes": 0, "device_bytes": 0, "flops": 0}
END
result "--include-uncertain: and with them" $?
rows --by thread && python3 - "$dir/json" 2>>"$dir/log" <<'END'
import json, sys
got = {r["tid"]: (r["cpu_bytes"], r["self_cpu_bytes"], r["device_bytes"], r["flops"])
       for r in json.load(open(sys.argv[1]))["ranges"]}
assert got == {200: (100 + 120 + 27, -300 + 400 + 120 + 5 + 13 + 9, 1000, 53), 201: (0, 0, 0, 0),
               202: (0, 0, 0, 0), 210: (11, 11, 0, 0)}, got
END
result "--by thread: of the outermost ranges, and of all" $?
rows --from 0.000026 --to 0.00004 && python3 - "$dir/json" 2>>"$dir/log" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
got = {r["name"]: r["cpu_bytes"] for r in report["ranges"]}
assert got == {"aten::copy_": 120, "aten::mm": 0, "tail": 0, "other": 0}, got
assert report["memory"]["in_no_range"]["allocations"] == 2, report
assert report["out_of_memory"]["count"] == 0, report
END
result "--from and --to" $?
rows --by shape && python3 - "$dir/json" 2>>"$dir/log" <<'END'
import json, sys
got = {(r["name"], r.get("inputs")): (r["cpu_bytes"], r["flops"])
       for r in json.load(open(sys.argv[1]))["ranges"]}
assert got["aten::mm", "tensor[2, 3], tensor[3, 4]"] == (400, 48), got
assert ("other", "tensor[2, 3]") in got, got
END
result "--by shape; an op that another thread ends before all of its inputs" $?
for sort in memory flops; do
	"$xsprof" report --allow-lost -s $sort "$dir/data" >"$dir/out" 2>"$dir/log"
	cat "$dir/out" >>"$dir/log"
	sed -n '/Name$/,/^$/p' "$dir/out" | sed -n 2p | grep -q ' aten::mm$'
	result "--sort $sort" $?
done
"$xsprof" report --allow-lost -n 3 "$dir/data" >"$dir/out" 2>"$dir/log"
cat "$dir/out" >>"$dir/log"
grep -qx 'CPU Mem  Self CPU Mem  Device Mem  Self Device Mem  FLOPs  Name' "$dir/out" &&
	grep -qE '^ *113 B +-287 B +1\.0 kB +- +-  step$' "$dir/out" &&
	grep -qE '^ *400 B +- +1\.0 kB +1\.0 kB +48  aten::mm$' "$dir/out" &&
	grep -qx '\.\.\. rows left out: 4' "$dir/out" &&
	grep -qx '\.\.\. and 3 allocations and 1 free in no range: 11 B' "$dir/out" &&
	grep -q '^\.\.\. and in ranges without times, .*: 70 B, 0 FLOPs$' "$dir/out" &&
	grep -q '^\.\.\. the FLOPs of 3 ops are unknown: ' "$dir/out" &&
	grep -q '^# records were lost: allocations or frees may be missing' "$dir/out"
result "the table" $?
grep -qx 'Out of memory: 2 allocations failed:' "$dir/out" && grep -qx \
"  0.000061000  ?-200  aten::empty: 1.0 MB of device 1:0; 1.0 kB allocated, 3.0 kB reserved" \
	"$dir/out" &&
	grep -qx "  0.000071000  ?-200  in no range: 1.0 MB of cpu; 1.0 kB allocated" \
	"$dir/out"
result "what found no memory" $?
"$make_capture" big "$dir/big.data" 1000
"$xsprof" report "$dir/big.data" >"$dir/out" 2>"$dir/log" &&
	"$xsprof" report --json "$dir/big.data" >"$dir/json" 2>>"$dir/log" &&
	! grep -qE 'CPU Mem|FLOPs|# memory' "$dir/out" && ! grep -qE '_bytes|flops' "$dir/json"
result "where nothing is known of it there is no table" $?

"$xsprof" report --allow-lost --from 0.0000355 --to 0.0000385 "$dir/data" >"$dir/out" 2>"$dir/log"
cat "$dir/out" >>"$dir/log"
grep -qx '\.\.\. and 2 allocations and 1 free in no range: 8 B' "$dir/out" &&
	! grep -q FLOPs "$dir/out"
result "where there is no range it is said as well" $?

# Each op shown alone has the place in its program where it was called.
where=' (module Net.stem, line train.py(12): Net.forward)'
"$xsprof" report --allow-lost "$dir/data" >"$dir/out" 2>"$dir/log"
cat "$dir/out" >>"$dir/log"
grep -qxF "  thread 210 was in tail$where for 51.000 us when killed by SIGKILL" "$dir/out" &&
	rows && python3 - "$dir/json" 2>>"$dir/log" <<'END'
import json, sys
(process,) = json.load(open(sys.argv[1]))["open_at_end"]
assert [(r["module"], r["line"]) for r in process["ranges"]] == [
    ("Net.stem", "train.py(12): Net.forward")], process
END
result "what was open at the end: its module and line" $?
for what in "--why aten::add.Tensor -n 1" "--gaps -n 50"; do
	# shellcheck disable=SC2086 # split into words on purpose
	"$xsprof" report --allow-lost $what "$dir/data" >"$dir/out" 2>"$dir/log"
	cat "$dir/out" >>"$dir/log"
	[ "$(grep -cF "aten::add.Tensor$where, thread 200" "$dir/out")" = 1 ] &&
		[ "$(grep -cF "$where" "$dir/out")" = 1 ] && rows $what &&
		[ "$(grep -c '"module":"Net.stem","line":"train.py(12): Net.forward"' \
			"$dir/json")" = 1 ]
	result "report ${what%% -n*}: likewise" $?
done

# A step's maximum is its process's, whatever other threads' steps are.
rows --steps=step && python3 - "$dir/json" 2>>"$dir/log" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
got = {(s["tid"], s["step"]): (s.get("peak_cpu_bytes"), s.get("cpu_bytes_at_end"),
                               s.get("peak_device_bytes"), s.get("device_bytes_at_end"))
       for s in report["steps"]}
assert got == {(200, 1): (570, 170, 1000, 1000), (200, 2): (316, 316, 1000, 1000),
               (202, 1): (570, 570, 1000, 1000), (202, 2): (170, 170, 1000, 1000)}, got
assert report["out_of_memory"]["count"] == 2, report
END
result "--steps: the most in each" $?
rows --steps=tail && python3 - "$dir/json" 2>>"$dir/log" <<'END'
import json, sys
steps = json.load(open(sys.argv[1]))["steps"]
assert {s["tid"]: s.get("peak_cpu_bytes") for s in steps} == {200: 325, 210: None}, steps
END
result "--steps: none where the allocator does not say it" $?
"$xsprof" report --allow-lost --steps=step "$dir/data" >"$dir/out" 2>"$dir/log"
cat "$dir/out" >>"$dir/log"
grep -qx '    Step           Begin  CPU peak  CPU at end  Device peak  Device at end' "$dir/out" &&
	grep -qE '^ +1 +0\.000010000 +570 B +170 B +1\.0 kB +1\.0 kB$' "$dir/out" &&
	grep -qx 'Out of memory: 2 allocations failed:' "$dir/out"
result "--steps: its table" $?

# Too many names take no room from modules, and the reverse.
"$make_capture" modules "$dir/names.data" 30000 1 &&
	"$xsprof" report --json --by module "$dir/names.data" >"$dir/json" 2>"$dir/log" &&
	python3 - "$dir/json" 2>>"$dir/log" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
rows = {r.get("module"): r["count"] for r in report["ranges"]}
assert rows == {"Net.stem": 15000, "Net.m0": 15000, None: 30000, "Net": 0}, rows
assert report["modules_without_room"] == 0, report["modules_without_room"]
END
result "--by module: two, under 30,000 names" $?
"$xsprof" report --json --by shape --name aten::mm "$dir/names.data" >"$dir/json" 2>"$dir/log" &&
	"$xsprof" report --json --by shape "$dir/names.data" >"$dir/all.json" 2>>"$dir/log" &&
	python3 - "$dir/json" "$dir/all.json" 2>>"$dir/log" <<'END'
import json, sys
for path in sys.argv[1:]:
    rows = [r for r in json.load(open(path))["ranges"] if r["name"] == "aten::mm"]
    assert [(r["count"], r["inputs"]) for r in rows] == [(30000, "tensor[2, 3]")], rows
END
result "--by shape: likewise" $?
"$make_capture" modules "$dir/modules.data" 50000 20000 &&
	"$xsprof" report --json --by module "$dir/modules.data" >"$dir/json" 2>"$dir/log" &&
	"$xsprof" report --by module -n 3 "$dir/modules.data" >"$dir/out" 2>>"$dir/log" &&
	grep -q "did not fit: these ops are in rows '\.\.\.'" "$dir/out" &&
	python3 - "$dir/json" 2>>"$dir/log" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
rows = {r.get("module"): r["count"] for r in report["ranges"]}
left = rows.pop("...")
assert rows.pop(None) == 50000, rows
assert left == report["modules_without_room"] > 10000, (left, report["modules_without_room"])
assert sum(rows.values()) + left == 50000, (sum(rows.values()), left)
END
result "--by module: those without room are in a row of their own, and counted" $?
finish
