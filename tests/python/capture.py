# SPDX-License-Identifier: GPL-2.0-only
"""Compares the tables of xsprof.open() with the output of the tools for the same capture.

usage: capture.py CAPTURE REPORT NDJSON INFO [FRAMES]

The last three are the outputs of xsprof report --json, dump -f ndjson and info --json; FRAMES: also
test with pandas. Prints how many ranges and records were compared.
"""
import collections
import json
import sys

import xsprof

KINDS = {"begin": "begin", "op": "begin", "complete": "complete", "async-begin": "async",
         "span": "span", "gpu": "gpu"}
GIL = ("GIL wait", "GIL held, wanted")
NOT_RECORDS = ("producer", "exit", "lost", "kernel", "kernel-lost", "args")


def load(path):
    with open(path) as f:
        return json.load(f)


def same_ops(capture, report):
    got = {(op.name, op.category): op for op in capture.ops()}
    # The report gives the category only of names that occur in several.
    category = {op.name: op.category for op in capture.ops()}
    want = {(r["name"], r.get("category", category.get(r["name"]))): r for r in report["ranges"]}
    assert set(got) == set(want), (set(got) ^ set(want))
    for name, op in got.items():
        for column in ("count", "total_ns", "self_ns", "mean_ns", "min_ns", "max_ns", "cut",
                       "open", "uncertain"):
            assert getattr(op, column) == want[name][column], (column, op, want[name])
        # The report takes these from a histogram.
        for column in ("p50_ns", "p99_ns"):
            value, told = getattr(op, column), want[name][column]
            assert value == told or abs(value - told) <= value // 8 + 1, (column, op, want[name])
    totals = [op.total_ns for op in capture.ops()]
    assert totals == sorted(totals, reverse=True), totals
    for by in ("process", "thread"):
        rows = capture.ops(by=by)
        assert sum(r.count for r in rows) == sum(op.count for op in got.values()), by
        assert sum(r.total_ns for r in rows) == sum(totals), by
    assert {r.pid for r in capture.ops(by="thread")} <= {r.pid for r in capture.ranges()}


def same_events(capture, events):
    of = collections.defaultdict(list)
    for e in events:
        of[e["type"]].append(e)
    begun = sum(len(of[t]) for t in KINDS)
    assert len(capture.ranges()) == begun, (len(capture.ranges()), begun)
    assert {n: len(capture.ranges(n)) for n in {r.name for r in capture.ranges()}} == \
        collections.Counter(e["name"] for t in KINDS for e in of[t])
    # Compared as text, because NaN is not equal to itself.
    assert [(c.ns, c.name, str(c.value), c.tid) for c in capture.counters()] == [
        (e["ns"], e["name"], str(e["i64"] if "i64" in e else float(e["f64"])), e["tid"])
        for e in events if e["type"] == "counter"]
    assert [(i.ns, i.name, i.category, i.scope) for i in capture.instants()] == [
        (e["ns"], e["name"], e["cat"], e["scope"]) for e in of["instant"]]
    if of["step"]:
        assert [(s.begin_ns, s.name, s.number) for s in capture.steps()] == [
            (e["ns"], e["name"], e["value"]) for e in of["step"]]
    assert [(g.begin_ns, g.end_ns, g.name, g.kind, g.device, g.stream, g.bytes)
            for g in capture.gpu()] == [
                (e["begin_ns"], e["end_ns"], e["name"], e["kind"], e["device"], e["stream"],
                 e["bytes"]) for e in of["gpu"]]
    assert [(f.ns, "flow-" + f.kind.replace("begin", "start"), f.id) for f in capture.flows()] == [
        (e["ns"], e["type"], e["value"]) for e in events if e["type"].startswith("flow")]
    assert [(s.ns, s.how, s.missed, s.line, s.tid, s.left_out) for s in capture.samples()] == [
        (e["ns"], e["how"], e.get("missed", 0), e.get("line", 0), e["of"], e.get("left_out", 0))
        for e in of["sample"]]
    assert [(s.function, list(s.stack)) for s in capture.samples() if s.how != "missed"] == [
        (e["name"], e.get("frames", [])) for e in of["sample"] if e["how"] != "missed"]
    assert len(capture.allocations()) == len(of["alloc"]) + len(of["free"])
    assert sum(a.bytes for a in capture.allocations()) == sum(
        e["bytes"] for e in of["alloc"]) - sum(e["bytes"] for e in of["free"])
    assert sum(row.count for row in capture.kernel()) == len(of["kernel"])
    assert [(lost.ns, lost.count or 0) for lost in capture.lost()] == [
        (e["ns"], e["value"]) for e in events if e["type"] in ("lost", "kernel-lost")]
    threads = {(e["pid"], e["tid"], e["thread"]) for e in events if e["type"] not in NOT_RECORDS}
    assert {(t.pid, t.tid, t.name) for t in capture.threads()} == threads, threads
    records = sum(1 for e in events if e["type"] not in NOT_RECORDS)
    assert sum(t.records for t in capture.threads()) == records
    # Records of the decoder (0x100 and more) have no thread.
    for got, want in zip(capture.events(), events):
        assert got["ns"] == want["ns"] and got["tid"] in (want.get("tid"), 0), (got, want)
        assert got["name"] == want.get("name", "-") or got["type"] > 0xff or \
            "name_from" in want, (got, want)
    assert sum(1 for _ in capture.events()) == len(events)
    return records


def same_info(capture, info):
    assert len(capture.processes()) == len(info["processes"])
    for got, want in zip(capture.processes(), info["processes"]):
        assert (got.producer, got.pid, got.how, got.status, got.records, got.lost_records,
                got.lost_slots, got.facts) == tuple(want.get(k, want.get("signal")) for k in (
                    "number", "pid", "how", "status", "events", "lost_records", "lost_slots",
                    "facts")), (got, want)
    facts = capture.info()
    for ours, theirs in (("size", "size"), ("chunks", "chunks"), ("records", "events"),
                         ("lost_records", "lost_records"), ("truncated", "truncated"),
                         ("host", "host")):
        assert facts[ours] == info[theirs], (ours, facts[ours], info[theirs])
    assert facts["clock_kind"] == info["clock"]["kind"]
    assert capture.notes() == info["notes"], capture.notes()


def same_profile(capture):
    """A profile of the capture has its ranges, except for other kinds and for pairs."""
    prof = capture.profile()
    rows = {row.key for row in prof.key_averages()}
    begun = {r.name for r in capture.ranges() if r.kind == "begin"} - set(GIL)
    assert begun <= rows | {"ProfilerStep*"}, begun - rows
    # Threads that wait for the GIL use no CPU.
    assert not rows & set(GIL), rows
    prof.export_chrome_trace("profile.json")
    assert load("profile.json")["traceEvents"]


def pids(path):
    with xsprof.open(path) as capture:
        return ", ".join(map(str, sorted({p.pid for p in capture.processes()}))) or "none"


def refused(path):
    for call, says in ((lambda: xsprof.open("no such file"), "no such file"),
                       (lambda: xsprof.open(__file__), "neither a capture"),
                       (lambda: xsprof.open(path).ops(by="colour"), "name, process"),
                       (lambda: xsprof.open(None), "open(): path: expected a str"),
                       (lambda: xsprof.open(5), "open(): path: expected a str"),
                       (lambda: xsprof.open(path, memory="1G"), "open(): memory: expected an int"),
                       (lambda: xsprof.open(path, memory=-1), "number of bytes, not -1"),
                       (lambda: xsprof.open(path).profile("1"), "profile(): pid: expected an int"),
                       (lambda: xsprof.open(path).profile(-1), "no process -1 in the capture"),
                       (lambda: xsprof.open(path).profile(4194305), "it has " + pids(path))):
        try:
            call()
        except (OSError, ValueError, TypeError) as err:
            assert says in str(err), err
        else:
            raise AssertionError("not refused: " + says)
    for read in False, True:
        capture = xsprof.open(path)
        if read:
            capture.ranges()
        capture.close()
        capture.close()
        for name in ("ops ranges steps instants counters flows allocations gpu samples gil lost "
                     "kernel processes threads info notes events profile").split():
            try:
                getattr(capture, name)()
                raise AssertionError("a closed one has " + name)
            except ValueError as err:
                assert "open it again" in str(err), err


def main():
    path = sys.argv[1]
    with open(sys.argv[3]) as f:
        # dump prints ranges that are open at the end as records of their own.
        events = [e for e in map(json.loads, f) if e["type"] != "open"]
    with xsprof.open(path) as capture:
        report = load(sys.argv[2])
        same_ops(capture, report)
        assert capture.info()["unmatched_ends"] == report["unmatched_ends"]
        records = same_events(capture, events)
        same_info(capture, load(sys.argv[4]))
        if "FRAMES" in sys.argv[5:]:
            frame = capture.ranges(as_frame=True)
            assert list(frame.columns) == list(capture.ranges().columns)
            assert len(frame) == len(capture.ranges())
            assert int(frame["duration_ns"].sum()) == sum(r.duration_ns for r in capture.ranges())
        rows = capture.ranges().to_dicts()
        assert len(rows) == len(capture.ranges()) and (not rows or "begin_ns" in rows[0])
        if len(rows) < 20000:
            same_profile(capture)
    refused(path)
    print("%d ranges, %d records" % (len(rows), records))


if __name__ == "__main__":
    main()
