# SPDX-License-Identifier: GPL-2.0-only
"""cstack.py WHAT TRACE: checks the stacks of cstack-calls.c's ops in a Kineto trace."""
import collections
import json
import re
import sys

OPS = 3000
# The library needs a program's first ops to find the layout of objects.
FEW = 600


def function(frame):
    return re.sub(r"^[^ ]*\(\d+\): ", "", frame)


def stacks(path):
    found = collections.Counter()
    pids = collections.defaultdict(set)
    for e in json.load(open(path))["traceEvents"]:
        if e.get("cat") == "cpu_op":
            stack = tuple(e["args"].get("Call stack", "").split(";"))
            found[stack] += 1
            pids[stack].add(e["pid"])
    return found, pids


found, pids = stacks(sys.argv[2])


def having(name):
    got = {s: n for s, n in found.items() if name in [function(f) for f in s]}
    assert got, (name, list(found)[:5])
    return got


def calls_of(stack):
    """Returns the stack without the stand-in's own frames."""
    own = [i for i, f in enumerate(stack) if f.startswith("stand-in.c(")]
    assert own and own == list(range(len(own))), stack
    return [function(f) for f in stack[len(own):]]


what = sys.argv[1]
if what == "calls":
    got = having("f")
    assert OPS < sum(got.values()) <= 2 * OPS, got
    # Two calls of f(), on two lines.
    assert len({calls_of(s)[0] for s in got}) == 1 and len(got) >= 2, got
    for stack in got:
        names = calls_of(stack)
        assert names[:5] == ["ops", "h", "g", "f", "main"], stack
        assert names[-1] == "_start" and not any("[" in n for n in names), stack
        lines = [f for f in stack if function(f) in ("f", "g", "h", "main")]
        assert all(re.match(r"cstack-calls\.c\(\d+\): ", f) for f in lines), stack
elif what == "thread":
    got = having("in_thread")
    assert sum(got.values()) == OPS, got
    for stack in got:
        names = calls_of(stack)
        assert names[:2] == ["ops", "in_thread"] and "main" not in names, stack
        assert "clone" in names[-1] or "start_thread" in names[-1], stack
elif what == "deep":
    got = having("deep")
    assert sum(got.values()) == OPS, got
    for stack in got:
        names = calls_of(stack)
        assert names[0] == "ops" and names[-1] == "[more native frames]", stack
        # One or two of the 32 frames are the stand-in's.
        assert set(names[1:-1]) == {"deep"} and len(names) - 1 in (30, 31), stack
elif what == "reloaded":
    for name, other in ("first_one", "other_one"), ("other_one", "first_one"):
        got = having(name)
        assert sum(got.values()) == OPS, got
        for stack in got:
            names = calls_of(stack)
            assert names[:5] == ["ops", name, "run", "in_library", "main"], stack
elif what == "stripped":
    size = [line.split() for line in open("symbols") if line.split()[-1] == "inside_it"][0]
    begin, end = int(size[0], 16), int(size[0], 16) + int(size[1], 16)
    got = {s: n for s, n in found.items() if any("/stripped.so+0x" in f for f in s)}
    assert sum(got.values()) == OPS, got
    for stack in got:
        names = calls_of(stack)
        place = re.fullmatch(r"/.*/stripped\.so\+0x([0-9a-f]+)", names[1])
        assert place and begin < int(place[1], 16) <= end, (stack, size)
        # Exported functions keep their symbols.
        assert names[2:5] == ["run", "in_library", "main"], stack
elif what == "unknown":
    got = having("without_any")
    assert sum(got.values()) == OPS, got
    for stack in got:
        assert calls_of(stack) == ["ops", "without_any", "[no unwind information]"], stack
elif what == "child":
    got = having("in_child")
    assert sum(got.values()) == OPS, got
    for stack in got:
        assert calls_of(stack)[:3] == ["ops", "in_child", "main"], stack
        assert not pids[stack] & set.union(*(pids[s] for s in having("f"))), stack
elif what == "fibre":
    assert found["",] == OPS, found["",]
elif what == "replaced":
    got = {s: n for s, n in found.items() if any("/first.so+0x" in f for f in s)}
    assert sum(got.values()) == OPS, list(found)[:9]
    for stack in got:
        frames = [f for f in stack if "first.so" in f]
        assert len(frames) == 2 and all(f.startswith("?? (/") for f in frames), stack
    assert not any("first_one" in f or "another_first" in f for s in found for f in s)
