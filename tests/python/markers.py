# SPDX-License-Identifier: GPL-2.0-only
"""A program with markers of the Python package, and checks of its trace.

usage: markers.py [check REPORT NDJSON EXITED]
"""
import asyncio
import collections
import functools
import json
import os
import sys
import threading

import xsprof

N = 50


@xsprof.annotate
def recursive(depth):
    return depth if not depth else recursive(depth - 1)


@xsprof.range("raises", category="wrong")
def raises():
    raise KeyError("on purpose")


@xsprof.range("generator")
def generator():
    got = yield 1
    try:
        yield got
    except ValueError:
        yield "caught"
    return "end"


@xsprof.annotate("endless")
def endless():
    while True:
        yield


def delegating(out):
    out.append((yield from generator()))


@xsprof.range("coroutine")
async def coroutine(fails):
    await asyncio.sleep(0)
    if fails:
        raise KeyError("on purpose")
    return 7


@xsprof.annotate("async generator")
async def async_generator():
    for i in range(3):
        yield i


SHARED = xsprof.range("shared", category="switched")
REQUEST = xsprof.range("request")


class Thing:
    @xsprof.annotate()
    def method(self):
        return self


def ranges():
    with xsprof.range("outer", category="cat", n=-3, big=1 << 63, f=2.5, yes=True, s="a text",
                      many=[1, 2], raw=b"by\xfftes", long="x" * 5000):
        for _ in range(N):
            with xsprof.range("inner"):
                xsprof.args(later=1)
        one = xsprof.range("again")
        with one, one:
            pass
    assert recursive(3) == 0 and recursive.__name__ == "recursive"
    for _ in range(2):
        try:
            raises()
        except KeyError:
            continue
        raise AssertionError("an exception was lost")
    try:
        with xsprof.range("left"):
            raise KeyError("on purpose")
    except KeyError:
        pass
    thing = Thing()
    assert thing.method() is thing
    assert xsprof.annotate(functools.partial(int, "7"))() == 7
    with xsprof.range("\u00e4\u20ac\U0001f600"), xsprof.range(b"bytes"):
        pass


def generators():
    g = generator()
    assert next(g) == 1 and g.send(5) == 5 and g.throw(ValueError()) == "caught"
    try:
        next(g)
        raise AssertionError("no end")
    except StopIteration as stop:
        assert stop.value == "end", stop.value
    out = []
    assert list(delegating(out)) == [1, None] and out == ["end"]
    g = endless()
    next(g)
    g.close()


async def coroutines():
    done = await asyncio.gather(coroutine(False), coroutine(True), coroutine(False),
                                return_exceptions=True)
    assert done[0] == done[2] == 7 and isinstance(done[1], KeyError), done
    assert [i async for i in async_generator()] == [0, 1, 2]
    async with xsprof.range("async block"):
        await asyncio.sleep(0)


async def request(begun, go):
    async with REQUEST:
        begun.set()
        await go.wait()


async def requests():
    """One object in several tasks: each ends what it has begun."""
    begun, go = ([asyncio.Event() for _ in range(4)] for _ in range(2))
    # The first one begins unrecorded.
    xsprof.pause()
    running = []
    for i in range(4):
        running.append(asyncio.ensure_future(request(begun[i], go[i])))
        await begun[i].wait()
        xsprof.resume()
    for i in 0, 2, 1, 3:
        go[i].set()
        await running[i]
    handed = xsprof.range("handed over")
    await asyncio.ensure_future(handed.__aenter__())
    await asyncio.ensure_future(handed.__aexit__(None, None, None))
    async with handed, handed:
        async with REQUEST:
            pass


class Other:
    """A thread that enters and leaves a range when it is told to."""

    def __init__(self, which):
        self.which = which
        self.steps = [threading.Event() for _ in range(4)]
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        self.steps[0].wait()
        with self.which:
            self.steps[1].set()
            self.steps[2].wait()
        self.steps[3].set()

    def enter(self):
        self.steps[0].set()
        self.steps[1].wait()

    def leave(self):
        self.steps[2].set()
        self.thread.join()


def shared():
    """One object in several threads and inside of itself, while its category is switched."""
    def switch(on):
        xsprof.category_enable("switched", on)
    for first in True, False:
        one, two = Other(SHARED), Other(SHARED)
        switch(first)
        one.enter()
        switch(not first)
        two.enter()
        switch(True)
        one.leave()
        two.leave()
    for wanted in (True, False, True, True), (False, True, False, True), (True, True, False, True):
        for on in wanted:
            switch(on)
            SHARED.__enter__()
        for _ in wanted:
            SHARED.__exit__(None, None, None)
    switch(True)


def raced():
    """Threads that are the first to enter an object, at once."""
    objects = [xsprof.range("raced") for _ in range(10 * N)]
    together = threading.Barrier(4)

    def enter_all():
        for one in objects:
            together.wait()
            with one:
                together.wait()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=enter_all) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    sys.setswitchinterval(interval)


def others():
    xsprof.instant("instant")
    xsprof.instant("of the process", scope="process")
    xsprof.instant("with", what="arguments")
    xsprof.counter("whole", 3)
    xsprof.counter("part", 2.5)
    xsprof.counter("huge", 1 << 70)
    for i in range(3):
        xsprof.step(i)
    xsprof.async_begin("by hand", 9)
    xsprof.async_end("by hand", 9)
    with xsprof.range("sends"):
        xsprof.flow_begin("flow", 77)


def thread(number):
    xsprof.thread_name("worker %d" % number)
    with xsprof.range("receives"):
        (xsprof.flow_step if number else xsprof.flow_end)("flow", 77)
    for _ in range(N):
        with xsprof.range("in thread"):
            pass


def refused():
    for wrong in (lambda: xsprof.range(5).__enter__(), lambda: xsprof.range("a\0b").__enter__(),
                  lambda: xsprof.range("x")(3), lambda: xsprof.annotate(Thing),
                  lambda: xsprof.instant("x", scope="all"),
                  lambda: xsprof.counter("x", "3 of"), lambda: xsprof.instant("x", ""),
                  lambda: xsprof.fact("a=b", 1)):
        try:
            wrong()
        except (TypeError, ValueError, xsprof.Error):
            continue
        raise AssertionError("not refused")


def program(recorded):
    assert xsprof.enabled() == recorded == xsprof.thread_name("main of it"), xsprof.enabled()
    assert xsprof.fact("python.test", "a fact") == recorded
    ranges()
    generators()
    asyncio.get_event_loop_policy().new_event_loop().run_until_complete(coroutines())
    asyncio.get_event_loop_policy().new_event_loop().run_until_complete(requests())
    shared()
    raced()
    others()
    threads = [threading.Thread(target=thread, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    child = os.fork()
    if not child:
        with xsprof.range("in child"), xsprof.range("inner"):
            pass
        os._exit(0 if xsprof.stats()["attached"] == recorded else 1)
    assert os.waitpid(child, 0)[1] == 0
    if recorded:
        refused()
        assert xsprof.category_enable("cat", False) and not xsprof.enabled("cat")
        with xsprof.range("of a category that is off", category="cat"), xsprof.range("inner"):
            pass
        assert xsprof.pause()
        with xsprof.range("paused"):
            pass
        assert xsprof.resume() and xsprof.enabled()
        assert xsprof.stats()["lost"] == 0


def check(report, ndjson):
    with open(report) as f:
        rows = json.load(f)
    assert rows["open"] == rows["unmatched_ends"] == rows["lost_records"] == 0, rows
    # Those that were open when their category was switched off.
    cut = {r["name"]: r["cut"] for r in rows["ranges"] if r["cut"]}
    assert cut == {"shared": 1 + 1 + 1 + 2} and rows["cut"] == 5, (cut, rows["cut"])
    got = {r["name"]: r["count"] for r in rows["ranges"]}
    assert got == {
        "outer": 1, "inner": N + 2, "again": 2, "recursive": 4, "raises": 2, "left": 1,
        "Thing.method": 1, "partial": 1,
        "\u00e4\u20ac\U0001f600": 1, "bytes": 1, "generator": 4 + 3,
        "endless": 2, "coroutine": 3, "async generator": 1, "async block": 1, "by hand": 1,
        "shared": 2 + 3 + 2 + 3, "request": 4, "handed over": 3, "raced": 40 * N,
        "sends": 1, "receives": 4, "in thread": 4 * N, "in child": 1}, got
    with open(ndjson) as f:
        events = [json.loads(line) for line in f]
    of = collections.defaultdict(list)
    for e in events:
        of[e["type"]].append(e)
    outer, = [e for e in of["begin"] if e["name"] == "outer"]
    values = {a["key"]: a for a in outer["args"]}
    assert outer["cat"] == "cat" and values["n"]["value"] == -3, outer
    assert values["big"]["value"] == 1 << 63 and values["f"]["value"] == 2.5, values
    assert values["yes"] == dict(values["yes"], type="bool", value=True), values
    assert values["s"]["value"] == "a text" and values["many"]["value"] == "[1, 2]", values
    # Values too long for a record come in pieces, cut after XSPROF_TEXT_MAX.
    pieces = [a["value"] for a in outer["args"] if a["key"] == "long"]
    pieces += [a["value"] for e in events for a in e.get("args", ()) if e["type"] == "args" and
               a["key"] == "long"]
    assert len("".join(pieces)) == 4000, pieces
    assert [e["cat"] for e in of["begin"] if e["name"] == "raises"] == ["wrong"] * 2
    assert {e["name"]: e.get("scope") for e in of["instant"]} == {
        "instant": "thread", "of the process": "process", "with": "thread"}, of["instant"]
    assert [(e["name"], e.get("i64", e.get("f64"))) for e in of["counter"]] == [
        ("whole", 3), ("part", 2.5), ("huge", 2.0 ** 70)], of["counter"]
    assert [e["value"] for e in of["step"]] == [0, 1, 2], of["step"]
    flows = [e["type"] for e in events if e["type"].startswith("flow")]
    assert sorted(flows) == ["flow-end"] + ["flow-start"] + 3 * ["flow-step"], flows
    assert {e["value"] for e in events if e["type"].startswith("flow")} == {77}
    # Several of the coroutines are open at once.
    asynchronous = [e["value"] for e in of["async-begin"] if e["name"] == "coroutine"]
    assert len(set(asynchronous)) == 3, asynchronous
    order = [(e["type"], e["value"]) for e in events if e.get("name") == "request"]
    second, third, fourth = [value for _, value in order[:3]]
    # Python 3.6 cannot tell tasks apart.
    assert sys.version_info < (3, 7) or order[:6] == [
        ("async-begin", value) for value in (second, third, fourth)] + [
            ("async-end", value) for value in (third, second, fourth)], order
    names = {e["thread"] for e in of["begin"] if e["name"] == "in thread"}
    assert names == {"worker %d" % i for i in range(4)}, names
    pids = {name: {e["pid"] for e in of["begin"] if e["name"] == name}
            for name in ("outer", "in child", "inner")}
    assert not pids["outer"] & pids["in child"], pids
    assert pids["inner"] == pids["outer"] | pids["in child"], pids


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        check(*sys.argv[2:])
    else:
        program(bool(os.environ.get("RECORDED")))
