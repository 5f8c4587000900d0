#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What xsprof report and info count, against sums made by python3 from the same capture's
# NDJSON: they share no code with the report. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

"$make_capture" big "$dir/big.data" 200000 && "$make_capture" all "$dir/all.data" || exit 1
"$dump" -f ndjson -o "$dir/big.ndjson" "$dir/big.data" || exit 1

for by in name thread name,thread category; do
	"$xsprof" report --json --by $by "$dir/big.data" >"$dir/report" 2>"$dir/log" &&
		python3 "$here/check-report.py" "$dir/big.ndjson" "$dir/report" $by \
			>>"$dir/log" 2>&1
	result "report --by $by: count, total, self, min, p50, p99, max" $?
done

"$xsprof" report --name 'aten::conv*' "$dir/big.data" >"$dir/out" 2>"$dir/log"
[ "$(grep -c 'aten::' "$dir/out")" = 2 ] && grep -q 'aten::conv2d$' "$dir/out" &&
	grep -q 'aten::convolution$' "$dir/out"
result "report --name" $?
[ "$("$xsprof" report --limit 3 "$dir/big.data" | grep -c 'aten::\|autograd')" = 3 ]
result "report --limit" $?
"$xsprof" report --sort name "$dir/big.data" | sed -n 's/.*  \(a[a-z]*::.*\)/\1/p' >"$dir/out"
[ "$(wc -l <"$dir/out")" = 8 ] && LC_ALL=C sort -c "$dir/out" 2>"$dir/log"
result "report --sort name" $?
"$xsprof" report "$dir/big.data" | grep -q '^# lost: 0 records, 0 slots'
result "report tells that nothing was lost" $?
! "$xsprof" report "$dir/big.data" | grep -q "$(printf '\033')"
result "report has no colours in a pipe" $?
if command -v script >/dev/null; then
	TERM=xterm NO_COLOR='' script -qec "$xsprof report $dir/big.data" /dev/null </dev/null |
		grep -q "$(printf '\033')\[1m"
	result "report has colours on a terminal" $?
	! TERM=xterm NO_COLOR=1 script -qec "$xsprof report $dir/big.data" /dev/null </dev/null |
		grep -q "$(printf '\033')\[1m"
	result "report has none where NO_COLOR is set" $?
fi

"$xsprof" info --json "$dir/all.data" >"$dir/info" 2>"$dir/log" &&
	python3 - "$dir/info" >>"$dir/log" 2>&1 <<-'END'
		import json, sys
		i = json.load(open(sys.argv[1]))
		a, b = i["processes"]
		assert (a["pid"], a["how"], a["threads"]) == (100, "exec", 3), a
		assert a["lost_records"] == 3, a
		assert (b["pid"], b["how"], b["status"], b["threads"]) == (100, "killed", 9, 1), b
		assert a["facts"]["exe"] == "/usr/bin/alpha" and a["facts"]["env.RANK"] == "3", a
		rings = {r["ring"]: r for r in a["streams"]}
		assert rings[0]["drops"] == 3 and rings[1]["read"] == 2, rings
		assert i["lost_records"] == 3 and not i["truncated"] and i["notes"] == ["a note"], i
		assert i["clock"]["kind"] == "tsc" and abs(i["clock"]["frequency_hz"] - 1e9) < 1, i
		assert i["host"]["hostname"] == "box", i
	END
result "info --json" $?

# A full disk: what is lost belongs to a process as far as the file says to which.
"$make_capture" full "$dir/full.data"
"$xsprof" info "$dir/full.data" >"$dir/out" 2>"$dir/log" && cat "$dir/out" >>"$dir/log" &&
	grep -qE '^     0 +70 exited 0 +discard +1 +1 +7 +0 ' "$dir/out" &&
	grep -qE '^     1 +71 exited 0 +discard +1 +1 +0 +0 ' "$dir/out" &&
	grep -qE '^     - .* 3 +-  \(did not fit' "$dir/out" &&
	"$xsprof" info --json "$dir/full.data" 2>>"$dir/log" | python3 -c '
import json, sys
i = json.load(sys.stdin)
assert [p["lost_records"] for p in i["processes"]] == [7, 0], i
assert (i["lost_records"], i["lost_of_unknown"]) == (10, 3), i' 2>>"$dir/log"
result "info: what found no room is lost to whom it was" $?
! grep -q '^     - ' tests/tools/golden/all.info
result "info: and there is no such line where all is known" $?

# One sync point, as of a recorder that was killed right away: how long a tick is nobody knows.
"$make_capture" names "$dir/names.data" 1
python3 - "$here" "$dir/names.data" >"$dir/point.data" <<'END'
import struct, sys
sys.path.insert(0, sys.argv[1])
import fuzz

data = bytearray(open(sys.argv[2], "rb").read())
at, stored = next((at, stored) for at, kind, stored in fuzz.chunks(data) if kind == 2)
body = at + fuzz.CHUNK
struct.pack_into("<Q", data, body + stored // 2, 0)
struct.pack_into("<I", data, at + 48, fuzz.crc32c(data[body:body + stored]))
struct.pack_into("<I", data, at + 52, fuzz.crc32c(data[at:at + 52]))
sys.stdout.buffer.write(data)
END
for verb in report info; do
	"$xsprof" $verb "$dir/point.data" >"$dir/out" 2>"$dir/log"
	grep -q 'error unknown' "$dir/out" && ! grep -q 18446744073709551615 "$dir/out"
	result "$verb: the error of a clock that is not known" $?
done
"$make_capture" hostile "$dir/hostile.data"
for verb in report info; do
	"$xsprof" $verb "$dir/hostile.data" 2>"$dir/log" | LC_ALL=C tr -d '\n\200-\377' |
		LC_ALL=C grep -q '[^[:print:]]'
	[ $? = 1 ] && "$xsprof" $verb --json "$dir/hostile.data" 2>>"$dir/log" |
		python3 -m json.tool >"$dir/out" 2>>"$dir/log"
	result "$verb of hostile names: nothing drives a terminal, JSON is valid" $?
done
finish
