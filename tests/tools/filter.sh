#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Filters of xsprof-dump: by threads, times, names and categories, a number of events; and ranges
# that are open at the borders of a window. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

"$make_capture" all "$dir/all.data" &&
	"$dump" --allow-lost -o "$dir/all.txt" "$dir/all.data" 2>"$dir/log" &&
	"$dump" --allow-lost -q -f ndjson -o "$dir/all.ndjson" "$dir/all.data" || exit 1

# Makes the same choice from all events.
cat >"$dir/choose.py" <<'END'
import json, sys
whole, part, rule = sys.argv[1:4]
nameless = ("lost", "producer", "exit")
def same_record(e):      # what a name filter keeps: arguments go with the record before them
    global last
    if e["type"] in ("args", "stack"):
        return last
    last = eval(rule)
    return last
last = False
want = []
for line in open(whole, encoding="utf-8"):
    e = json.loads(line)
    name, cat = e.get("name", ""), e.get("cat", "default")
    if same_record(e):
        want.append(line)
got = list(open(part, encoding="utf-8"))
if want != got:
    print("want %d lines, got %d" % (len(want), len(got)))
    print("".join(set(want) ^ set(got)))
    sys.exit(1)
if not got:
    sys.exit("nothing was chosen: the test tests nothing")
END
filter() # $1 rule, then options
{
	local rule=$1

	shift
	"$dump" --allow-lost -q -f ndjson "$@" "$dir/all.data" >"$dir/part" 2>"$dir/log" &&
		python3 "$dir/choose.py" "$dir/all.ndjson" "$dir/part" "$rule" >>"$dir/log" 2>&1
	result "filter $*" $?
}
filter 'e["tid"] == 101 or e["type"] in nameless' --tid 101
filter 'e["type"] in nameless or e["tid"] in (100,)' --tid 7,99-100
filter 'e["cpu"] == 1 or e["type"] in ("producer", "exit")' --cpu 1
filter 'e["ns"] >= 1000000020000' --from 20us
filter 'e["ns"] >= 1000000020000 and e["ns"] <= 1000000030000' --from @1000.000020 --to 0.00003
filter 'name == "loss" or e["type"] in nameless' --name loss
filter 'cat == "math" and "name" in e or e["type"] in nameless' --category 'm*h'
filter 'name in ("load", "frame") or e["type"] in nameless' --name 'fra?e' --name load
filter 'e["pid"] == 100' --pid 100
filter 'e["pid"] == 100' -p 100
"$dump" --allow-lost -n 7 "$dir/all.data" 2>/dev/null | cmp -s - <(head -n 7 "$dir/all.txt")
result "limit" $?
"$dump" --allow-lost -f chrome -n 12 "$dir/all.data" -o "$dir/part.json" 2>/dev/null &&
	python3 "$here/check-chrome.py" "$dir/part.json" 12 >"$dir/log"
result "chrome is whole with a limit" $?
"$dump" --allow-lost -f chrome --from 5.5us --to 14.5us "$dir/all.data" -o "$dir/part.json" \
	2>/dev/null &&
	python3 "$here/check-chrome.py" "$dir/part.json" 8 >"$dir/log"
result "chrome is whole in a window" $?

# "step" is open from 10 to 80 us, "wait" from 20 to 60, and alpha has CPU 0 from 5 to 25.
"$make_capture" kernel "$dir/window.data" || exit 1
for format in chrome kineto; do
	"$dump" --allow-lost -q -f $format --from 15us --to 40us "$dir/window.data" \
		-o "$dir/$format.json" 2>"$dir/log"
	python3 - "$dir/$format.json" 2>>"$dir/log" <<-'END'
		import json, sys
		t = json.load(open(sys.argv[1]))
		begin, ranges = {}, []
		for e in t["traceEvents"]:
		    base = 1000000000 if "baseTimeNanoseconds" in t else 0
		    if e["ph"] == "B":
		        begin[e["name"]] = e["ts"]
		    elif e["ph"] == "E":
		        ranges.append((e["name"], begin[e["name"]], e["ts"]))
		        assert e["args"]["unfinished"], e
		    elif e["ph"] == "X":
		        end = round(e["ts"] + e["dur"] - base, 3)
		        ranges.append((e["name"], e["ts"] - base, end))
		        assert e["cat"] == "Trace" or e["args"].get("unfinished") or \
		            e["args"]["finished"] is False, e
		want = {"wait": (20, 40), "step": (15, 40) if base else (10, 40)}
		if base:
		    want["xsprof (0)"] = (15, 40)
		assert sorted(ranges) == sorted((n, *w) for n, w in want.items()), ranges
		lines = t.get("systemTraceEvents", "")
		first = [s for s in lines.split("\n") if " [000] " in s][:1]
		assert base or "0.000015: sched_switch: prev_comm=swapper/0" in first[0] and \
		    "next_comm=alpha next_pid=100" in first[0], first
	END
	result "$format: what is open at both ends of a window lasts from one to the other" $?
done
finish
