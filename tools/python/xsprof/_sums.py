# SPDX-License-Identifier: LGPL-2.1-only
"""What a row of Capture.ops() is made of."""
import math
from typing import List, Optional, Sequence

from .tables import Op, Range

ENDS = ("ended", "open", "cut")


def _quantile(ordered: Sequence[int], q: float) -> Optional[int]:
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)] if ordered else None


class Sums:
    """The sums of the ranges of a name and category."""
    __slots__ = ("count", "total", "own", "nested", "times", "how", "uncertain")

    def __init__(self) -> None:
        self.count = self.total = self.own = self.nested = self.uncertain = 0
        self.times: List[int] = []
        self.how = [0, 0, 0]

    def row(self, r: Range, by: str) -> Op:
        """The row; r is one of the ranges."""
        times = sorted(self.times)
        return Op(name=r.name, category=r.category, count=self.count, total_ns=self.total,
                  self_ns=self.own if self.nested else None,
                  mean_ns=sum(times) // len(times) if times else None,
                  min_ns=times[0] if times else None, p50_ns=_quantile(times, 0.5),
                  p99_ns=_quantile(times, 0.99), max_ns=times[-1] if times else None,
                  cut=self.how[2], open=self.how[1], uncertain=self.uncertain,
                  pid=r.pid if by in ("process", "thread") else None,
                  tid=r.tid if by == "thread" else None)
