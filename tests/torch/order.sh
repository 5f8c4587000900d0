#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ranges of a PyTorch program that do not nest: compares their times with the program's own clock.
# Usage: order.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh

for detail in names all; do
	"$xsprof" record -q --torch $detail -o data -- "$python" -W ignore "$here/order.py" \
		>true.json 2>log
	"$xsprof" report --json data >report.json 2>>log
	"$dump" -q -f ndjson data >events 2>>log
	python3 - <<-'END' 2>>log
		import json
		true = json.load(open("true.json"))
		rows = {r["name"]: r for r in json.load(open("report.json"))["ranges"]}
		# From the first begin of a name to its last end: a range may be in two parts.
		begun, ended = {}, {}
		for e in map(json.loads, open("events")):
		    if e["type"] == "begin":
		        begun.setdefault(e["name"], e["ns"])
		    elif e["type"] == "end":
		        ended[e["name"]] = e["ns"]
		for name, (least, most) in true.items():
		    got = ended[name] - begun[name]
		    assert least <= got <= most, (name, got, least, most)
		    assert rows[name]["total_ns"] <= got, (name, got, rows[name])
		    assert rows[name]["count"] == (2 if name == "same" else 1), (name, rows[name])
		    if rows[name]["count"] == 1:
		        assert least <= rows[name]["total_ns"] <= most, (name, rows[name])
	END
	result "$detail: each range has its own end" $?
	python3 - <<-'END' 2>>log
		import json
		rows = {r["name"]: r for r in json.load(open("report.json"))["ranges"]}
		for name, count in ("moved", 1), ("alone", 1), ("last", 1), ("same", 2):
		    row = rows[name]
		    assert (row["count"], row["cut"]) == (count, 1), row
		report = json.load(open("report.json"))
		assert report["unmatched_ends"] == 0 and report["open"] == 0, report
		events = list(map(json.loads, open("events")))
		assert sum(e.get("earlier", False) for e in events) == 4
		assert not any(e.get("unmatched") for e in events)
	END
	result "$detail: an end in another thread is of none there, and the range is cut" $?
	"$dump" -q -f chrome data >chrome.json 2>>log
	python3 - <<-'END' 2>>log
		import json
		stacks, at, cut = {}, {}, []
		for e in json.load(open("chrome.json"))["traceEvents"]:
		    stack = stacks.setdefault((e["pid"], e.get("tid")), [])
		    if e["ph"] == "B":
		        at.setdefault(e["name"], tuple(stack))
		        stack.append(e["name"])
		    elif e["ph"] == "E":
		        name = stack.pop()
		        if e.get("args", {}).get("cut"):
		            cut.append(name)
		    assert "end" not in e.get("args", {}), e
		assert at["behind"] == at["after"] == () and not any(stacks.values()), stacks
		assert sorted(cut) == ["alone", "last", "moved", "same"], cut
	END
	result "$detail: what comes behind it is not inside it" $?
	[ "$(grep -c '"type":"begin".*"key":"continues"' events)" = 3 ] &&
		[ "$(grep -c '"type":"end".*"continued":true' events)" = 3 ]
	result "$detail: what goes on says so" $?
done

# moved KIND NAME CONDITION: the condition is on rows, {name: row}; events; and unmatched ends
moved()
{
	"$xsprof" record -q --torch names -o data -- "$python" -W ignore "$here/moved.py" "$1" \
		"$BUILD" >out 2>log && "$dump" -q -f ndjson data >events 2>>log &&
		"$xsprof" report --json data >report.json 2>>log && python3 - "$3" <<-'END' 2>>log
		import json, sys
		report = json.load(open("report.json"))
		rows = {r["name"]: r for r in report["ranges"]}
		events = list(map(json.loads, open("events")))
		def ended(name, count, cut=0):
		    row = rows[name]
		    return (row["count"], row["cut"]) == (count, cut)
		assert report["unmatched_ends"] == 0 and report["open"] == 0, report
		assert eval("(" + sys.argv[1] + ")"), (rows, report)
	END
	result "$2" $?
}

moved inside "a range that began inside one that ended elsewhere goes on" \
	"ended('moved', 1, 1) and ended('A', 1) and rows['A']['total_ns'] >= 30_000_000"
moved pause "one that a pause has cut is none of those that follow" \
	"ended('moved', 1, 1) and ended('A', 1)"
moved fork "what the parent of a fork has open is nothing to the child" \
	"ended('moved', 1, 1) and ended('A', 1)"
moved many "a thousand that end elsewhere, at once and again" \
	"ended('request', 3000, 3000) and ended('after', 3)"
moved deep "a deep stack of which one ends early" \
	"ended('r3', 1) and ended('r65', 1) and ended('later', 3) and ended('r2', 1)"
finish
