# SPDX-License-Identifier: GPL-2.0-only
"""Compares the Python package's structs and constants with the public headers, by a compiler.

usage: structs.py FOLDER     for compiled files. TAP.
"""
import ctypes
import os
import re
import subprocess
import sys

from xsprof import _join, _marker, _stack, _trace, _user
from xsprof.profiler import _result, _session

folder = sys.argv[1]
CONSTANTS = {
    "XSPROF_ARG_I64": _user.I64, "XSPROF_ARG_U64": _user.U64, "XSPROF_ARG_F64": _user.F64,
    "XSPROF_ARG_BOOL": _user.BOOL, "XSPROF_ARG_STR": _user.STR,
    "XSPROF_ARG_PTR": _trace.ARG_PTR, "XSPROF_ARG_NAME": _trace.ARG_NAME,
    "XSPROF_ARGF_CONT": _trace.ARGF_CONT, "XSPROF_NAME_SHIFT": _user.NAME_SHIFT,
    "XSPROF_NAME_FULL": _marker._NAME_FULL, "XSPROF_NO_PRODUCER": _trace.NO_PRODUCER,
    "XSPROF_REC_STEP": _user.STEP, "XSPROF_REC_ASYNC_BEGIN": _user.ASYNC_BEGIN,
    "XSPROF_REC_FLOW_END": _user.FLOW_END, "XSPROF_EVF_SLOTS": _trace.EVF_SLOTS,
    "XSPROF_EVF_UNKNOWN": _trace.EVF_UNKNOWN, "XSPROF_EVF_HOLE": _join.EVF_HOLE,
    "XSPROF_RANGEF_UNCERTAIN": _trace.UNCERTAIN, "XSPROF_RANGEF_RECURSIVE": _trace.RECURSIVE,
    "XSPROF_RANGEF_CONTINUED": _trace.CONTINUED, "XSPROF_RANGE_CUT": _trace.CUT,
    "XSPROF_DETAIL_STACK": _user.DETAIL_STACK, "XSPROF_STACK_FRAMES": _stack.FRAMES,
    "XSPROF_STACK_MISSED": _stack.MISSED, "XSPROF_FRAME_NAMED": _stack.NAMED - (1 << 64),
    "XSPROF_RANGE_OPEN": _trace.OPEN, "XSPROF_PROFILER_KINETO": _session.KINETO,
    "XSPROF_OP_USER_SCOPE": _user.USER_SCOPE, "XSPROF_EVENT_MEMORY": _result.MEMORY,
    "XSPROF_EVENT_OUT_OF_MEMORY": _result.OUT_OF_MEMORY,
    "XSPROF_EVENT_ANNOTATION": _result.ANNOTATION, "XSPROF_EVENT_INSTANT": _result.INSTANT,
}
for name in ("BEGIN END COMPLETE INSTANT COUNTER_I64 COUNTER_F64 FLOW_START ALLOC FREE ARGS STEP "
             "SPAN CONTROL GPU OP SAMPLE").split():
    CONSTANTS["XSPROF_REC_" + name] = getattr(_trace, name)
for name in "LOST PRODUCER EXIT KERNEL".split():
    CONSTANTS["XSPROF_EV_" + name] = getattr(_trace, "EV_" + name)

wanted = dict(CONSTANTS)
lines = ['printf("%s %%lld\\n", (long long)%s);' % (name, name) for name in CONSTANTS]
structs = 0
for module in (_user, _trace, _result, _session):
    for kind in vars(module).values():
        if not (isinstance(kind, type) and issubclass(kind, ctypes.Structure)):
            continue
        found = re.match(r"struct (xsprof_\w+)(, behind)?", kind.__doc__ or "")
        if not found or kind.__module__ != module.__name__:
            continue
        structs += 1
        of = "struct " + found.group(1)
        before = 32 if found.group(2) else 0
        wanted[of] = ctypes.sizeof(kind) + before
        lines.append('printf("%s %%zu\\n", sizeof(%s));' % (of, of))
        for field in kind._fields_:
            place = "%s.%s" % (of, field[0])
            wanted[place] = getattr(kind, field[0]).offset + before
            lines.append('printf("%s %%zu\\n", offsetof(%s, %s));' % (place, of, field[0]))
source = os.path.join(folder, "structs.c")
with open(source, "w") as f:
    f.write("#include <stdio.h>\n#include <xsprof/trace.h>\n#include <xsprof/result.h>\n"
            "int main(void)\n{\n%s\n}\n" % "\n".join(lines))
subprocess.run(["gcc", "-Ikmod/uapi", "-Ilib/include", "-o", source[:-2], source], check=True)
said = subprocess.run([source[:-2]], check=True, stdout=subprocess.PIPE).stdout.decode()
got = {}
for line in said.splitlines():
    place, value = line.rsplit(" ", 1)
    got[place] = int(value)
with open("lib/include/xsprof/python-names.h") as f:
    texts = dict(re.findall(r'#define (XSPROF_GIL_\w+)\s+"(.*?)"', f.read()))
wanted["XSPROF_GIL_WAIT"], wanted["XSPROF_GIL_HELD"] = _trace.GIL
got.update({name: texts[name] for name in ("XSPROF_GIL_WAIT", "XSPROF_GIL_HELD")})
wrong = {place: (value, got[place]) for place, value in wanted.items() if got[place] != value}
for place, (ours, theirs) in sorted(wrong.items()):
    print("# %s: %s in Python, %s in C" % (place, ours, theirs))
print("%sok 1 %d structs and %d constants are those of the headers" % (
    "not " if wrong else "", structs, len(CONSTANTS)))
print("1..1")
sys.exit(1 if wrong or structs < 14 else 0)
