#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The ops of stand-in.c as xsprof dump shows them: every one in its place with its name, and of
its inputs the right shapes or none.  usage: check-stand-in.py KIND SHAPES < DUMP, where SHAPES is
all, some or none: of how many ops there are shapes."""
import re
import sys

NAMES = ("aten::zero", "aten::one", "aten::two")
ARGS = ("Seq=4711", 'Collective name="allreduce"', "Comms Id=18446744073709551615 ",
        'Process Group Description="longer than fif', 'Process Group Ranks="[0, 1]"',
        "Src Rank=-1 ")


def main():
    kind, want = sys.argv[1:]
    lines = []
    for line in sys.stdin:
        if " begin: " in line:
            lines.append(line)
        elif " args: " in line:
            # Those that a record has no room for; a text goes on in the middle.
            lines[-1] = lines[-1].rstrip('}"\n') + line[line.index("{") + 1:]
    with_shapes = with_args = 0
    for i, line in enumerate(lines):
        name = re.search(r" begin: +(\S+)", line).group(1)
        wanted = "record_param_comms" if kind.startswith("comms") and not i % 3 else NAMES[i % 3]
        if name != wanted:
            return "op %d is called %s" % (i, name)
        args = [a in line for a in ARGS]
        if any(args) != all(args) or (any(args) and name != "record_param_comms"):
            return "op %d: %s" % (i, line)
        with_args += any(args)
        shapes = re.findall(r'"float(\[[^"]*)"', line)
        if "float" in line and shapes != ["[7, %d]" % (i % 5 + 2)] * 2:
            return "op %d: %s" % (i, line)
        with_shapes += bool(shapes)
    if with_args != (1000 if kind == "comms" else 0):
        return "%d ops with arguments" % with_args
    print("%s: %d ops, %d with shapes" % (kind, len(lines), with_shapes))
    # Another thread's ops are before those of the first one, which waits for it in its first op.
    ops = 6000 if kind == "thread" else 3000
    # Nothing at all is right as well where fields may be anywhere.
    if len(lines) != ops and not (kind == "shuffled" and not lines):
        return "%d ops" % len(lines)
    if kind != "shuffled" and want != ("all" if with_shapes == ops else
                                       "some" if with_shapes else "none"):
        return "%d ops with shapes, wanted %s" % (with_shapes, want)
    return 0


sys.exit(main())
