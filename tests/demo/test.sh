#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks the demo: all of PyTorch's ops and oneDNN's tasks, OpenMP's and mold's are in one
# recording, equal in every output; the programs' own output is as without a recorder; and there are
# as many OpenCL kernels and NVTX ranges as the programs made. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh

BUILD=${BUILD:-build}
export BUILD
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-demo.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT

is() # $1 name, $2 what was found, $3 what should be
{
	correct "$1" "$([ "$2" = "$3" ] || printf '%s\n' "found: $2" "want: $3" | head -n 40)"
}

lines() { grep -cE "$1" "$dir/trace.txt"; }

export XSPROF_VIEWERS_DIR=${XSPROF_VIEWERS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/xsprof/viewers}
if ! OUT=$dir tests/demo/demo.sh >"$dir/log" 2>&1; then
	tap_line 1 "the demo runs" "$(tail -n 20 "$dir/log")"
	finish
fi
result "the demo runs" 0
tests/demo/work.sh "$BUILD/demo" 2>&1 | sort >"$dir/alone"
is "the programs print what they print unrecorded" \
	"$(grep -E '^(train|heat|hello): ' "$dir/log" | sort)" "$(cat "$dir/alone")"

# 20 steps of 2 convolutions forward and 3 backward, and the layouts they want.
is "text: 100 convolutions begin and end" \
	"$(lines ' begin: +convolution') $(lines ' end: +convolution')" "100 100"
is "text: 300 reorders begin and end" \
	"$(lines ' begin: +reorder') $(lines ' end: +reorder')" "300 300"
# 100 parallel regions; the barriers within and at the end of them.
is "text: 100 parallel regions and 150 barriers of OpenMP" \
	"$(lines 'omp\$parallel') $(lines 'omp\$barrier')" "100 150"
is "text: mold's tasks are there" "$([ "$(lines 'tbb_parallel_for')" -gt 20 ] && echo yes)" yes

counts()
{
	/usr/bin/python3 - "$@" <<-END
		import collections
		import json
		import sys

		with open(sys.argv[1], "rb") as f:
		    trace = json.load(f)
		events = trace["traceEvents"] if isinstance(trace, dict) else trace
		seen = collections.Counter(
		    e["name"] for e in events if e["ph"] in "BX" and "name" in e)
		bad = [e for e in events
		       if type(e.get("pid")) is not int or type(e.get("tid")) is not int]
		print(seen["convolution"], seen["reorder"], len(bad))
	END
}
is "JSON: the same counts, numbers as pid and tid everywhere" "$(counts "$dir/trace.json")" \
	"100 300 0"

# Each op has the same count in every output.
"$BUILD/bin/xsprof" report --json --allow-lost -i "$dir/xsprof.data" >"$dir/report.json"
python3 tests/tools/check-perfetto.py -r "$dir/trace.pftrace" >"$dir/ranges" 2>&1
/usr/bin/python3 - "$dir" >"$dir/ops" 2>&1 <<-'END'
	import collections
	import json
	import re
	import sys

	def of(names):
	    return collections.Counter(n for n in names if n.startswith("aten::"))

	def events(file):
	    with open(sys.argv[1] + file, "rb") as f:
	        trace = json.load(f)
	    trace = trace["traceEvents"] if isinstance(trace, dict) else trace
	    return of(e["name"] for e in trace if e["ph"] in "BX" and "name" in e)

	with open(sys.argv[1] + "/trace.txt") as f:
	    text = of(re.findall(r" begin: +(\S+)", f.read()))
	with open(sys.argv[1] + "/report.txt") as f:
	    table = of(row.split()[-1] for row in f if row.split()[:1] and row.split()[0].isdigit()
	               for _ in range(int(row.split()[0])))
	with open(sys.argv[1] + "/report.json") as f:
	    rows = of(r["name"] for r in json.load(f)["ranges"] for _ in range(r["count"]))
	with open(sys.argv[1] + "/ranges") as f:
	    perfetto = of(json.loads(row.split(None, 2)[2]) for row in f)
	for what, got in (("chrome", events("/trace.json")), ("kineto", events("/kineto.json")),
	                  ("perfetto", perfetto), ("report", rows), ("table", table)):
	    for name in sorted(set(got) | set(text)):
	        if got[name] != text[name]:
	            print("%s: %d of %s, not %d" % (what, got[name], name, text[name]))
	print(len(text) > 30, text["aten::conv2d"], text["aten::convolution_backward"],
	      text["aten::linear"])
END
is "PyTorch's ops: 20 steps of them, as many in each output" \
	"$(cat "$dir/ops")" "True 40 40 20"
is "report --steps: 20 steps" \
	"$(grep -oE "^# python3-[0-9]+: [0-9]+ steps" "$dir/steps.txt" | cut -d" " -f3-)" "20 steps"

row() { awk -v name="$1" '$NF == name { print $1; exit }' "$dir/report.txt"; }
is "report: the same counts" "$(row convolution) $(row reorder)" "100 300"
is "nothing lost" "$(grep -oE '[0-9]+ lost' "$dir/log" | head -n 1)" "0 lost"
is "four processes, one recording" \
	"$(grep -oE 'from [0-9]+ processes' "$dir/log" | head -n 1)" "from 4 processes"
# The count in its source: 20,000 measured ones, and two before.
is "report --gpu: 20,002 kernels of OpenCL" \
	"$(awk '$NF == "global_bandwidth_v1_local_offset" { print $1 }' "$dir/opencl.txt")" 20002
is "and the calls that started them" \
	"$(awk '!/^#/ && $NF == "clEnqueueNDRangeKernel" { print $1 }' "$dir/opencl.txt")" 20002

for i in steps report opencl nvtx why; do
	[ ! -f "$dir/$i.txt" ] || cat "$dir/$i.txt"
done >"$dir/tables"
# Lines of a table are lines of a report, complete or with "..." in place of their middle.
is "no line of a table is wider than the screen, and where it was cut it says so" \
	"$(awk 'NR == FNR { seen[$0] = 1; next }
		/^== where/ { exit }
		on { shown++
		     if (length > 120)
			     print "too wide: " $0
		     good = $0 in seen
		     if (!good && length == 120 && substr($0, 78, 3) == "...") {
			     few++
			     for (line in seen)
				     good += length(line) > 120 &&
					     index(line, substr($0, 1, 77)) == 1 &&
					     substr(line, length(line) - 39) == substr($0, 81)
		     }
		     if (!good)
			     print "in no report: " $0 }
		/^== .*report/ { on = 1 }
		/^$/ { on = 0 }
		END { if (shown < 10 || !few) print shown + 0 " shown, " few + 0 " cut" }' \
		"$dir/tables" "$dir/log")" ""

if [ ! -f "$dir/nvtx.txt" ]; then
	why=$(sed -n 's/^== not recorded: a Python program that uses NVTX: //p' "$dir/log")
	for name in "NVTX: ranges" "NVTX: nothing lost" "NVTX: a trace for Perfetto"; do
		skipped "$name" "$why"
	done
	finish
fi
nvtx()
{
	awk -v name="$1" 'index($0, "  " name) == length - length(name) - 1 { print $1; exit }' \
		"$dir/nvtx.txt"
}

is "NVTX: 200 batches, each packed, unpacked, parsed and consumed" \
	"$(for i in batch pack unpack parse "wait for room" "wait for a batch" consume checkpoint
	do
		nvtx "$i"
	done | paste -sd ' ')" "200 200 200 200 200 200 200 4"
is "NVTX: nothing lost" "$(grep -c '^# lost: 0 records' "$dir/nvtx.txt")" 1
# Begins and ends of 1402 ranges, marks and samples, each a packet.
packets=$("$BUILD/tests/tools/read-perfetto" "$dir/nvtx.pftrace")
is "NVTX: a trace for Perfetto" "$([ "${packets:-0}" -gt 3008 ] && echo whole)" whole
finish
