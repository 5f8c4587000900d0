#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The ops of stand-in.c as xsprof dump shows them: every one in its place with its name, and of
its inputs the right shapes or none.  usage: check-stand-in.py KIND SHAPES < DUMP, where SHAPES is
all, some or none: of how many ops there are shapes."""
import re
import sys

NAMES = ("aten::zero", "aten::one", "aten::two")


def main():
    kind, want = sys.argv[1:]
    lines = [line for line in sys.stdin if " begin: " in line]
    with_shapes = 0
    for i, line in enumerate(lines):
        name = re.search(r" begin: +(\S+)", line).group(1)
        if name != NAMES[i % 3]:
            return "op %d is called %s" % (i, name)
        shapes = re.findall(r'"float(\[[^"]*)"', line)
        if "float" in line and shapes != ["[7, %d]" % (i % 5 + 2)] * 2:
            return "op %d: %s" % (i, line)
        with_shapes += bool(shapes)
    print("%s: %d ops, %d with shapes" % (kind, len(lines), with_shapes))
    # Nothing at all is right as well where fields may be anywhere.
    if len(lines) != 3000 and not (kind == "shuffled" and not lines):
        return "%d ops" % len(lines)
    if kind != "shuffled" and want != ("all" if with_shapes == 3000 else
                                       "some" if with_shapes else "none"):
        return "%d ops with shapes, wanted %s" % (with_shapes, want)
    return 0


sys.exit(main())
