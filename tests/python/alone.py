# SPDX-License-Identifier: GPL-2.0-only
"""Profiles of a program without PyTorch: sessions, schedules, exports and errors."""
import collections
import gzip
import json
import os
import re
import subprocess
import sys
import threading
import types
import warnings

import xsprof
from xsprof import (ProfilerAction, ProfilerActivity, profile, record_function, schedule,
                    supported_activities)
from xsprof.profiler import ExecutionTraceObserver, tensorboard_trace_handler

NONE, WARMUP, RECORD, SAVE = (ProfilerAction.NONE, ProfilerAction.WARMUP, ProfilerAction.RECORD,
                              ProfilerAction.RECORD_AND_SAVE)
warnings.simplefilter("error")


def refused(kind, says, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as err:
        assert says in str(err), err
    else:
        raise AssertionError("not refused: " + says)


@record_function("decorated")
def decorated(depth):
    if depth:
        decorated(depth - 1)


def work():
    with record_function("outer", "its arguments"):
        for _ in range(3):
            with record_function("inner"):
                pass
    decorated(2)
    with xsprof.range("a range"):
        pass


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        return json.load(f)


def names(prof):
    return {row.key: row.count for row in prof.key_averages()}


WANT = {"outer": 1, "inner": 3, "decorated": 1, "a range": 1}


def basics():
    prof = profile(record_shapes=True, profile_memory=True, with_stack=True)
    refused(AssertionError, "has not been started", prof.key_averages)
    with prof:
        work()
        refused(RuntimeError, "has not ended", prof.events)
        refused(xsprof.Error, "stop it first", profile().start)
        prof.add_metadata("a key", 'a "text"')
        prof.add_metadata_json("numbers", "[1, 2]")
        refused(xsprof.Error, "no JSON", prof.add_metadata_json, "wrong", "{")
    refused(RuntimeError, "has ended already", prof.stop)
    refused(RuntimeError, "has ended already", prof.stop_trace)
    refused(AssertionError, "was not started", profile().stop)
    refused(AssertionError, "was not started", profile().stop_trace)
    # A function that only calls itself counts as one event, as in torch.profiler.
    assert names(prof) == WANT, names(prof)
    outer, = [e for e in prof.events() if e.name == "outer"]
    assert [c.name for c in outer.cpu_children] == ["inner"] * 3, outer.cpu_children
    assert outer.cpu_children[0].cpu_parent is outer and outer.is_user_annotation
    assert 0 <= outer.self_cpu_time_total <= outer.cpu_time_total, outer
    total = prof.events().total_average()
    assert total.count == len(prof.events()) and total.key == "Total"
    assert abs(total.self_cpu_time_total - prof.profiler.self_cpu_time_total) < 1e-6
    prof.export_chrome_trace("b.json.gz")
    refused(xsprof.Error, "copy b.json.gz", prof.export_chrome_trace, "a.json")
    trace = load("b.json.gz")
    assert trace["a key"] == 'a "text"' and trace["numbers"] == [1, 2], sorted(trace)
    assert trace["trace_id"] == prof.get_trace_id(), trace["trace_id"]
    got = collections.Counter(e["name"] for e in trace["traceEvents"] if e["ph"] == "X")
    assert got["inner"] == 3 and got["decorated"] == 3, got
    prof.export_stacks("stacks")
    prof.export_memory_timeline("timeline.json", device="cpu")
    prof.export_memory_snapshot("snapshot.pickle")
    assert os.path.getsize("snapshot.pickle") and load("timeline.json") is not None
    refused(ValueError, ".json.gz", prof.export_memory_timeline, "t.html")
    refused(ValueError, "with_stack=True", profile().export_memory_timeline, "t.json")
    refused(AssertionError, "with_stack=True", profile().export_stacks, "s")
    with profile() as prof:
        pass
    refused(xsprof.Error, "none/such.json", prof.export_chrome_trace, "none/such.json")


def tables():
    with profile() as prof:
        work()
    averages = prof.key_averages()
    text = averages.table(sort_by="count", row_limit=2, header="A header", time_unit="us")
    lines = text.splitlines()
    assert lines[1] == "A header" and lines[3].split()[0] == "Name", text
    shown = [line.split()[0] for line in lines[5:7]]
    assert shown[0] == "inner" and lines[7].startswith("-----"), text
    assert "Self CPU time total" in lines[-1] and str(averages) == averages.table()
    assert averages.table(top_level_events_only=True)
    prof.events().export_chrome_trace("events.json")
    spans = load("events.json")
    assert [e["name"] for e in spans] == [e.name for e in prof.events()], spans
    assert {e["ph"] for e in spans} == {"X"} and {e["tid"] for e in spans} == {os.getpid()}, spans
    inside = [e for e in spans if e["name"] == "inner"]
    outer, = [e for e in spans if e["name"] == "outer"]
    assert all(outer["ts"] <= e["ts"] <= e["ts"] + e["dur"] <= outer["ts"] + outer["dur"] + 1e-3
               for e in inside), spans
    refused(AttributeError, "sums have no times", averages.export_chrome_trace, "sums.json")
    for metric in prof.events().supported_export_stacks_metrics():
        prof.events().export_stacks("stacks", metric)
    refused(ValueError, "self_xpu_time_total", prof.events().export_stacks, "stacks", "count")
    refused(AttributeError, "self_cpu_time_total", averages.table, sort_by="colour")
    refused(ValueError, "s, ms or us", averages.table, time_unit="h")


def schedules():
    plan = schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    assert [plan(i) for i in range(11)] == [
        NONE, NONE, WARMUP, RECORD, SAVE, NONE, WARMUP, RECORD, SAVE, NONE, NONE]
    refused(AssertionError, "active must be at least 1", schedule, wait=0, warmup=1, active=0)
    cycles = []

    def ready(prof):
        cycles.append((prof.step_num, names(prof)))

    with profile(schedule=plan, on_trace_ready=ready) as prof:
        for number in range(10):
            with record_function("step %d" % number):
                pass
            prof.step()
    assert cycles == [
        (5, {"ProfilerStep*": 2, "step 3": 1, "step 4": 1}),
        (9, {"ProfilerStep*": 2, "step 7": 1, "step 8": 1})], cycles
    # A cycle that still records at the end is ready then; a schedule may be any function.
    del cycles[:]
    with profile(schedule=lambda step: RECORD, on_trace_ready=ready) as prof:
        work()
        prof.step()
        work()
    assert [(n, rows["outer"], rows["ProfilerStep*"]) for n, rows in cycles] == [(1, 2, 2)], cycles
    # Cycles without a pause between them, with all events kept.
    del cycles[:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = schedule(wait=0, warmup=0, active=1)
    with profile(schedule=plan, on_trace_ready=ready, acc_events=True) as prof:
        for _ in range(3):
            work()
            prof.step()
    # The last cycle is the step that the end of the profile cuts.
    assert [rows["outer"] for _, rows in cycles] == [1, 2, 3, 3], cycles
    refused(TypeError, "ProfilerAction", profile, schedule=lambda step: 5)
    with profile(schedule=schedule(wait=0, warmup=1, active=1, repeat=1),
                 on_trace_ready=tensorboard_trace_handler("board/x", "worker", True)) as prof:
        for _ in range(3):
            prof.step()
    file, = os.listdir("board/x")
    assert file.startswith("worker.") and file.endswith(".pt.trace.json.gz"), file
    assert load("board/x/" + file)["traceEvents"]
    # The program ends in a warm-up: nothing was recorded, and as in torch.profiler that is no
    # error.
    with profile(schedule=schedule(wait=0, warmup=5, active=1)) as prof:
        prof.step()
    refused(RuntimeError, "has ended already", prof.stop)
    assert names(prof) == {}, names(prof)
    prof.export_chrome_trace("warm.json")
    with profile(schedule=schedule(wait=1, warmup=1, active=1)) as prof:
        for _ in range(4):
            work()
            prof.step()
    assert not prof.events(), prof.events()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with profile(schedule=lambda step: [WARMUP, NONE, WARMUP, SAVE][step]) as prof:
            for _ in range(3):
                prof.step()
            work()
    assert names(prof)["outer"] == 1 and "WARMUP before a NONE" in str(said[0].message), said


def stack_load():
    with record_function("load", "its arguments"):
        pass


@xsprof.range("step", category="stacks", n=1)
def stack_step():
    xsprof.args(later=2)
    stack_load()


def stack_deep(depth):
    if depth:
        stack_deep(depth - 1)
    else:
        with xsprof.range("deep"):
            pass


def stack_generator():
    with xsprof.range("generator"):
        yield


@record_function("decorator")
def stack_decorated():
    with xsprof.range("in it"):
        pass


def stack_work():
    stack_step()
    stack_decorated()
    list(stack_generator())
    stack_deep(100)


def functions(event):
    """The functions of its stack, innermost first."""
    for frame in event.stack[:64]:
        assert re.match(r"[^ ]*alone\.py\(\d+\): [\w<>.]+$", frame), event.stack
    return [re.split("[ .]", frame)[-1] for frame in event.stack[:64]]


def stacks():
    """Each range has its Python stack, without frames of the package and of what is below."""
    def recorded(**options):
        with profile(**options) as prof:
            stack_work()
        return {e.name: e for e in prof.events()}, prof

    def checked(events):
        outer = ["stack_work", "recorded", "stacks", "<module>"]
        assert functions(events["step"]) == outer, events["step"].stack
        assert functions(events["load"]) == ["stack_load", "stack_step"] + outer, events["load"]
        assert functions(events["decorator"]) == outer, events["decorator"].stack
        assert functions(events["in it"]) == ["stack_decorated"] + outer, events["in it"].stack
        assert functions(events["generator"]) == ["stack_generator"] + outer, events["generator"]
        assert functions(events["deep"]) == ["stack_deep"] * 64, events["deep"].stack
        assert "41" in events["deep"].stack[64] and len(events["deep"].stack) == 65, events["deep"]

    plain, _ = recorded()
    assert not any(e.stack for e in plain.values()), plain
    events, prof = recorded(with_stack=True)
    checked(events)
    # The line is that of the call, and all else of a range is as without stacks.
    assert events["load"].stack[0] != events["load"].stack[1]
    for name, event in events.items():
        was = plain[name]
        assert (event.kwinputs, event.is_user_annotation, len(event.cpu_children)) == (
            was.kwinputs, was.is_user_annotation, len(was.cpu_children)), (name, event.kwinputs)
    assert events["step"].cpu_children == [events["load"]], events["step"].cpu_children
    rows = {row.key: row for row in prof.key_averages(group_by_stack_n=1)}
    assert rows["load"].stack == events["load"].stack[:1], rows["load"].stack
    assert "stack_load" in prof.key_averages(group_by_stack_n=3).table()
    prof.export_stacks("stacks")
    with open("stacks") as f:
        assert not re.search(r"0x|\.so|xsprof/", f.read().replace(os.getcwd(), ""))
    prof.export_chrome_trace("stacks.json")
    step, = [e for e in load("stacks.json")["traceEvents"] if e.get("name") == "step"]
    assert "stack_work" in step["args"]["Call stack"], step
    # A forked child names them again.
    child = os.fork()
    if not child:
        checked(recorded(with_stack=True)[0])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    # More different stacks than there is room for.
    lines = "\n".join(["def many():"] + ["    with record_function('x'): pass"] * 13000)
    scope = {"record_function": record_function}
    exec(compile(lines, "many.py", "exec"), scope)
    with profile(with_stack=True) as prof:
        scope["many"]()
    kinds = collections.Counter(e.stack[0] if e.stack and "many" not in e.stack[0] else "named"
                                for e in prof.events())
    assert set(kinds) == {"named", "[stack missed]"} and kinds["named"] > 10000, kinds


def threads():
    def other():
        with record_function("other thread"):
            pass

    with profile() as prof:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        work()
    assert "other thread" not in names(prof), names(prof)

    class All:
        profile_all_threads = True

    with profile(experimental_config=All()) as prof:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert names(prof) == {"other thread": 1}, names(prof)


def devices():
    """The default is what PyTorch has, if it is imported."""
    for available, hip, want in (True, None, {"CPU", "CUDA"}), (False, None, {"CPU"}), (
            True, "6.0", {"CPU"}):
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(is_available=lambda: available)
        torch.version = types.SimpleNamespace(hip=hip)
        sys.modules["torch"] = torch
        try:
            assert {a.name for a in supported_activities()} == want, want
            prof = profile()
            assert {a.name for a in prof.activities} == want, prof.activities
            assert prof.use_device == ("cuda" if "CUDA" in want else None)
        finally:
            del sys.modules["torch"]


def others():
    with profile() as prof:
        with record_function("before"):
            pass
        prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
        with record_function("meanwhile"):
            pass
        prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
        with record_function("after"):
            pass
    assert names(prof) == {"before": 1, "after": 1}, names(prof)
    observer = ExecutionTraceObserver().register_callback("et.json")
    with profile(execution_trace_observer=observer):
        work()
    assert load("et.json")["nodes"], observer.get_output_file_path()
    prof = profile(custom_trace_id_callback=lambda: "MINE")
    prof.preset_metadata_json("early", "7")
    prof.start()
    prof.stop()
    prof.export_chrome_trace("c.json")
    assert load("c.json")["trace_id"] == prof.get_trace_id() == "MINE"
    assert load("c.json")["early"] == 7 and not prof.events() and not prof.key_averages().table()
    refused(TypeError, "ProfilerActivity", profile, activities=["cpu"])
    for wrong in "cpu", 3, ProfilerActivity.CPU:
        refused(TypeError, "activities: expected a list", profile, activities=wrong)
    refused(TypeError, "profile(): schedule: expected a function", profile, schedule=3)
    refused(TypeError, "profile(): on_trace_ready: ", profile, on_trace_ready="x")
    refused(TypeError, "custom_trace_id_callback: ", profile, custom_trace_id_callback="x")
    refused(AssertionError, "empty", profile, activities=[])
    refused(UserWarning, "record --gpu", profile, activities=[ProfilerActivity.XPU])
    refused(FutureWarning, "activities", profile, use_cuda=False)
    refused(ValueError, "twice", profile, activities=[ProfilerActivity.CPU, ProfilerActivity.CPU])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cuda in True, False:
            assert profile(activities=[ProfilerActivity.CPU], use_cuda=cuda).activities == {
                ProfilerActivity.CPU}
        refused(AssertionError, "leaves no activity", profile, activities=[ProfilerActivity.CUDA],
                use_cuda=False)
    devices()
    for _ in range(50):
        with profile() as prof:
            work()
        assert names(prof)["inner"] == 3
    child = os.fork()
    if not child:
        with profile() as prof:
            work()
        os._exit(names(prof)["inner"] != 3)
    assert os.waitpid(child, 0)[1] == 0


# The library's threads get a CPU only when the program leaves it to them.
LOSES = """
import os, xsprof
with xsprof.profile() as prof:
    cpu = {min(os.sched_getaffinity(0))}
    for tid in map(int, os.listdir("/proc/self/task")):
        os.sched_setaffinity(tid, cpu)
        if tid != os.getpid():
            os.sched_setscheduler(tid, os.SCHED_IDLE, os.sched_param(0))
    for _ in range(100000):
        with xsprof.record_function("x"):
            pass
print(sum(row.count for row in prof.key_averages()))
"""


def losses():
    # A ring that is too small keeps the newest records, and the profile says what is missing.
    for size in "4k", "64M":
        done = subprocess.run([sys.executable, "-c", LOSES], check=True, universal_newlines=True,
                              env=dict(os.environ, XSPROF_BUFFER_SIZE=size),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        told = re.search(r"of this profile the oldest (\d+) kB were overwritten: use "
                         "XSPROF_BUFFER_SIZE=64M", done.stderr)
        if size == "4k":
            missing = 100000 - int(done.stdout)
            assert missing > 0 and told and int(told.group(1)) * 1000 >= missing * 32, done
        else:
            assert int(done.stdout) == 100000 and not done.stderr, done


def variables():
    """Checks that the library or the package reads each variable that a message names."""
    folder = os.path.dirname(xsprof.__file__)
    text = ""
    for where, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".py"):
                with open(os.path.join(where, name), encoding="utf-8") as f:
                    # Without the notes about constants of headers.
                    text += re.sub("#: .*", "", f.read())
    with open(os.path.join(os.environ["XSPROF_LIBDIR"], "libxsprof-user.so.0"), "rb") as f:
        library = f.read()
    named = set(re.findall(r"\bXSPROF_(?!ACTIVITY|EV_|RANGEF_)[A-Z_]+\b", text))
    assert "XSPROF_BACKEND" in named, named
    unread = [name for name in sorted(named)
              if name.encode() + b"\0" not in library and '"' + name + '"' not in text]
    assert not unread, unread


for part in (basics, tables, schedules, stacks, threads, others, losses, variables):
    part()
assert "torch" not in sys.modules
