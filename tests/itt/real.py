#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# An independent count: programs written by others (or that do not use xsprof), run under a
# collector that only counts and under `xsprof record`, must give equal counts per name, as far as
# the program itself behaves the same in each run.
#
# Usage: real.py omp|torch|workers|mold|tbb

import collections
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
from ittlib import (TESTS, Tap, args_of, clean_env, count, lost, need_tools, record, run, skip_all,
                    tally)

SYNC = ("create", "prepare", "cancel", "acquired", "releasing", "destroy")
DEMO = os.path.join(os.path.dirname(TESTS), "demo")


def of_kind(counts, kind):
    return collections.Counter({(d, n): c for (k, d, n), c in counts.items() if k == kind})


WORKER = " (OpenMP worker)"


def without_workers(tasks):
    """Returns the same sums by domain only."""
    sums = collections.Counter()
    for (domain, name), n in tasks.items():
        sums[domain.removesuffix(WORKER), name] += n
    return sums


def calls(counts, api):
    return counts[("api", "", "__itt_" + api)]


def threads(events):
    return {e["thread"] for e in events if e.get("tid")}


def both(argv, env=None, cwd=None):
    counts = count(argv, env, cwd)
    out, events = record(argv, env, cwd)
    return counts, events, out


def test_omp(tap, tmp):
    clang = shutil.which("clang") or shutil.which("clang-14")
    if not clang:
        skip_all("no clang: package clang is not installed")
    exe = os.path.join(tmp, "heat")
    try:
        run([clang, "-O2", "-fopenmp", "-o", exe, os.path.join(DEMO, "heat.c"), "-lm"])
    except RuntimeError as e:
        skip_all(f"clang -fopenmp does not work (package libomp-14-dev?): {e}".splitlines()[0])
    counts, events, _ = both([exe], clean_env(OMP_NUM_THREADS="2"))

    tap.equal(lost(events), 0, "omp: nothing lost")
    frames = of_kind(counts, "frame")
    tap.ok(sum(frames.values()) > 0, "omp: the runtime submits frames", counts)
    tap.equal(collections.Counter({(d, ""): c for (d, _), c in tally(events, "span").items()}),
              frames, f"omp: {sum(frames.values())} frames, per domain")
    tap.equal(sum(c for (d, _), c in frames.items() if "parallel" in d), 100,
              "omp: 50 steps of two parallel regions")
    spans = [e for e in events if e["type"] == "span"]
    lo, hi = min(e["ns"] for e in events), max(e["ns"] for e in events)
    tap.ok(all(lo - 10**8 <= e["begin_ns"] <= e["end_ns"] <= hi + 10**6 for e in spans),
           "omp: the frames' times are times of our clock, inside the run",
           [(e["begin_ns"], e["end_ns"]) for e in spans[:3]])
    names = {n for k, _, n in counts if k == "thread"}
    tap.ok(len(names) == 2 and names <= threads(events), "omp: threads bear the given names",
           (names, threads(events)))
    syncs = collections.Counter(e["op"] for e in events if e["type"] == "sync")
    # Locks inside the runtime are taken a few times more or less, depending on timing.
    for op in SYNC:
        want = calls(counts, "sync_" + op)
        tap.ok(abs(syncs[op] - want) <= max(8, want // 50), f"omp: sync {op}: {want}",
               f"{syncs[op]} recorded")
    tap.equal(syncs["prepare"], calls(counts, "sync_prepare"), "omp: waits, exactly")
    for api, kind in (("stack_caller_create", "flow-start"), ("stack_callee_enter", "flow-step"),
                      ("stack_caller_destroy", "flow-end")):
        tap.equal(sum(tally(events, kind).values()), calls(counts, api), f"omp: {api}")
    tap.equal(sum(1 for e in events if e.get("name") == "metadata"),
              calls(counts, "metadata_add"), "omp: metadata")
    tap.equal(tally(events, "begin"), of_kind(counts, "task"), "omp: tasks (none)")


def test_torch(tap, tmp):
    python = "/usr/bin/python3"
    try:
        run([python, "-c", "import torch"])
    except (RuntimeError, OSError):
        skip_all("Debian's python3 has no torch: package python3-torch is not installed")
    argv = [python, os.path.join(DEMO, "train.py"), "20"]
    counts, events, out = both(argv, cwd=tmp)
    tasks = of_kind(counts, "task")

    tap.ok("loss" in out, "torch: the training ran", out)
    tap.equal(lost(events), 0, "torch: nothing lost")
    if not tasks:
        tap.skip("torch: tasks", "this libtorch emits no ITT tasks (no oneDNN on this CPU?)")
        return
    tap.equal(without_workers(tally(events, "begin")), tasks,
              f"torch: {sum(tasks.values())} tasks, per name: " +
              ", ".join(f"{c} {n}" for (_, n), c in sorted(tasks.items())))
    tap.equal(sum(tally(events, "end").values()), calls(counts, "task_end"),
              "torch: every task ends")
    # oneDNN's compiler names each kernel that it generates.
    made = collections.Counter(dict(args_of(e))["code"] for e in events
                               if e.get("name") == "code made")
    tap.equal(made, collections.Counter({n: c for (_, n), c in of_kind(counts, "jit").items()}),
              f"torch: {sum(made.values())} pieces of code by name")
    tap.ok(sum(tasks.values()) % 20 == 0, "torch: the same number of tasks in every step", tasks)


def test_workers(tap, tmp):
    """A primitive counts once, however many OpenMP threads run it."""
    python = "/usr/bin/python3"
    try:
        run([python, "-c", "import torch"])
    except (RuntimeError, OSError):
        skip_all("Debian's python3 has no torch: package python3-torch is not installed")
    found = {}
    for n in (1, 2):
        script = f"""import torch
torch.set_num_threads({n})
conv, x = torch.nn.Conv2d(16, 32, 3).eval(), torch.randn(8, 16, 64, 64)
with torch.no_grad():
    for _ in range(20):
        conv(x)
"""
        _, events, _ = both([python, "-c", script], cwd=tmp)
        found[n] = tally(events, "begin")
        if not found[n]:
            tap.skip("workers: tasks", "this libtorch emits no ITT tasks (no oneDNN on this CPU?)")
            return
    of_workers = {k: c for k, c in found[2].items() if k[0].endswith(WORKER)}
    tap.ok(of_workers, "workers: they begin tasks", found[2])
    tap.equal({k: c for k, c in found[2].items() if k not in of_workers}, dict(found[1]),
              "workers: with two threads the primitives are as many as with one")


def test_mold(tap, tmp):
    if not shutil.which("mold") or not shutil.which("gcc"):
        skip_all("package mold is not installed")
    with open(os.path.join(tmp, "hello.c"), "w", encoding="ascii") as f:
        f.write("#include <stdio.h>\nint main(void) { return puts(\"hello\") < 0; }\n")
    run(["gcc", "-c", "hello.c"], cwd=tmp)
    argv = ["gcc", "-fuse-ld=mold", "-o", "hello", "hello.o"]
    counts, events, _ = both(argv, cwd=tmp)
    tasks, groups = of_kind(counts, "task"), of_kind(counts, "group")
    begins = tally(events, "begin")

    tap.equal(run(["./hello"], cwd=tmp), "hello\n", "mold: what it linked under the recorder runs")
    tap.equal(lost(events), 0, "mold: nothing lost")
    tap.ok(sum(groups.values()) > 0, "mold: it emits task groups", counts)
    recorded = collections.Counter({k: c for k, c in tally(events, "instant").items()
                                    if k in groups or k[0].startswith("tbb")})
    tap.equal(recorded, groups, f"mold: {sum(groups.values())} task groups, per name, "
              "of a process that leaves by _exit")
    tap.equal(set(begins), set(tasks), "mold: names of tasks")
    open_at_end = sum(begins.values()) - sum(tally(events, "end").values())
    tap.ok(0 <= open_at_end <= 64, "mold: tasks end, but for those open at _exit", open_at_end)
    # Work stealing changes their number.
    tap.ok(sum(begins.values()) * 4 > sum(tasks.values()) > 0 and
           sum(tasks.values()) * 4 > sum(begins.values()), "mold: tasks, about as many",
           (begins, tasks))
    names = {n for k, _, n in counts if k == "thread"}
    tap.ok(names <= threads(events), "mold: workers bear the given name",
           (names, threads(events)))


def test_tbb(tap, tmp):
    exe = os.path.join(tmp, "flow")
    source = os.path.join(TESTS, "flow.cxx")
    if not shutil.which("g++"):
        skip_all("package g++ is not installed")
    try:
        run(["g++", "-O2", "-std=c++17", "-DTBB_USE_PROFILING_TOOLS=1", "-o", exe, source,
             "-ltbb", "-ltbbmalloc"], timeout=200)
    except RuntimeError as e:
        if "tbb" not in str(e):
            raise
        skip_all("no oneTBB headers: package libtbb-dev is not installed")
    counts, events, out = both([exe])
    tasks, groups = of_kind(counts, "task"), of_kind(counts, "group")
    begins = tally(events, "begin")

    tap.equal(out, "flow: 4950 45000\n", "tbb: the program's own result")
    tap.equal(lost(events), 0, "tbb: nothing lost")
    tap.ok(counts[("init", "", "")] >= 2, "tbb: two static parts load the collector",
           counts[("init", "", "")])
    recorded = collections.Counter({k: c for k, c in tally(events, "instant").items()
                                    if k in groups})
    # A worker that wakes up late, or not at all, changes the number of these.
    custom = ("tbb", "tbb_custom")
    tap.ok(min(recorded[custom], groups[custom]) >= 10, "tbb: its task groups", (recorded, groups))
    del recorded[custom], groups[custom]
    tap.equal(recorded, groups, f"tbb: {sum(groups.values())} other task groups, per name")
    tap.equal(set(begins), set(tasks), "tbb: names of tasks")
    flow = {k: c for k, c in tasks.items() if k[0] == "tbb.flow"}
    tap.equal(sum(flow.values()), 200, "tbb: 100 messages through two nodes of the flow graph")
    tap.equal({k: c for k, c in begins.items() if k[0] == "tbb.flow"}, flow,
              "tbb: 200 tasks of the flow graph, per name")
    open_at_end = sum(begins.values()) - sum(tally(events, "end").values())
    tap.ok(0 <= open_at_end <= 64, "tbb: tasks end, but for those open at exit", open_at_end)


def main():
    if len(sys.argv) != 2 or "test_" + sys.argv[1] not in globals():
        sys.exit("usage: real.py omp|torch|workers|mold|tbb")
    need_tools(foreign=True)
    tap = Tap()
    with tempfile.TemporaryDirectory() as tmp:
        globals()["test_" + sys.argv[1]](tap, tmp)
    tap.exit()


if __name__ == "__main__":
    main()
