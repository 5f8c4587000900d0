#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# report --gpu: why a device was idle, and which copies their calls waited for; info: the errors of
# clocks. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

check() # NAME PYTHON [OPTION...]: with the report's JSON as @report
{
	# A capture with losses is reported, with an exit status.
	"$xsprof" report --gpu --json "${@:3}" "$dir/idle.data" >"$dir/out" 2>"$dir/log"
	python3 -c "
import json, sys
report = json.load(open(sys.argv[1]))
device = report['devices'][0]
idle = {(r['why'], r.get('call') or r.get('range'), r.get('cause')): (r['ns'] // 1000, r['count'])
        for r in device['idle']}
$2" "$dir/out" >>"$dir/log" 2>&1
	result "$1" $?
}

"$make_capture" idle "$dir/idle.data" || exit 1
check "why a device was idle: each nanosecond once, and what is not known" "
want = {('launched', None, None): (30, 1), ('call', 'cudaMemcpyAsync', None): (5, 1),
        ('call', 'cudaStreamSynchronize', None): (10, 1),
        ('range', 'aten::item', None): (9, 1), ('off_cpu', 'aten::item', 'blocked'): (3, 1),
        ('off_cpu', 'aten::item', 'runnable'): (2, 1),
        ('no_range', None, None): (1, 1), ('unknown', None, None): (20, 1),
        ('unrecorded', None, None): (2, 1)}
assert idle == want, idle
late = {r['why']: r['tid'] for r in device['idle'] if 'tid' in r}
assert late == {why: 100 for why in ('call', 'range', 'off_cpu', 'no_range')}, late
who = {r['cause']: r['who'] for r in device['idle'] if 'who' in r}
others = [(c, w['tid'], w['ns'], w['name'], w['or_others']) for c in who for w in who[c]]
assert others == [('blocked', 200, 3000, 'waker', False),
                  ('runnable', 300, 2000, 'hog', True)], others
assert device['idle_ns'] == 82000 == sum(r['ns'] for r in device['idle']), device"
check "in a window: of the idle times that are in it" "
assert idle == {('unknown', None, None): (20, 1), ('launched', None, None): (30, 1)}, idle" \
	--from 0.000062 --to 0.000141
check "of some names alone it is not known when a device was idle" \
	"assert device['idle'] == [], device" --name 'kernel'
check "copies that their calls waited for" "
copies = {(c['copy'], c['call']): (c['count'], c['blocked'], c['in_calls_ns'])
          for c in report['copies']}
assert copies == {('Memcpy HtoD (Pageable -> Device)', 'cudaMemcpyAsync'): (1, 1, 17000),
                  ('Memcpy HtoD (Pinned -> Device)', 'cudaMemcpyAsync'): (1, 0, 0)}, copies"
late='1 x  launch late: thread 100 (main)'
"$xsprof" report --gpu "$dir/idle.data" >"$dir/log" 2>&1 &&
	grep -q '^#   idle for 82.000 us:$' "$dir/log" &&
	grep -q "3.000 us  *$late blocked, woken by waker-200, in aten" "$dir/log" &&
	grep -q "2.000 us  *$late runnable behind hog-300 or others, in aten" "$dir/log" &&
	grep -q "10.000 us  *$late in the call cudaStreamSynchronize$" "$dir/log" &&
	grep -q 'unknown: the call that launched the next activity is unknown$' "$dir/log" &&
	grep -q '^ *1 *1 .* Memcpy HtoD (Pageable -> Device), by cudaMemcpyAsync$' "$dir/log" &&
	! grep -q '(Pinned -> Device), by' "$dir/log"
result "the same as text" $?

"$make_capture" copies "$dir/idle.data" || exit 1
copied="
got = [(r['bytes'], r['total_ns']) for r in report['rows'] if r['kind'] == 'memcpy']
got += [(device['copied_bytes'], device['copies_beside_kernels_ns'])]"
check "copies beside kernels: not those beside memory sets" "$copied
assert got == [(30000, 30000), (30000, 10000)], got"
check "in a window: of what a copy moves the part of its time in it" "$copied
assert got == [(15000, 15000), (15000, 0)], got" --from 0.000030 --to 0.000050

"$make_capture" forged "$dir/idle.data" || exit 1
check "work is matched with calls of its own process alone, whatever their numbers are" "
got = [(r['count'], r['delay_ns']) for r in report['rows'] if r['kind'] == 'kernel']
assert got == [(2, 63000)], got
assert {r['tid'] for r in device['idle'] if 'tid' in r} <= {100}, device"
"$xsprof" dump -f chrome "$dir/idle.data" >"$dir/out" 2>"$dir/log" && python3 -c "
import json, sys
trace = json.load(open(sys.argv[1]))['traceEvents']
got = sorted(e['pid'] for e in trace if e['ph'] == 's' and e['name'] == 'ac2g')
assert got == [100, 100], got" "$dir/out" 2>>"$dir/log"
result "also in Chrome's format" $?

"$make_capture" reasons "$dir/idle.data" || exit 1
check "more reasons than there is room for: a long one has a row" "
assert idle['range', 'range 1999', None] == (506, 1), idle
assert idle['other', None, None][1] > 900 and len(idle) > 1000, len(idle)
assert sum(r['ns'] for r in device['idle']) == device['idle_ns'], device['idle_ns']"

"$make_capture" nested "$dir/idle.data" || exit 1
check "of two calls of one id the outer one launched, whenever they are told of" "
want = {('call', 'cudaLaunchKernel', None): (40, 2), ('no_range', None, None): (15, 2),
        ('launched', None, None): (20, 2)}
assert idle == want, idle"

"$make_capture" hogs "$dir/idle.data" || exit 1
check "a thread that waited behind more tasks than have room: their time is there" "
rows = [r for r in device['idle'] if r.get('cause') == 'runnable']
assert [(r['ns'], r['who_left_out_ns']) for r in rows] == [(78000, 10000)], rows
assert [(w['tid'], w['ns']) for w in rows[0]['who']] == \
    [(300 + i, 1000 * i) for i in range(12, 4, -1)], rows"
"$xsprof" report --gpu "$dir/idle.data" >"$dir/log" 2>&1 &&
	grep -q 'behind hog 12-312 or others (12.000 us), .*, and others, in no range$' "$dir/log"
result "the same as text" $?

# Device 0: kernels of 10 us at 20, 100 and 140 us. Not recorded from 40 to 90 and from 105 to 130
# us: 5 us of that it was busy.
"$make_capture" unrecorded "$dir/idle.data" || exit 1
check "not recorded: neither busy nor idle, and only between the first and the last activity" "
got = {d['device']: {k: d[k] // 1000 for k in ('busy_ns', 'idle_ns', 'unrecorded_ns')}
       for d in report['devices']}
assert got == {0: {'busy_ns': 30, 'idle_ns': 30, 'unrecorded_ns': 70},
               1: {'busy_ns': 20, 'idle_ns': 70, 'unrecorded_ns': 0}}, got
for d in report['devices']:
    assert d['busy_ns'] + d['idle_ns'] + d['unrecorded_ns'] == d['last_ns'] - d['first_ns'], d
    assert d['idle_ns'] == sum(r['ns'] for r in d['idle']), d
assert idle == {('unrecorded', None, None): (30, 2)}, idle
why = [r['why'] for d in report['devices'] if d['device'] for r in d['idle']]
assert sorted(why) == ['call', 'launched', 'no_range'], why"
"$xsprof" report --gpu "$dir/idle.data" >"$dir/log" 2>&1 &&
	grep -q '^# devices were not recorded for 1.094 ms, to reduce overhead: ' "$dir/log" &&
	grep -q 'busy for 30.000 us of 60.000 us of recorded time (50.0 %)' "$dir/log" &&
	grep -q '^#   not recorded for 70.000 us between its first and last' "$dir/log" &&
	grep -q '^#   *30.000 us  *2 x  unknown: next to time that was not recorded$' "$dir/log"
result "the same as text" $?

# Device 0: a pause from 40 to 1040 us, losses up to 1200 us and, of all that was to be written
# after the kernel that ended at 1220 us, up to 2000 us.
"$make_capture" paused "$dir/idle.data" || exit 1
check "pauses, switched categories and losses: no thread is late, and no time is idle then" "
got = {d['device']: {k: d[k] // 1000 for k in ('busy_ns', 'idle_ns', 'unrecorded_ns')}
       for d in report['devices']}
assert got == {0: {'busy_ns': 40, 'idle_ns': 40, 'unrecorded_ns': 1710},
               1: {'busy_ns': 30, 'idle_ns': 100, 'unrecorded_ns': 1000},
               2: {'busy_ns': 20, 'idle_ns': 1010, 'unrecorded_ns': 460}}, got
for d in report['devices']:
    assert d['busy_ns'] + d['idle_ns'] + d['unrecorded_ns'] == d['last_ns'] - d['first_ns'], d
    assert d['idle_ns'] == sum(r['ns'] for r in d['idle']), d
why = {d['device']: {r['why']: (r['ns'] // 1000, r['count']) for r in d['idle']}
       for d in report['devices']}
assert why == {0: {'unrecorded': (40, 2)}, 2: {'unrecorded': (1010, 1)},
               1: {'no_range': (65, 1), 'call': (2, 1), 'launched': (3, 1),
                   'unrecorded': (30, 1)}}, why"
"$xsprof" report --gpu "$dir/idle.data" >"$dir/log" 2>&1
grep -q 'busy for 40.000 us of 80.000 us of recorded time (50.0 %)' "$dir/log" &&
	grep -q '^#   not recorded for 1.710 ms between its first and last' "$dir/log" &&
	! grep -q 'to reduce overhead' "$dir/log"
result "the same as text" $?

"$make_capture" launched "$dir/idle.data" || exit 1
check "work by the op or range that launched it" "
got = [(r['range'] or r['launched_in'], r['count'], r['total_ns'], r['self_ns'])
       for r in report['launchers']]
want = [('step', 1, 15000, 8000), ('relu', 1, 4000, 4000), ('mm', 2, 3000, 3000),
        ('no_call', 1, 512, 512), ('unknown', 1, 256, 256), ('open', 1, 128, 128),
        ('whole', 1, 64, 64), ('loop', 1, 32, 32), ('no_range', 1, 16, 16)]
assert got == want, got
got = {(r['name'], r['range'] or r['launched_in']): (r['count'], r['total_ns'])
       for r in report['launched']}
assert len(got) == 9 and got['kernel', 'mm'] == (2, 3000), got
assert got['copy', 'step'] == (1, 8000) and report['launched_unlisted'] == 0, got"
check "in a window: what ran in it" "
got = [(r['range'] or r['launched_in'], r['count'], r['total_ns']) for r in report['launchers']]
assert got == [('step', 0, 4500), ('relu', 1, 2500), ('mm', 1, 2000)], got
assert sum(r['total_ns'] for r in report['launched']) == 4500, report['launched']" \
	--from 0.000210 --to 0.0002225
"$xsprof" report --gpu --by op --from 0.000210 --to 0.0002225 "$dir/idle.data" >"$dir/log" 2>&1 &&
	grep -q '^       1    2.500 us .*  2.500 us  relu$' "$dir/log" &&
	! grep -q copy "$dir/log"
result "the same, alone" $?
check "metrics of a kernel whose own record was lost" "
row = next(r for r in report['rows'] if r['name'] == 'metric')
assert row['count'] == 0 and 'mean_ns' not in row, row"
"$xsprof" report --gpu "$dir/idle.data" >"$dir/log" 2>&1 &&
	grep -q '^       1   15.000 us .*  8.000 us  step$' "$dir/log" &&
	grep -q '^ *0  *-  .*  metric$' "$dir/log" &&
	"$xsprof" report --gpu --by op "$dir/idle.data" >"$dir/out" 2>>"$dir/log" &&
	grep -q '(the call that launched it is not in the capture)$' "$dir/out" &&
	! grep -q '^# GPU' "$dir/out" &&
	"$xsprof" report --by op,kernel "$dir/idle.data" 2>&1 | tee -a "$dir/log" |
	grep -q '^ *2 *3.000 us .* 1.500 us  kernel, mm$'
result "the same as text, and alone" $?
"$xsprof" report --gpu --json --sort name "$dir/idle.data" >"$dir/name.json" 2>"$dir/log" &&
	"$xsprof" report --gpu --json -s mean "$dir/idle.data" >"$dir/mean.json" 2>>"$dir/log" &&
	python3 -c "
import json
def rows(path):
    return [r for r in json.load(open(path))['rows'] if r['kind'] in ('kernel', 'memcpy')]
names = [r['name'] for r in rows('$dir/name.json')]
means = [r.get('mean_ns', 0) for r in rows('$dir/mean.json')]
assert len(names) > 2 and names == sorted(names), names
assert means == sorted(means, reverse=True) != sorted(means), means" >>"$dir/log" 2>&1
result "report --gpu --sort: by name, by mean" $?
for options in "--by op,kernel,thread" "--gpu --by module" "--gpu --by function" \
	"--gpu --by op --name mm" "--gpu --sort self" "--gpu --by op --sort mean"; do
	# shellcheck disable=SC2086 # several words
	"$xsprof" report $options "$dir/idle.data" >"$dir/log" 2>&1
	[ $? = 2 ]
	result "report $options is refused" $?
done

"$make_capture" clocks "$dir/clocks.data" || exit 1
"$xsprof" info "$dir/clocks.data" >"$dir/log" 2>&1 &&
	grep -q '^clocks  *error of the times of device 64 (process 100): at most 50.000 us: ' \
		"$dir/log" &&
	grep -q '^clocks  *error of the times of device 65 (process 100): at most 250 ns$' \
		"$dir/log" &&
	[ "$(grep -c '^clocks' "$dir/log")" = 2 ] &&
	"$xsprof" info --json "$dir/clocks.data" 2>>"$dir/log" | python3 -c '
import json, sys
clocks = [(c["device"], c["last_error_ns"], c["worst_error_ns"], c["far"])
          for c in json.load(sys.stdin)["device_clocks"]]
assert clocks == [(64, 400, 50000, True), (65, 250, 250, False)], clocks' 2>>"$dir/log"
result "info: clocks of devices, and those that are far from the markers" $?

# Two kernels begin before their calls, by 1 and 2 us; the second was read before its call, which
# has the mark in formats that are written as the trace is read.
"$make_capture" launches "$dir/launches.data" || exit 1
for format in chrome kineto ndjson text perfetto; do
	"$xsprof" dump -f $format -o "$dir/out" "$dir/launches.data" 2>"$dir/log" && python3 -c '
import json, sys
form, path = sys.argv[1:]
before, after = "before its launch (ns)", "after what it launched (ns)"
if form in ("chrome", "kineto"):
    trace = json.load(open(path))["traceEvents"]
    got = sorted((key[:6], e["args"][key]) for e in trace for key in (before, after)
                 if key in e.get("args", {}))
    ends = sorted(e["ts"] for e in trace if e.get("ph") == "f" and e["name"] == "ac2g")
    first = min(e["ts"] for e in trace if e.get("ph") == "X")
    assert not [ts for ts in ends if 58.5 < ts - first < 69.5], ends
    begun, ended = ({e["id"] for e in trace if e.get("ph") == ph and e["name"] == "ac2g"}
                    for ph in "sf")
    assert ended and ended <= begun, ended - begun
elif form == "ndjson":
    lines = [json.loads(line) for line in open(path)]
    got = sorted((key[:6], e[key]) for e in lines
                 for key in ("before_launch_ns", "after_launched_ns") if key in e)
elif form == "text":
    got = sorted((word[:6], int(word.split("=")[1])) for line in open(path)
                 for word in line.split()
                 if word.startswith(("before_launch_ns=", "after_launched_ns=")))
else:
    text = open(path, "rb").read()
    got = [("after ", 2000)] * text.count(after.encode())
    got += [("before", 1000)] * text.count(before.encode())
marks = [("after_" if form in ("ndjson", "text") else "after ", 2000), ("before", 1000)]
want = [marks, sorted([*marks, ("before", 2000)])]
assert got in want[form == "kineto":], got' "$format" "$dir/out" >>"$dir/log" 2>&1
	result "dump -f $format: activities before their launch are marked, and have no arrow" $?
done
"$xsprof" report --gpu --json "$dir/launches.data" 2>"$dir/log" >"$dir/out" &&
	"$xsprof" report --gpu "$dir/launches.data" 2>>"$dir/log" | grep -q \
		'^#   2 activities began before the call that started them, by at most 2.000 us$' &&
	"$xsprof" info "$dir/launches.data" 2>>"$dir/log" | tee -a "$dir/log" | grep -q \
		'^clocks  *2 activities of device 0 (process 100) began before their launch, by' &&
	"$xsprof" info --json "$dir/launches.data" 2>>"$dir/log" | python3 -c '
import json, sys
device = json.load(open(sys.argv[1]))["devices"][0]
assert (device["before_their_call"], device["before_their_call_ns"]) == (2, 2000), device
clocks = [(c["pid"], c["before_launch"], c["before_launch_ns"])
          for c in json.load(sys.stdin)["device_clocks"]]
assert clocks == [(100, 2, 2000), (200, 0, 0)], clocks' "$dir/out" 2>>"$dir/log"
result "report --gpu and info count them for each device" $?

"$make_capture" contained "$dir/contained.data" || exit 1
"$xsprof" dump -f kineto -o "$dir/out" "$dir/contained.data" 2>"$dir/log" && python3 -c '
import json, sys
trace = json.load(open(sys.argv[1]))["traceEvents"]
of = lambda cat: [(e["name"], e["pid"]) for e in trace if e.get("cat") == cat]
apart = 1 + (1 << 23)
calls, kernels = of("cuda_runtime"), dict(of("kernel"))
assert sorted(calls) == [("cudaLaunchKernel", 2), ("cudaLaunchKernel", apart)], calls
assert kernels["kernel"] == 1 and kernels["node"] not in (1, 2, apart), kernels
labels = {e["pid"]: e["args"]["labels"] for e in trace if e["name"] == "process_labels"}
other = "GPU %d, device 2 of process 1" % kernels["node"]
assert labels == {apart: "CPU, process 1", 2: "CPU", 1: "GPU 1",
                  kernels["node"]: other}, labels' "$dir/out" 2>>"$dir/log"
result "dump -f kineto: no process has the number of a device" $?

"$make_capture" measured "$dir/measured.data" || exit 1
"$xsprof" report --gpu "$dir/measured.data" >"$dir/log" 2>&1 &&
	grep -q '^ *0  *1e+308  *kernel$' "$dir/log" &&
	grep -q '^ *0  *123456789012345\.2  *node$' "$dir/log"
result "metrics of kernels: a number without room for its digits has an exponent" $?

"$make_capture" hostile-devices "$dir/hostile.data" || exit 1
"$xsprof" dump -f kineto -o "$dir/out" "$dir/hostile.data" 2>"$dir/log" && python3 -c '
import json, sys
trace = json.load(open(sys.argv[1]))
ids = [d["id"] for d in trace["deviceProperties"]]
pids = sorted(e["pid"] for e in trace["traceEvents"] if e.get("cat") == "kernel")
# The first fact is no JSON.
assert (ids, pids) == ([1, 2], [0, 1, 2, 4000 + (1 << 31)]), (ids, pids)' "$dir/out" 2>>"$dir/log"
result "dump -f kineto: no device has the id of another, nor the number of a process" $?
finish
