# SPDX-License-Identifier: LGPL-2.1-only
"""The steps of a training in its ranges."""
from typing import TYPE_CHECKING, Any, Dict, List

from .tables import Range, Step, Table

if TYPE_CHECKING:
    from ._reader import Tables

OPTIMIZER = "Optimizer.step#"


def _is_pause(r: Range) -> bool:
    """Is it one that the runtime of Python makes anywhere?"""
    return r.category == "python" and r.name in ("GIL wait", "garbage collection")


def named_steps(ranges: Table[Range], name: str) -> Table[Step]:
    """Ranges of that name are the steps."""
    number: Dict[Any, int] = {}
    table = Table(Step)
    for r in ranges:
        if r.name != name or r.recursive:
            continue
        at = number[r.producer, r.tid] = number.get((r.producer, r.tid), 0) + 1
        table.append(Step(name, at, r.begin_ns, r.end_ns, r.duration_ns, r.pid, r.tid))
    return table


def optimizer_steps(tables: "Tables") -> Table[Step]:
    """The first optimizer of a thread ends its steps; the first begins with its ranges."""
    first: Dict[Any, Range] = {}
    ends: Dict[Any, List[Range]] = {}
    begins: Dict[Any, int] = {}
    for r in tables.ranges:
        of = (r.producer, r.tid)
        if r.kind in ("begin", "complete") and not _is_pause(r):
            begins[of] = min(r.begin_ns, begins.get(of, r.begin_ns))
        if r.name.startswith(OPTIMIZER) and not r.recursive and r.end == "ended":
            if first.setdefault(of, r).name == r.name:
                ends.setdefault(of, []).append(r)
    table = Table(Step)
    for of, steps in ends.items():
        pid, _, _, last = tables.threads[of]
        begin = begins[of]
        for number, r in enumerate(steps, 1):
            table.append(Step(r.name, number, begin, r.end_ns, r.end_ns - begin, pid, r.tid))
            begin = r.end_ns
        if last > begin:
            table.append(Step(steps[0].name, len(steps) + 1, begin, None, None, pid, of[1]))
    return table
