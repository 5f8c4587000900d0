# SPDX-License-Identifier: LGPL-2.1-only
"""Ranges in parts, as one: an op that goes on behind one that ended around it has a part on either
side. A part that goes on waits for the next range of its name that begins on its thread, before
anything else of the thread; the innermost part is told first, and the outermost rest begins first.
"""
from typing import Any, Dict, List, Tuple

from . import _trace

# A range as tuples have it: the order of _reader.Reader.emit().
BEGIN, END, SELF, PRODUCER, TID, NAME, HOW, FLAGS = 0, 1, 2, 3, 5, 6, 9, 11
EVF_HOLE = 0x10

Thread = Tuple[int, int]


class _Waits:
    """The parts of a thread that wait, and how often its producer had paused and lost by then."""

    def __init__(self, pauses: int, losses: int) -> None:
        self.parts: List[Tuple[Any, ...]] = []
        self.pauses = pauses
        self.losses = losses


class Join:
    """Takes events and the ranges that end; "whole" has ranges without parts, and joined ones."""

    def __init__(self) -> None:
        self.whole: List[Tuple[Any, ...]] = []
        self._waits: Dict[Thread, _Waits] = {}
        self._rests: Dict[Tuple[int, int, int, int], Tuple[Any, ...]] = {}
        self._pauses: Dict[int, int] = {}
        self._losses: Dict[int, int] = {}

    def event(self, ev: Any) -> None:
        """Each event, before the ranges that it ends."""
        if not self._waits:
            return
        if ev.type == _trace.EV_LOST or ev.flags & EVF_HOLE:
            self._losses[ev.producer] = self._losses.get(ev.producer, 0) + 1
        elif ev.type in (_trace.CONTROL, _trace.EV_EXIT):
            self._pauses[ev.producer] = self._pauses.get(ev.producer, 0) + 1
        if ev.type != _trace.BEGIN:
            return
        waits = self._waits.get((ev.producer, ev.tid))
        if waits is None:
            return
        lost = waits.losses != self._losses.get(ev.producer, 0)
        paused = waits.pauses != self._pauses.get(ev.producer, 0)
        if not lost and not paused and waits.parts[-1][NAME] == ev.name:
            self._rests[ev.producer, ev.tid, ev.name, ev.ns] = waits.parts.pop()
        else:
            for part in waits.parts:
                self._alone(part, _trace.UNCERTAIN if lost else 0)
            del waits.parts[:]
        if not waits.parts:
            del self._waits[ev.producer, ev.tid]

    def _alone(self, part: Tuple[Any, ...], flags: int = 0) -> None:
        """Its rest is missing: it ends where it is."""
        self.whole.append(part[:HOW] + (_trace.CUT,) + part[HOW + 1:FLAGS] +
                          (part[FLAGS] | flags,) + part[FLAGS + 1:])

    def range(self, r: Tuple[Any, ...]) -> None:
        """A range has ended."""
        before = self._rests.pop((r[PRODUCER], r[TID], r[NAME], r[BEGIN]), None)
        if before is not None:
            flags = (r[FLAGS] | before[FLAGS] & _trace.UNCERTAIN) & ~_trace.RECURSIVE
            own = r[SELF] + before[SELF] + r[BEGIN] - before[END]
            r = (before[BEGIN], r[END], own) + r[PRODUCER:FLAGS] + (flags,) + r[FLAGS + 1:]
        if not r[FLAGS] & _trace.CONTINUED:
            self.whole.append(r)
            return
        of = (r[PRODUCER], r[TID])
        waits = self._waits.get(of)
        if waits is None:
            waits = self._waits[of] = _Waits(self._pauses.get(of[0], 0), self._losses.get(of[0], 0))
        waits.parts.append(r)

    def finish(self) -> None:
        """No more events."""
        for waits in self._waits.values():
            for part in waits.parts:
                self._alone(part)
        for part in self._rests.values():
            self._alone(part)
