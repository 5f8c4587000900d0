#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""asyncio tasks with known names, for tasks.sh.

Usage: tasks.py run SECONDS, tasks.py blocked SECONDS, tasks.py many SECONDS,
tasks.py forked SECONDS, tasks.py check EVENTS [FEW] <SAID, or tasks.py check-many EVENTS.

Each task calls a function that no other task calls, so that each sample shows which task it was in.
run: prints these functions, each with get_name() of its task. blocked: the event loop runs in a
thread, and the main thread waits for it. many: more tasks than the recorder can name. forked: a
forked child. check: checks the samples; FEW: the least number of samples in tasks.
"""
import asyncio
import json
import os
import sys
import threading
import time

MARK = "asyncio task: "
END = [0.0]
NAMED = {}      # by function: the name of its task, "" if it cannot be known
NAMES = ["reader", "odd; name", "größe", "имя →", "\U0001f40d", "", "lone \udc80", "x" * 300]

SOURCE = """
def %(f)s(t):
    end = time.monotonic() + t
    x = 0
    while time.monotonic() < end:
        x += 1
    return x
"""
SLEEP = """
def %(f)s(t):
    time.sleep(t)
"""


def function(name, source=SOURCE):
    scope = {"time": time}
    exec(compile(source % {"f": name}, "work.py", "exec"), scope)
    return scope[name]


def note(name, task):
    if NAMED.setdefault(name, task) != task:
        sys.exit("tasks.py: %s is in two tasks" % name)


async def inner(work, t):
    work(t)
    await asyncio.sleep(0)


async def worker(label, name=None):
    """Is renamed halfway, except if it has no name of its own."""
    await asyncio.sleep(0)
    task = asyncio.current_task()
    for part in "one", "two":
        work = function("work_%s_%s" % (label, part))
        if part == "two" and name is not None:
            task.set_name(name + " again")
        end = (time.monotonic() + END[0]) / 2 if part == "one" else END[0]
        while time.monotonic() < end:
            await inner(work, 0.004)
        # Late: until it is asked for, the name is only a number in 3.13.
        note(work.__name__, task.get_name())


async def sleeper(label):
    """Blocks its loop now and then, off the CPU and without the lock."""
    work = function("work_" + label, SLEEP)
    note(work.__name__, asyncio.current_task().get_name())
    while time.monotonic() < END[0]:
        work(0.02)
        await asyncio.sleep(0.01)


async def python_task(label):
    """Of a task written in Python no name can be known."""
    work = function("work_" + label)
    note(work.__name__, "")
    while time.monotonic() < END[0]:
        work(0.002)
        await asyncio.sleep(0.005)


async def eager(label):
    """Starts in the task that creates it."""
    work = function("work_" + label)
    note(work.__name__, asyncio.current_task().get_name())
    work(0.003)


async def starter(label):
    work = function("work_" + label)
    note(work.__name__, asyncio.current_task().get_name())
    loop = asyncio.get_running_loop()
    while time.monotonic() < END[0]:
        work(0.002)
        # An eager task: this coroutine's task changes while it runs.
        await asyncio.Task(eager(label + "_eager"), loop=loop, name=label + " eager",
                           eager_start=True)
        work(0.002)
        await asyncio.sleep(0)


async def all_of(label):
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(worker("%s%d" % (label, i), name), name=name)
             for i, name in enumerate(NAMES)]
    tasks.append(loop.create_task(worker(label + "_default")))
    tasks.append(loop.create_task(sleeper(label + "_sleeper")))
    tasks.append(asyncio.tasks._PyTask(python_task(label + "_python"), loop=loop))
    if sys.version_info >= (3, 12):
        tasks.append(loop.create_task(starter(label + "_starter"), name=label + " starter"))
    await asyncio.gather(*tasks)


def plain():
    """A thread without tasks, while other threads run theirs."""
    work = function("work_plain")
    note("work_plain", "")
    while time.monotonic() < END[0]:
        work(0.002)
        time.sleep(0.005)


def said():
    print(json.dumps(NAMED))


def run():
    threads = [threading.Thread(target=asyncio.run, args=(all_of("b"),)),
               threading.Thread(target=plain)]
    for thread in threads:
        thread.start()
    asyncio.run(all_of("a"))
    for thread in threads:
        thread.join()
    said()


async def garbage():
    """What asyncio and its programs make all the time: it is collected now and then."""
    while time.monotonic() < END[0]:
        for _ in range(300):
            one = []
            one.append(one)
        await asyncio.sleep(0.002)


async def blocked():
    loop = asyncio.get_running_loop()
    await asyncio.gather(loop.create_task(worker("c", "in a thread"), name="in a thread"),
                         garbage())


def run_blocked():
    thread = threading.Thread(target=asyncio.run, args=(blocked(),))
    thread.start()
    # The main thread runs no pending calls meanwhile.
    thread.join()
    said()


async def brief(work):
    work(0.0005)


async def many():
    work = function("work_many")
    while time.monotonic() < END[0]:
        await asyncio.gather(*(asyncio.get_running_loop().create_task(brief(work))
                               for _ in range(20)))


def forked():
    asyncio.run(all_of("a"))
    pid = os.fork()
    if pid:
        if os.waitpid(pid, 0)[1]:
            sys.exit("the child failed")
        return
    END[0] += END[0] - BEGIN
    NAMED.clear()
    asyncio.run(all_of("child"))
    said()


# ---- what was recorded -----------------------------------------------------------------------

def samples(path):
    with open(path, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            if event.get("type") == "sample" and event["how"] != "missed":
                yield event


def shown(name):
    """The recorded name: non-text is replaced, and of long names the end is kept."""
    if not name:
        return "<no name>"
    name = "".join("\ufffd" if 0xd800 <= ord(c) < 0xe000 else c for c in name)
    data = name.encode()
    if len(data) < 144:
        return name
    return "..." + data[-(144 - 4):].decode(errors="ignore")


def check(path, few):
    named = json.load(sys.stdin)
    right = missing = 0
    met, held = set(), set()
    for one in samples(path):
        frames = one["frames"]
        marks = [i for i, frame in enumerate(frames) if frame.startswith(MARK)]
        works = [f.rsplit(": ", 1)[1] for f in frames if f.startswith("work.py(")]
        if not works:
            # Other work of the program in tasks: its name is not known here.
            assert not marks or any("tasks.py" in f for f in frames), frames
            continue
        work = works[0]
        if work not in named:
            continue
        want = named[work]
        if want == "" and not work.endswith(("_python", "_plain")):
            want = "<no name>"
        if not marks:
            missing += bool(want)
            continue
        assert want, (work, frames)
        assert len(marks) == 1, frames
        at = marks[0]
        assert frames[at] == MARK + shown(want), (frames[at], want)
        coroutine = frames[at - 1].split("): ", 1)[1]
        assert coroutine in ("worker", "sleeper", "eager", "starter"), frames
        if coroutine != "eager":
            # C functions may be between.
            outer = [f for f in frames[at + 1:] if "): " in f]
            assert outer[0].split("): ", 1)[1] in ("Handle._run", "_run"), frames
        right += 1
        met.add(work)
        held.add(one["how"])
    print("# %d samples named, %d not; %d of %d functions; %s" %
          (right, missing, len(met), len(named), sorted(held)))
    assert right >= few, right
    # The first samples come before the recorder has found the tasks.
    assert missing <= 40 + right / 20, (missing, right)
    assert "runs" in held
    if few > 100:
        assert held >= {"runs", "off"}, held
        assert len(met) > len(named) * 0.7, sorted(set(named) - met)


def check_many(path):
    """Samples without room for their task have their functions nevertheless."""
    tasks, named, without = set(), 0, 0
    for one in samples(path):
        if not one.get("frames"):
            raise AssertionError("a sample without a stack: %s" % one)
        mark = [f for f in one["frames"] if f.startswith(MARK)]
        if "work.py(2): work_many" in one["frames"]:
            named += bool(mark)
            without += not mark
            tasks.update(mark)
    print("# %d tasks, %d samples in them, %d without" % (len(tasks), named, without))
    assert 500 < len(tasks) <= 1024 and without > 10, (len(tasks), named, without)


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "check":
        check(arguments[0], int(arguments[1]) if len(arguments) > 1 else 200)
    elif what == "check-many":
        check_many(arguments[0])
    else:
        END[0] = time.monotonic() + float(arguments[0])
        {"run": run, "blocked": run_blocked, "forked": forked,
         "many": lambda: asyncio.run(many())}[what]()


BEGIN = time.monotonic()

if __name__ == "__main__":
    main()
