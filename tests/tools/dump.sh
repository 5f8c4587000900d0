#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The output of xsprof-dump: every type of record in every format, compared with golden/; unusual
# names; the same number of events in each format. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

for kind in all hostile kernel; do
	"$make_capture" $kind "$dir/$kind.data" || exit 1
done

# Leaves out the clock error, which depends on the decoder's fit.
golden() # $1 name in golden/, then a command
{
	local name=$1

	shift
	"$@" 2>"$dir/log" | sed -e 's/"clock_error_ns":[0-9]*/"clock_error_ns":0/' \
		-e 's/error at most [0-9]* ns/error at most 0 ns/' -e "s|$dir/||g" >"$dir/$name"
	if [ "${XSPROF_GOLDEN:-}" = update ]; then
		cp "$dir/$name" "$here/golden/$name"
	fi
	diff -u "$here/golden/$name" "$dir/$name" >>"$dir/log"
}

golden all.txt "$dump" --allow-lost -i "$dir/all.data"
result "text" $?
golden all.ndjson "$dump" --allow-lost -f ndjson -i "$dir/all.data"
result "ndjson" $?
golden all.folded "$dump" --allow-lost -f folded -i "$dir/all.data"
result "folded" $?
"$make_capture" tasks "$dir/tasks.data"
"$dump" -f folded -o "$dir/tasks.folded" "$dir/tasks.data" >"$dir/out" 2>"$dir/log"
[ $? = 1 ] &&
	grep -q 'tasks.data: has no stack samples: .*, and with the category python$' "$dir/log" &&
	[ ! -e "$dir/tasks.folded" ] && [ ! -s "$dir/out" ] &&
	! "$dump" -f folded --pid 1 "$dir/all.data" 2>"$dir/log" &&
	grep -q 'no sample matches' "$dir/log"
result "folded: of no samples no file, and a word on how to record them" $?
golden all.json "$dump" --allow-lost -f chrome -i "$dir/all.data"
result "chrome" $?
golden all.report "$xsprof" report --allow-lost -i "$dir/all.data"
result "report" $?
golden all.info "$xsprof" info --allow-lost -i "$dir/all.data"
result "info" $?
golden kernel.txt "$dump" --allow-lost -i "$dir/kernel.data"
result "text, with the kernel's events" $?
golden kernel.ndjson "$dump" --allow-lost -f ndjson -i "$dir/kernel.data"
result "ndjson, with the kernel's events" $?
golden kernel.json "$dump" --allow-lost -f chrome -i "$dir/kernel.data"
result "chrome, with the kernel's events" $?
golden hostile.txt "$dump" --allow-lost -i "$dir/hostile.data"
result "text of hostile names" $?

! LC_ALL=C grep -q '[^[:print:]]' <(LC_ALL=C tr -d '\n\200-\377' <"$dir/hostile.txt") &&
	! grep -qP '\x{9b}|\x{202e}' "$dir/hostile.txt"
result "nothing in it drives a terminal" $?
iconv -f UTF-8 -t UTF-8 "$dir/hostile.txt" >"$dir/out" 2>"$dir/log"
result "all of it is UTF-8" $?

# Parsed as JSON by an independent parser.
for kind in all hostile kernel; do
	"$dump" --allow-lost -q -f chrome -o "$dir/$kind.json" -i "$dir/$kind.data" 2>"$dir/log" &&
		python3 -m json.tool "$dir/$kind.json" >"$dir/out" 2>>"$dir/log"
	result "chrome of $kind is JSON" $?
	lines=$("$dump" --allow-lost -q -i "$dir/$kind.data" 2>/dev/null | grep -vc ' open: ')
	python3 "$here/check-chrome.py" "$dir/$kind.json" "$lines" >"$dir/log"
	result "chrome of $kind keeps the rules of the viewers, $lines events" $?
	"$dump" --allow-lost -q -f ndjson -o "$dir/$kind.ndjson" -i "$dir/$kind.data" 2>"$dir/log"
	python3 - "$dir/$kind.ndjson" "$lines" >"$dir/log" 2>&1 <<-'END'
		import json, sys
		def no(text): raise ValueError(text)
		lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
		events = [json.loads(l, parse_constant=no) for l in lines]
		nr = sum(e["type"] != "open" for e in events)
		assert nr == int(sys.argv[2]), (nr, sys.argv[2])
		# What is no UTF-8 can be had back from its hex form.
		for e in events:
		    for v in [e, e.get("fields", {})] + e.get("args", []):
		        for key in [k for k in v if k.endswith("_hex") and k[:-4] in v]:
		            raw = bytes.fromhex(v[key])
		            assert "\ufffd" in v[key[:-4]], v
		            assert raw.decode("utf-8", "ignore") != raw.decode("latin1"), v
	END
	result "ndjson of $kind is JSON on every line" $?
done

# Random ranges: strictly nested on every track; the unpaired ones must be those of report, which
# uses the decoder's own pairing.
for seed in 1 2 3 4 5 6; do
	"$make_capture" mess "$dir/mess.data" $seed
	lines=$("$dump" --allow-lost -i "$dir/mess.data" | grep -vc ' open: ')
	"$dump" --allow-lost -f chrome -o "$dir/mess.json" "$dir/mess.data" 2>"$dir/log" &&
		python3 "$here/check-chrome.py" "$dir/mess.json" "$lines" >>"$dir/log" &&
		"$xsprof" report --json "$dir/mess.data" >"$dir/mess.report" 2>>"$dir/log" &&
		python3 - "$dir/mess.json" "$dir/mess.report" >>"$dir/log" 2>&1 <<-'END'
			import json, sys
			a = json.load(open(sys.argv[1]))["otherData"]
			b = json.load(open(sys.argv[2]))
			assert a["ranges_drawn_async"] > 0 and b["cut"] > 1000, (a, b)
			assert a["ranges_cut"] == b["cut"], (a, b)
			assert a["ranges_unfinished"] == b["open"], (a, b)
			assert a["ends_unmatched"] == b["unmatched_ends"], (a, b)
		END
	result "ranges at random nest and pair, seed $seed" $?
done
# The check itself must notice one moved range.
python3 - "$dir/mess.json" >"$dir/moved.json" <<'END'
import json, sys
trace = json.load(open(sys.argv[1]))
b = next(e for e in trace["traceEvents"] if e["ph"] == "X" and e["dur"] > 0.1)
c = dict(b, ts=b["ts"] + b["dur"] / 2)
trace["traceEvents"].append(c)
json.dump(trace, sys.stdout)
END
! python3 "$here/check-chrome.py" "$dir/moved.json" >"$dir/log" &&
	grep -q 'does not nest' "$dir/log"
result "a range that does not nest is noticed by the check" $?

# A range without length is one event, with the arguments of both ends.
"$make_capture" empty "$dir/empty.data" &&
	"$dump" -q -f chrome -o "$dir/empty.json" "$dir/empty.data" 2>"$dir/log" &&
	lines=$("$dump" -q "$dir/empty.data" 2>>"$dir/log" | grep -vc ' open: ') &&
	python3 "$here/check-chrome.py" "$dir/empty.json" "$lines" >>"$dir/log" &&
	python3 - "$dir/empty.json" >>"$dir/log" 2>&1 <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
got = {e["name"]: (e["ts"], e.get("args")) for e in events if e["ph"] == "X" and e["dur"] == 0}
b, e = {"plain": "b"}, {"plain": "e"}
assert got == {"plain": (20, None), "begin": (30, b), "end": (40, e),
               "both": (50, {**b, "plain (2)": "e"}), "around": (60, None),
               "inside": (60, None), "last": (200, {**b, "unfinished": True})}, got
assert [e["name"] for e in events if e["ph"] in "BE"] == ["outer", "long", "long", "outer"]
END
result "ranges of no length" $?
# A range that begins with the one around it stays inside; Perfetto would sort an X before it.
"$make_capture" together "$dir/together.data" &&
	"$dump" -q -f chrome -o "$dir/together.json" "$dir/together.data" 2>"$dir/log" &&
	lines=$("$dump" -q "$dir/together.data" 2>>"$dir/log" | wc -l) &&
	python3 "$here/check-chrome.py" "$dir/together.json" "$lines" >>"$dir/log" &&
	python3 - "$dir/together.json" >>"$dir/log" 2>&1 <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
got = [(e["name"], e["ph"], e["ts"], e["tid"] == 90) for e in events if e["ph"] in "BEX"]
assert got == [("a", "B", 10, True), ("d", "X", 10, True), ("b", "B", 10, True),
               ("b", "E", 20, True), ("c", "X", 10, False), ("a", "E", 40, True),
               ("f", "B", 50, True), ("e", "B", 50, True), ("e", "E", 60, True),
               ("f", "E", 60, True), ("g", "B", 60, True), ("g", "E", 70, True)], got
END
result "ranges that begin together" $?
# More than the buffer can hold.
"$make_capture" empties "$dir/empty.data" 20000 &&
	"$dump" -q -f chrome -o "$dir/empty.json" "$dir/empty.data" 2>"$dir/log" &&
	lines=$("$dump" -q "$dir/empty.data" 2>>"$dir/log" | grep -vc ' open: ') &&
	python3 "$here/check-chrome.py" "$dir/empty.json" "$lines" >>"$dir/log" &&
	[ "$(grep -c '^{"ph":"X".*"dur":0.0}' "$dir/empty.json")" = 20000 ]
result "many of them" $?

# A program is named by the first word of its command line, in every format.
"$make_capture" programs "$dir/programs.data" || exit 1
programs="python3 python3 run heat -sh alone told /"
"$dump" -q -f ndjson "$dir/programs.data" 2>"$dir/log" | grep -o '"program":"[^"]*' |
	cut -d'"' -f4 | xargs >"$dir/names.ndjson"
for format in chrome kineto; do
	"$dump" -q -f $format "$dir/programs.data" 2>>"$dir/log" | grep '"process_name"' |
		grep -o '"name":"[^"]*"}' | cut -d'"' -f4 | xargs >"$dir/names.$format"
done
"$dump" -q -f perfetto -o "$dir/programs.pf" "$dir/programs.data" 2>>"$dir/log" &&
	python3 "$here/check-perfetto.py" -p "$dir/programs.pf" | grep -o '"process_name": "[^"]*' |
	cut -d'"' -f4 | xargs >"$dir/names.perfetto"
"$xsprof" report -q --by process --sort name "$dir/programs.data" 2>>"$dir/log" |
	awk '$2 == "1.000" { sub(/-[0-9]*$/, "", $NF); print $NF }' | sort | xargs \
	>"$dir/names.report"
[ "$(cat "$dir/names.ndjson")" = "$programs" ] &&
	[ "$(cat "$dir/names.perfetto")" = "$programs" ] &&
	[ "$(cat "$dir/names.chrome")" = "$programs process" ] &&
	[ "$(cat "$dir/names.kineto")" = "$programs process" ] &&
	[ "$(cat "$dir/names.report")" = "$(tr ' ' '\n' <<<"$programs ?" | sort | xargs)" ] ||
	{ tail -n 2 "$dir"/names.* >>"$dir/log"; false; }
result "what programs are called" $?

# Kineto's readers give PyTorch's categories a meaning: other categories become an argument.
"$make_capture" tasks "$dir/tasks.data" &&
	"$dump" -q -f kineto -o "$dir/tasks.json" "$dir/tasks.data" 2>"$dir/log" &&
	python3 - "$dir/tasks.json" >>"$dir/log" 2>&1 <<'END'
import collections, json, sys
got = collections.Counter((e["cat"], e["args"].get("category"))
                          for e in json.load(open(sys.argv[1]))["traceEvents"]
                          if e["name"] == "convolution" and e["ph"] == "X")
assert got == {("user_annotation", "create"): 3, ("user_annotation", "execute"): 4}, got
END
result "kineto: ranges of one name in two categories are told apart" $?

# More threads and names than the tool remembers, most of them with a range open. An instant with a
# long string is one event, with the whole string.
"$make_capture" long "$dir/long.data" &&
	"$dump" --allow-lost -q -f chrome -o "$dir/long.json" "$dir/long.data" 2>"$dir/log" &&
	lines=$("$dump" --allow-lost -q -i "$dir/long.data" 2>>"$dir/log" | grep -vc ' open: ') &&
	python3 "$here/check-chrome.py" "$dir/long.json" "$lines" >>"$dir/log" &&
	python3 - "$dir/long.json" >>"$dir/log" 2>&1 <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
got = [(e["name"], e["tid"], e["ts"], e.get("args")) for e in events
       if e["ph"] == "i" and e["name"] in ("note", "text", "args")]
first = min(ts for _, _, ts, _ in got)
notes = [(round(ts - first), args["text"]) for name, tid, ts, args in got
         if (name, tid) == ("note", 90)]
assert notes == [(0, 'one, "two", three'), (1, "four, five"), (2, "six, "), (4, "seven, "),
                 (5, "eight, ni...")], got
assert len(got) == 6, got
assert [e["ph"] for e in events if e["tid"] == 90 and e["ph"] in "BEi"] == list("iBiiiEii")
END
result "chrome: an instant that goes on in other records is one event" $?
"$dump" --allow-lost -q "$dir/long.data" 2>"$dir/log" | grep -q '{text=\.\.\."ni\.\.\."}' &&
	"$dump" --allow-lost -q -f ndjson "$dir/long.data" 2>>"$dir/log" |
		grep -q '"type":"str","value":"ni","cut":true,"cont":true}' &&
	"$dump" --allow-lost -q -f kineto "$dir/long.data" 2>>"$dir/log" |
		grep -q '"text": *"eight, ni\.\.\."'
result "a string that was cut is shown as one in every format" $?

# The kernel's id of a thread is assigned to one thread only.
"$make_capture" numbers "$dir/numbers.data" &&
	"$dump" -q -f chrome -o "$dir/numbers.json" "$dir/numbers.data" 2>"$dir/log" &&
	python3 - "$dir/numbers.json" >>"$dir/log" 2>&1 <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
got = [(round(e["ts"]), e["tid"]) for e in events if e.get("name") == "step"]
want = [(12, 601), (14, 601), (16, 601), (18, 3), (30, 4), (32, 600), (34, 600),
        # The kernel gives the numbers 600 and 601 to other threads of this process.
        (50, 600 + (1 << 23)), (52, 601 + (1 << 23)), (54, 602)]
assert [(ts - got[0][0] + 12, tid) for ts, tid in got] == want, got
END
result "chrome: a thread of a pid namespace has its number, and no other has it" $?

# As torch.profiler writes them, and exact in readers that only have doubles.
"$dump" -q --allow-lost -f kineto "$dir/all.data" >"$dir/out" 2>"$dir/log" &&
	grep -q '"ptr":"0xdeadbeef"' "$dir/out" && grep -q ':"1152921504606846976"' "$dir/out"
result "kineto: pointers and large numbers are strings" $?

# Overlapping ranges: each is there, on a track on which it nests; those beyond 4096 are counted.
for n in 20 4096 5000; do
	"$make_capture" overlap "$dir/overlap.data" $n || exit 1
	small "kineto of $n ranges at a time" \
		"$dump" -q -f kineto -o "$dir/overlap.json" "$dir/overlap.data"
	"$dump" -q -f kineto "$dir/overlap.data" 2>"$dir/log" >/dev/null &&
		python3 - "$dir/overlap.json" "$dir/log" $n >"$dir/out" 2>&1 <<-'END'
			import collections, json, sys
			trace, n = json.load(open(sys.argv[1])), int(sys.argv[3])
			fit, of = min(n, 4096), collections.defaultdict(list)
			for e in trace["traceEvents"]:
			    if e.get("name") == "request":
			        of[e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
			assert sum(map(len, of.values())) == 2 * fit + 1, sum(map(len, of.values()))
			assert len(of) == fit + 1, len(of)
			for ranges in map(sorted, of.values()):
			    for (_, end), (begin, _) in zip(ranges, ranges[1:]):
			        assert end <= begin, ranges
			names = [e["args"]["name"] for e in trace["traceEvents"]
			         if e.get("name") == "thread_name" and e["tid"] in of]
			assert len(names) == len(set(names)) == fit + 1, names[:9]
			assert trace["xsprof_ranges_left_out"] == 2 * (n - fit), trace
			assert not trace["xsprof_lost_arguments"], trace
			said = open(sys.argv[2]).read()
			note = ": %d ranges are left out" % (2 * (n - fit))
			assert (note in said) == (n > fit), said
		END
	result "kineto: $n ranges at a time are on tracks on which they nest" $?
done

# Perfetto draws 512 nested ranges: where begins and ends are written, a message counts the deeper
# ones.
for format in chrome kineto perfetto text ndjson; do
	for n in 511 512 600; do
		"$make_capture" deep "$dir/deep.data" $n &&
			"$dump" -q -f $format -o "$dir/deep.out" "$dir/deep.data" 2>"$dir/log"
		case $format:$n in
		text:*|ndjson:*|kineto:*|*:511) [ ! -s "$dir/log" ] ;;
		*)	[ "$(grep -c ": $((n - 511)) ranges are nested in 512 others or more: " \
				"$dir/log")" = 1 ] ;;
		esac
		result "$format: $n ranges, each in the one before" $?
	done
done
"$dump" -q -f chrome --name whole -o "$dir/deep.out" "$dir/deep.data" 2>"$dir/log" &&
	[ ! -s "$dir/log" ]
result "and those that are not wanted are around no other" $?

# Flow ids are per process: flows of two processes must have different ids.
"$make_capture" links "$dir/links.data" || exit 1
for format in chrome kineto; do
	"$dump" -f $format "$dir/links.data" 2>"$dir/log" | python3 -c '
import collections, json, sys
ends = collections.defaultdict(list)
for e in json.load(sys.stdin)["traceEvents"]:
    if e.get("ph") in "stf":
        assert isinstance(e["id"], int) and e["id"] < 2 ** 53, e
        ends[e["id"]].append((e["pid"], e["ph"]))
assert sorted(ends.values()) == [[(p, ph) for ph in "stf"] for p in (90, 91)], ends' \
		2>>"$dir/log"
	result "$format: two processes with a flow 7 have a flow each" $?
done

# A key that an event already has gets a number, and no value is lost; the same in both.
"$make_capture" keys "$dir/keys.data" || exit 1
for format in chrome kineto; do
	"$dump" -q -f $format -o "$dir/keys.json" "$dir/keys.data" 2>"$dir/log" &&
		{ [ $format = kineto ] ||
			python3 "$here/check-chrome.py" "$dir/keys.json"; } >>"$dir/log" &&
		python3 - "$dir/keys.json" $format >>"$dir/log" 2>&1 <<-'END'
			import json, sys
			def once(items):
			    assert len(items) == len(dict(items)), items
			    return dict(items)
			got = {}
			trace = json.load(open(sys.argv[1]), object_pairs_hook=once)
			for e in trace["traceEvents"]:
			    for key, v in e.get("args", {}).items():
			        twice = key in got.get(e["name"], {})
			        assert e["ph"] in "eM" or not twice, (key, e)
			        got.setdefault(e["name"], {})[key] = v
			work = {"k": 1, "k (2)": 2, "k (2) (2)": 3, "k (3)": 5, "k (4)": 6,
			        "uncertain": 4}
			point = {"k": 1, "k (2)": 'a,"k":1'}
			if sys.argv[2] == "chrome":
			    # Of what has an end those of the end are kept free.
			    work["uncertain (2)"] = work.pop("uncertain")
			    want = {"work": work, "point": {**point, "Ev Idx": 2},
			            "request": {"id": "0x9", "id (2)": 1},
			            "op1": {"op": "function", "External id": 5, "op (2)": 1,
			                    "External id (2)": 2, "op (3)": 3},
			            "create": {"category": 1}, "mark": {"category": 1}}
			else:
			    index = got["point"]["Ev Idx"]
			    want = {"work": {**work, "Ev Idx": got["work"]["Ev Idx"],
			                     "External id": got["work"]["External id"]},
			            "point": {**point, "Ev Idx": index, "Ev Idx (2)": 2},
			            "request": {"id": 1},
			            "op1": {"Ev Idx": got["op1"]["Ev Idx"], "External id": 5,
			                    "Record function id": 0, "op": 1,
			                    "External id (2)": 2, "op (2)": 3},
			            "create": {"Ev Idx": got["create"]["Ev Idx"],
			                       "External id": got["create"]["External id"],
			                       "category": 'say "new"', "category (2)": 1},
			            "mark": {"Ev Idx": got["mark"]["Ev Idx"],
			                     "category": 'say "new"', "category (2)": 1}}
			got = {name: args for name, args in got.items() if name in want}
			assert got == want, got
		END
	result "$format: keys that are there already" $?
done

"$make_capture" many "$dir/many.data" 120000
for format in text chrome kineto ndjson perfetto; do
	small "$format of 120000 threads" "$dump" --allow-lost -f $format "$dir/many.data"
done
lines=$("$dump" --allow-lost "$dir/many.data" 2>"$dir/log" | grep -vc ' open: ')
"$dump" --allow-lost -f chrome -o "$dir/many.json" "$dir/many.data" 2>>"$dir/log" &&
	python3 "$here/check-chrome.py" "$dir/many.json" "$lines" >>"$dir/log"
result "chrome of 120000 threads keeps the rules, $lines events" $?

# Addresses of functions and texts that events name: one table for all kinds of events.
"$make_capture" names "$dir/names.data" 60
small "60 kinds of events that name one of 60000 functions" "$dump" --allow-lost "$dir/names.data"
"$dump" --allow-lost "$dir/names.data" 2>"$dir/log" >"$dir/names.txt"
[ "$(grep -c ': function function_number_[0-9]*$' "$dir/names.txt")" = 60 ] &&
	grep -q 'name_59: function function_number_2183$' "$dir/names.txt"
result "the functions" $?
sed -n 's/^.*words: //p' "$dir/names.txt" >"$dir/words.txt"
printf '%s\n' "Start of it" "100%s of it" ffffffff90000020 | diff - "$dir/words.txt" >>"$dir/log"
result "the texts of printk_formats" $?

# Formats with which libtraceevent crashes or hangs for one value of a field: each event is there,
# those before it as the kernel prints them, that kind's later ones field by field, and counted.
"$make_capture" crash "$dir/crash.data" 5001 2501
for format in text chrome; do
	"$dump" --allow-lost -f $format "$dir/crash.data" >"$dir/crash.txt" 2>"$dir/log" &&
		grep -q ': 1250 kernel events are shown field by field: the formats of 2 ' \
			"$dir/log" &&
		[ "$(grep -o 'irq_handler_exit: irq=[0-9]* ret=handled' "$dir/crash.txt" | sort -u |
		     wc -l)" = 2501 ] &&
		[ "$(grep -o 'reads_on: key=[0-9]* list=' "$dir/crash.txt" | wc -l)" = 625 ] &&
		[ "$(grep -oE 'reads_on: [0-9]+' "$dir/crash.txt" | wc -l)" = 625 ] &&
		[ "$(grep -oE 'no_end: [0-9]+' "$dir/crash.txt" | wc -l)" = 625 ]
	result "$format of events that crash what formats them" $?
done

"$dump" --allow-lost -r -n 2 "$dir/all.data" 2>/dev/null | tail -n 1 |
	grep -q ' 0\.000001000: step: '
result "relative times" $?
for format in chrome kineto ndjson perfetto; do
	"$dump" -r -f $format "$dir/all.data" 2>"$dir/log" >/dev/null
	[ $? = 2 ] && grep -q "^xsprof-dump: -r: only with -f text; .* of $format " "$dir/log"
	result "relative times: not in $format" $?
done
cat "$dir/all.data" | "$dump" --allow-lost -i - 2>/dev/null | cmp -s - "$dir/all.txt"
result "from a pipe" $?
# PyTorch's other formats have no place for losses: dump prints these with the file's name.
losses=$dir/losses.data
"$make_capture" cost-records "$losses" 100
for format in execution-trace memory-snapshot memory-timeline; do
	rm -f "$dir/made"
	status 4 "$dump" -q -f $format -o "$dir/made" "$losses" && [ -s "$dir/made" ] &&
		grep -q "^xsprof-dump: $losses: lost [1-9][0-9]* records" "$dir/log" &&
		status 0 "$dump" -q --allow-lost -f $format -o "$dir/made" "$losses"
	result "-f $format says what was lost, and of which file" $?
done
finish
