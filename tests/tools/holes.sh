#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Losses in one ring of a thread that changes CPUs: no output may state a time across a loss as
# certain. The program's own clock decides. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
roam=$BUILD/tests/tools/roam
[ "$(nproc)" -ge 2 ] || skip "one CPU: no thread roams"
export XSPROF_SHM_DIR=$dir/shm XSPROF_BACKEND=tmpfs
mkdir -p "$XSPROF_SHM_DIR"
cd "$dir" || exit 1

# Compares the longest step shown with the program's, and counts uncertain ones. $data: the capture.
truth() # $1 name
{
	[ -s longest ] && "$xsprof" report --json "$data" 2>>log | python3 -c '
import json, sys
r = json.load(sys.stdin)
longest = int(open("longest").read())
rows = {x["name"]: x for x in r["ranges"]}
step = rows["step"]
assert r["uncertain"] > 0 and step["uncertain"] > 0, r
# Those of which every ring is whole.
assert step["count"] - step["uncertain"] >= 20, step
for row in rows.values():
    assert row["max_ns"] <= longest, (row, longest)
print(r["uncertain"], step["uncertain"])' >doubt 2>>log
	result "$1: no time is longer than the longest" $?
	read -r all step <doubt
	"$xsprof" report --steps=step --json "$data" 2>>log | python3 -c '
import json, sys
longest = int(open("longest").read())
r = json.load(sys.stdin)
assert r["steps_in_doubt"] >= int(sys.argv[1]), (r["steps_in_doubt"], sys.argv)
steps = r["steps"]
assert len(steps) >= 20 and not any(s["uncertain"] for s in steps), len(steps)
assert max(s["wall_ns"] for s in steps) <= longest, longest' "$step" 2>>log &&
		"$xsprof" report --steps=step "$data" 2>>log | grep -q \
		'^[.]* and [0-9]* ranges of that name without a row: records were lost'
	result "$1: nor a step" $?
	for format in text chrome ndjson kineto perfetto; do
		[ "$("$xsprof" dump -q -f $format "$data" 2>>log | grep -ao uncertain |
			wc -l)" = "$all" ]
		result "$1: -f $format marks the same" $?
	done
}

data=flight.data
status 0 "$xsprof" record -o $data --flight=64k -- "$roam" 1500 0 && cp out longest
truth "flight"
for more in "" -z; do
	data=discard.data
	# The recorder is stopped while the other CPU's ring overflows.
	status 0 "$xsprof" record $more -o $data -b 64k -- sh -c \
		"exec $roam 300 \$PPID" && cp out longest
	truth "discard${more:+ $more}"
done
finish
