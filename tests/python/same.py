# SPDX-License-Identifier: GPL-2.0-only
"""Compares tutorial.py's results with xsprof.profiler and with torch.profiler.

usage: same.py OURS THEIRS TORCH_VERSION

Names, counts, bytes and FLOPs must be the same. PyTorch before 2.13 rebuilds nesting from times of
two clocks, or in microseconds. So it counts some ops that only call an op of the same name twice,
merges some short neighbours, and assigns some memory to other ops. For these versions all names and
FLOPs must be the same, and nearly all counts. Prints what was compared.
"""
import json
import sys

with open(sys.argv[1]) as f:
    ours = json.load(f)
with open(sys.argv[2]) as f:
    theirs = json.load(f)
rounds = tuple(int(n) for n in sys.argv[3].split(".")[:2]) < (2, 13)
EXACT = ("inference", "by shape", "trace", "events", "memory", "flops", "stacked", "cycles",
         "table")


def counts(rows):
    return {tuple(row[:-1]): int(row[-1]) for row in rows}


def same_counts(what, mine, other):
    mine, other = counts(mine), counts(other)
    assert set(mine) == set(other), (what, set(mine) ^ set(other))
    differ = [(key, mine[key], other[key]) for key in mine if mine[key] != other[key]]
    assert len(differ) <= len(mine) / 10 + 1, (what, differ)
    for key, here, there in differ:
        assert here <= 2 * there and there <= 2 * here, (what, key, here, there)


assert set(ours) == set(theirs), set(ours) ^ set(theirs)
if rounds:
    for what in ("inference", "by shape", "stacked"):
        same_counts(what, ours[what], theirs[what])
    assert ours["flops"] == theirs["flops"], (ours["flops"], theirs["flops"])
    assert [c[0] for c in ours["cycles"]] == [c[0] for c in theirs["cycles"]]
    for mine, other in zip(ours["cycles"], theirs["cycles"]):
        same_counts("cycle", mine[1], other[1])
    same_counts("memory", [r[:2] for r in ours["memory"] if r[0] != "[memory]"],
                [r[:2] for r in theirs["memory"] if r[0] != "[memory]"])
else:
    for what in EXACT:
        if ours[what] != theirs[what]:
            lists = isinstance(ours[what], list)
            sys.exit("%s: ours %s, theirs %s" % (
                what, [r for r in ours[what] if r not in theirs[what]] if lists else ours[what],
                [r for r in theirs[what] if r not in ours[what]] if lists else theirs[what]))
assert ours["cycles"] and ours["inference"] and ours["flops"] and ours["frames"] > 20, ours
print("%d ops, %d shapes, %d in %d cycles" % (
    sum(counts(ours["inference"]).values()), len(ours["by shape"]),
    sum(sum(counts(c[1]).values()) for c in ours["cycles"]), len(ours["cycles"])))
