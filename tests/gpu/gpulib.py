# SPDX-License-Identifier: GPL-2.0-only
#
# Shared by the tests of device collectors: results as TAP, a recording and its events.

import collections
import json
import os
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
XSPROF = os.path.join(BUILD, "bin", "xsprof")
DIR = tempfile.TemporaryDirectory(prefix="xsprof-test.")
SHM = tempfile.TemporaryDirectory(prefix="xsprof-test.", dir="/dev/shm")
CAPTURE = os.path.join(DIR.name, "capture")
WORK = ("kernel", "memcpy", "memset", "sync")

results = []


def result(good, name, why=""):
    results.append(bool(good))
    if not good:
        for line in str(why).splitlines():
            print("#", line)
    print("ok" if good else "not ok", len(results), name, flush=True)


def equal(got, want, name):
    result(got == want, name, f"got  {got}\nwant {want}")


def skipped(name, why):
    results.append(True)
    print("ok", len(results), name, "# SKIP", why, flush=True)


def failed():
    return not all(results)


def finish():
    print(f"1..{len(results)}")
    DIR.cleanup()
    SHM.cleanup()
    sys.exit(failed())


def run(args, without=(), timeout=300, encoding="utf-8", **more):
    """Runs it without the user's own variables that begin with XSPROF_ or one of @without."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("XSPROF_", *without))}
    env.update({"XSPROF_SHM_DIR": SHM.name, **more})
    return subprocess.run(args, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding=encoding, timeout=timeout)


def record(command, options=("--gpu",), **more):
    """Returns how it ended, the events, and the path of the capture."""
    got = run([XSPROF, "record", *options, "-o", CAPTURE, "--", *command], **more)
    dump = run([XSPROF, "dump", "-f", "ndjson", CAPTURE])
    events = [json.loads(line) for line in dump.stdout.splitlines()]
    for e in events:
        e.setdefault("name", None)
    return got, events, CAPTURE


# One CPU's ring has room for all that a test records: collectors wait only a second for the
# recorder, and records are lost if it gets no CPU for longer.
ROOM = ("-b", "128M")


def refused():
    """What the last recording says that it does not have."""
    info = run([XSPROF, "info", "--json", CAPTURE])
    return [r["why"] for r in json.loads(info.stdout)["refused"]]


def count(command, options=("--gpu", *ROOM), **more):
    """The same for too many events to read singly: their counts by kind and name, and what is not
    recorded, from report --gpu."""
    got = run([XSPROF, "record", *options, "-o", CAPTURE, "--", *command], **more)
    report = json.loads(run([XSPROF, "report", "--gpu", "--json", CAPTURE]).stdout)
    counts, lost = collections.Counter(), collections.Counter()
    for row in report["rows"]:
        counts[row["kind"], row["name"]] += row["count"]
    for miss in report["not_recorded"]:
        lost[f"not recorded: {miss['what']}"] += miss["count"]
    return got, counts, lost, CAPTURE


def of(events, *kinds):
    return [e for e in events if e["type"] == "gpu" and e["kind"] in kinds]


def missed(events):
    return {e["name"]: e["i64"] for e in events
            if e["type"] == "counter" and e["name"].startswith("not recorded")}


def overlaps(events):
    """The X events of a Kineto trace that overlap another of their track, neither inside the
    other: viewers leave them out or draw them wrong."""
    tracks, wrong = collections.defaultdict(list), []
    for e in events:
        if e.get("ph") == "X":
            tracks[e["pid"], e["tid"]].append((e["ts"], -e["dur"], e["name"]))
    for track, ranges in tracks.items():
        around = []
        for begin, minus, name in sorted(ranges):
            while around and around[-1] <= begin:
                around.pop()
            if around and begin - minus > around[-1]:
                wrong.append((track, name))
            around.append(begin - minus)
    return wrong


def check_calls(events, name):
    """Checks that each work item has one call, begins after it and is in the same queue."""
    calls = {e["value"]: e for e in of(events, "runtime") if e["value"]}
    work = of(events, *WORK)
    wrong = [(e, calls.get(e["value"])) for e in work
             if e["value"] not in calls or e["begin_ns"] < calls[e["value"]]["begin_ns"] or
             (e["device"], e["context"], e["stream"]) !=
             tuple(calls[e["value"]][k] for k in ("device", "context", "stream"))]
    result(work and not wrong and len({e["value"] for e in work}) == len(work), name, wrong[:3])
