#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Contents that have caused trouble in viewers, read with Perfetto: markers of a program of ours,
# and captures made for this. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
here=$PWD/tests/viewers

package_perfetto || skip "$why"

"$xsprof" record -o "$dir/marks.data" -- "$BUILD/tests/viewers/marks" >"$dir/made" \
	2>"$dir/counted" &&
	cp "$dir/counted" "$dir/log" &&
	"$xsprof" report -q --json "$dir/marks.data" >"$dir/marks.report" 2>>"$dir/log" &&
	"$xsprof" info --json "$dir/marks.data" >"$dir/marks.info" 2>>"$dir/log" &&
	"$dump" -q -f ndjson -o "$dir/marks.ndjson" "$dir/marks.data" 2>>"$dir/log"
result "a program with markers is recorded" $?
cp "$dir/counted" "$dir/log" &&
	grep -q "record: $(cat "$dir/made") events from 2 processes, .* 0 lost" "$dir/log"
result "the recorder counts as many events as the program made" $?
for format in perfetto chrome kineto; do
	mapfile -d '' -t queries < <(python3 "$here/same.py" queries $format
		python3 "$here/marks.py" queries)
	"$dump" -q -f $format -o "$dir/marks.$format" "$dir/marks.data" 2>"$dir/log" &&
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
			"$dir/marks.$format" "${queries[@]}" >"$dir/said.$format" \
			2>>"$dir/log" &&
		python3 "$here/same.py" $format "$dir/marks.ndjson" "$dir/said.$format" \
			"$dir/marks.$format" >>"$dir/log" 2>&1
	result "marks.$format: Perfetto shows what was captured" $?
done
python3 "$here/marks.py" "$dir" "$(cat "$dir/made")" >"$dir/log" 2>&1
result "marks: numbers, async ranges, flows and counts in all formats" $?

# Workers of Python's multiprocessing, which leave by _exit() or are killed.
cat >"$dir/workers.py" <<'END'
import multiprocessing, time, torch

def work(seconds):
    torch.ones(3).sum()
    time.sleep(seconds)

if __name__ == "__main__":
    workers = [multiprocessing.Process(target=work, args=(s,)) for s in (0, 0, 600)]
    for worker in workers:
        worker.start()
    for worker in workers[:2]:
        worker.join()
    # What it ran is there when it is killed.
    time.sleep(0.5)
    workers[2].terminate()
    workers[2].join()
    for worker in workers:
        print(worker.pid, worker.exitcode)
END
"$xsprof" record -q -o "$dir/workers.data" -- /usr/bin/python3 "$dir/workers.py" >"$dir/codes" \
	2>"$dir/log" && "$xsprof" info --json "$dir/workers.data" >"$dir/info" 2>>"$dir/log" &&
	"$dump" -q -f perfetto -o "$dir/workers.perfetto" "$dir/workers.data" 2>>"$dir/log" &&
	node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
		"$dir/workers.perfetto" "ends=select pid, end_ts > start_ts from process" \
		>"$dir/said" 2>>"$dir/log" &&
	python3 - "$dir" >>"$dir/log" 2>&1 <<'END'
import json, sys
ended = {}
for line in open(sys.argv[1] + "/codes"):
    pid, code = map(int, line.split())
    ended[pid] = ("exited", code) if code >= 0 else ("killed", -code)
of = {p["pid"]: p for p in json.load(open(sys.argv[1] + "/info"))["processes"]}
got = {pid: (p["how"], p.get("status", p.get("signal"))) for pid, p in of.items()}
assert len(ended) == 3 and {pid: got.get(pid) for pid in ended} == ended, (got, ended)
# Readers are told when, unless that is known to an interval only.
ends = dict(json.load(open(sys.argv[1] + "/said"))["ends"])
assert all(ends[pid] or of[pid]["exit_within_ns"] for pid in ended), (ends, of)
END
result "workers of Python: how each ended, and that it did" $?

# Two programs of one process: each has its range, and its end.
"$make_capture" exec "$dir/exec.data" &&
	"$dump" -q -f perfetto -o "$dir/exec.perfetto" "$dir/exec.data" 2>"$dir/log" &&
	node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
		"$dir/exec.perfetto" \
		"ends=select s.ts, process.end_ts from slice s
			join thread_track t on t.id = s.track_id
			join thread using (utid) join process using (upid)
			where s.name = 'step' order by 1" >"$dir/said" 2>>"$dir/log" &&
	python3 -c '
import json, sys
said = json.load(open(sys.argv[1]))
assert not said[""], said
at = [[ns - 10 ** 12 for ns in row] for row in said["ends"]]
assert at == [[20000, 49999], [60000, 100001]], at' "$dir/said" >>"$dir/log" 2>&1
result "perfetto: the end of a program that another replaced" $?

stats="stats=select name from stats where value > 0 and severity in ('error', 'data_loss')"
# Switches missing from the trace, and the idle task: its name, and whether viewers draw it.
"$make_capture" left-out "$dir/left-out.data" || exit 1
for format in perfetto chrome; do
	"$dump" -q -f $format -o "$dir/left-out.$format" "$dir/left-out.data" 2>"$dir/log" &&
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
			"$dir/left-out.$format" "$stats" \
			"cpu 0=select dur / 1000, tid from sched join thread using (utid)
				where cpu = 0 order by ts" \
			"idle=select distinct thread.name, is_idle
				from thread join sched using (utid) where tid = 0" \
			>"$dir/said" 2>>"$dir/log" &&
		python3 -c '
import json, sys
said = json.load(open(sys.argv[1]))
perfetto = sys.argv[2] == "perfetto"
assert not said[""] and not said["stats"], said
assert said["idle"] == [["swapper", 1] if perfetto else ["<idle>", 0]], said
assert [tid for _, tid in said["cpu 0"]] == [100, 0, 100, 0, 8, 100, 0, 100, 0], said
assert [dur for dur, _ in said["cpu 0"][:6]] == [15, 25, 40, 2, 1, 2], said' \
			"$dir/said" $format >>"$dir/log" 2>&1
	result "$format: switches that were left out, and the idle task" $?
done

# Ranges without length, in a file whose events are out of time order.
"$make_capture" empty "$dir/empty.data" || exit 1
for format in perfetto chrome kineto; do
	"$dump" -q -f $format -o "$dir/empty.$format" "$dir/empty.data" 2>"$dir/log" &&
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
			"$dir/empty.$format" "$stats" \
			"ranges=select name, dur from slice
				where category in ('default', 'cpu_op', 'user_annotation')" \
			>"$dir/said" 2>>"$dir/log" &&
		python3 -c '
import json, sys
said = json.load(open(sys.argv[1]))
assert not said[""] and not said["stats"], said
got = {name: dur for name, dur in said["ranges"]}
want = {name: 0 for name in "plain begin end both around inside last".split()}
assert got == {**want, "outer": 70000, "long": 10000, "span": 185000}, got' \
			"$dir/said" >>"$dir/log" 2>&1
	result "$format: ranges of no length" $?
done

# Arrows end in the open range; if that would show another range, in an event of their own.
"$make_capture" flows "$dir/flows.data" &&
	"$dump" -q -f chrome -o "$dir/flows.chrome" "$dir/flows.data" 2>"$dir/log" &&
	node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
		"$dir/flows.chrome" "$stats" \
		"arrows=select a.name, b.name, around.name, b.ts / 1000, b.dur from flow f
			join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
			left join slice around on around.id = b.parent_id order by b.ts" \
		"slices=select count(*) from slice where name like 'to %'" \
		>"$dir/said" 2>>"$dir/log" &&
	python3 -c '
import json, sys
said = json.load(open(sys.argv[1]))
assert not said[""] and not said["stats"], said
base = min(row[3] for row in said["arrows"]) - 30
got = [[a, b, around, us - base, dur] for a, b, around, us, dur in said["arrows"]]
assert got == [["put", "run", None, 30, 30000], ["put", "to get", "get", 40, 0],
               ["put", "to done", "run", 50, 0], ["put", "to empty", "empty", 55, 0],
               ["put", "to last", None, 75, 0], ["put", "to outer", "outer", 85, 0]], got
assert said["slices"] == [[5]], said' "$dir/said" >>"$dir/log" 2>&1
result "chrome: arrows end in the range that is open" $?

# Ranges that begin or end with the one around them.
"$make_capture" together "$dir/together.data" || exit 1
for format in perfetto chrome kineto; do
	"$dump" -q -f $format -o "$dir/together.$format" "$dir/together.data" 2>"$dir/log" &&
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
			"$dir/together.$format" "$stats" \
			"ranges=select s.name, s.dur, around.name from slice s
				left join slice around on around.id = s.parent_id
				where s.category in ('default', 'cpu_op', 'user_annotation')" \
			>"$dir/said" 2>>"$dir/log" &&
		python3 -c '
import json, sys
said = json.load(open(sys.argv[1]))
assert not said[""] and not said["stats"], said
got = {name: dur for name, dur, _ in said["ranges"]}
assert got == {"a": 30000, "b": 10000, "c": 20000, "d": 0, "e": 10000, "f": 10000,
               "g": 10000}, got
around = {name: other for name, _, other in said["ranges"]}
assert sys.argv[2] == "kineto" or (around["b"], around["e"], around["d"]) == ("a", "f", "a"), around
assert around["a"] is None and around["g"] is None, around' \
			"$dir/said" $format >>"$dir/log" 2>&1
	result "$format: ranges that begin with the one around them" $?
done

# Arrows from calls to what they started: one to each activity of a graph's launch. In Perfetto's
# own format they lead from each activity to the next.
"$make_capture" launches "$dir/launches.data" || exit 1
for format in perfetto chrome; do
	"$dump" -q -f $format -o "$dir/launches.$format" "$dir/launches.data" 2>"$dir/log" &&
		node "$here/sql.mjs" "$viewers/argent-0.25.2/assets/trace-processor" \
			"$dir/launches.$format" "$stats" \
			"arrows=select a.name, a.ts, b.name, b.ts from flow f
				join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
				order by b.ts" >"$dir/said" 2>>"$dir/log" &&
		python3 -c '
import json, sys
said = json.load(open(sys.argv[1]))
assert not said[""] and not said["stats"], said
got = [[a, at % 10 ** 12 // 1000, b, to % 10 ** 12 // 1000] for a, at, b, to in said["arrows"]]
one = ["cudaLaunchKernel", 10, "kernel", 20], ["cudaLaunchKernel", 11, "kernel", 21]
graph = "cudaGraphLaunch", 13
if sys.argv[2] == "chrome":
    want = [*one, [*graph, "node", 40], [*graph, "node", 42], [*graph, "copy", 52]]
else:
    want = [*one, [*graph, "node", 40], ["node", 40, "node", 42], ["node", 42, "copy", 52]]
assert got == want, got' "$dir/said" $format >>"$dir/log" 2>&1
	result "$format: arrows from calls to what they started" $?
done
finish
