# SPDX-License-Identifier: GPL-2.0-only
"""A program that mypy --strict accepts: it uses each public name of the package. Nothing runs it.

Each line with "# wrong: CODE" must be an error with that code, and no other line may be one.
"""
from typing import Any, Callable, Coroutine, Dict, Iterator, List, Optional, Tuple, Union

import xsprof
from xsprof import (Capture, Error, ProfilerAction, ProfilerActivity, Table, profile,
                    record_function, schedule, supported_activities, tensorboard_trace_handler)
from xsprof.profiler import EventList
from xsprof.tables import Op


@xsprof.annotate
def plain(a: int, *, b: str = "") -> str:
    return b * a


@xsprof.annotate()
def own_name(a: int) -> str:
    return str(a)


@xsprof.annotate("name", category="c", rows=3)
def named(a: int) -> str:
    return str(a)


@xsprof.range("block")
def ranged(a: int) -> str:
    return str(a)


@xsprof.annotate
async def coroutine(a: int) -> str:
    async with xsprof.range("async"):
        return str(a)


@xsprof.annotate
def generator(a: int) -> Iterator[int]:
    yield a


class Thing:
    @xsprof.annotate
    def method(self, a: int) -> str:
        return str(a)

    @xsprof.annotate
    @classmethod
    def of_class(cls, a: int) -> str:
        return str(a)

    @xsprof.range("static")
    @staticmethod
    def of_none(a: int) -> str:
        return str(a)

    @property
    @xsprof.annotate
    def getter(self) -> int:
        return 1


def signatures(thing: Thing) -> None:
    text: str = plain(1, b="b") + own_name(1) + named(1) + ranged(1) + thing.method(1)
    text += Thing.of_class(1) + thing.of_none(1)
    pending: Coroutine[Any, Any, str] = coroutine(1)
    numbers: Iterator[int] = generator(thing.getter)
    plain("a")                      # wrong: arg-type
    own_name()                      # wrong: call-arg
    named(1, 2)                     # wrong: call-arg
    ranged("a")                     # wrong: arg-type
    thing.method("a")               # wrong: arg-type
    number: int = plain(1)          # wrong: assignment


def markers() -> Dict[str, int]:
    with xsprof.range("x", category="c", rows=3, what="a") as r:
        assert isinstance(r, xsprof.range)
        xsprof.args(loss=0.25)
    xsprof.instant("x", "c", "process", n=1)
    xsprof.counter("x", 1)
    xsprof.counter("x", 1.5, category="c")
    xsprof.step(1)
    xsprof.flow_begin("x", 1)
    xsprof.flow_step("x", 1)
    xsprof.flow_end("x", 1)
    xsprof.async_begin("x", 1)
    xsprof.async_end("x", 1)
    on: bool = xsprof.enabled("c") and xsprof.thread_name("x") and xsprof.fact("rank", 1)
    on = xsprof.category_enable("c") and xsprof.pause() and xsprof.resume() and xsprof.flush(1)
    xsprof.range(5)                 # wrong: arg-type
    xsprof.step("a")                # wrong: arg-type
    xsprof.counter("x", "a")        # wrong: arg-type
    xsprof.counter("x", None)       # wrong: arg-type
    xsprof.annotate(5)              # wrong: call-overload
    xsprof.nothing                  # wrong: attr-defined
    xsprof.conter("x", 1)           # wrong: attr-defined
    return xsprof.stats()


def captures(path: str) -> None:
    with xsprof.open(path) as capture:
        assert isinstance(capture, Capture)
        ops: Table[Op] = capture.ops(by="process")
        for op in capture.ops():
            total: int = op.total_ns
            own: Optional[int] = op.self_ns
            op.totl_ns              # wrong: attr-defined
        text: str = capture.ranges("x")[0].end + capture.steps()[0].name
        stack: Tuple[str, ...] = capture.samples()[0].stack
        value: Union[int, float] = capture.counters()[0].value
        text += capture.instants()[0].scope + capture.flows()[0].kind + capture.gpu()[0].kind
        number: int = capture.allocations()[0].bytes + capture.kernel()[0].count
        number = capture.threads()[0].tid + capture.gil().threads[0].waits
        count: Optional[int] = capture.lost()[0].count
        facts: Dict[str, str] = capture.processes()[0].facts
        columns: Tuple[str, ...] = capture.threads().columns
        rows: List[Dict[str, Any]] = capture.threads().to_dicts()
        frame = capture.gpu(as_frame=True)
        frame.groupby("kind")
        capture.ops("name", True).head()
        capture.steps(as_frame=True).head()
        capture.samples()[0].stak   # wrong: attr-defined
        text = capture.threads()[0].tid     # wrong: assignment
        names: List[str] = capture.notes() + capture.warnings
        print(capture.info()["host"], next(capture.events())["ns"])
        print(capture.profile().key_averages().table())


def profiles() -> None:
    try:
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                     schedule=schedule(wait=1, warmup=1, active=1),
                     on_trace_ready=tensorboard_trace_handler("folder")) as prof, \
                record_function("x"):
            prof.step()
    except Error as err:
        print(err.errno)
    events: EventList = prof.events()
    text: str = prof.key_averages().table(sort_by="cpu_time_total", row_limit=10)
    print(events, text, ProfilerAction.RECORD in ProfilerAction, supported_activities())
    of: Callable[..., Any] = xsprof.profiler.record_function
    print(of, xsprof.capture.open, xsprof.profile)
    prof.setp()                     # wrong: attr-defined
