#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks the ops of stand-in.c in the output of xsprof dump: each in its place with its name, and
with the right input shapes or none. usage: check-stand-in.py KIND SHAPES < DUMP, where SHAPES is
all, some or none: how many ops must have shapes."""
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
            # Arguments that did not fit into the record; a text continues in the middle.
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
    # The first thread waits in its first op for the other thread, whose ops come first.
    ops = 6000 if kind == "thread" else 3000
    # If fields may be anywhere, no ops at all is right too.
    if len(lines) != ops and not (kind == "shuffled" and not lines):
        return "%d ops" % len(lines)
    if kind != "shuffled" and want != ("all" if with_shapes == ops else
                                       "some" if with_shapes else "none"):
        return "%d ops with shapes, wanted %s" % (with_shapes, want)
    return 0


sys.exit(main())
