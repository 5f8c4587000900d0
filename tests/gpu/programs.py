#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# PyOpenCL and SYCL programs under `xsprof record --gpu`: as many kernels, copies and bytes as the
# programs print, each within the program's own times; and the program's devices and queues.
# Usage: programs.py PYTHON pocl | PYTHON intel RUNTIME; RUNTIME is Intel's libintelocl.so

import collections
import json
import os
import sys

sys.dont_write_bytecode = True
import gpulib
from gpulib import DIR, WORK, XSPROF, check_calls, equal, finish, missed, of, result, run

HERE = os.path.dirname(os.path.abspath(__file__))


def bounds(events):
    """Returns the largest error of a device's clock, in ns."""
    return max([e["i64"] for e in events
                if e["type"] == "counter" and e["name"].startswith("clock of device")])


def check(what, program, argv, all_kernels=True, **more):
    got, events, path = gpulib.record([PYTHON, os.path.join(HERE, program), *argv],
                                      ("--gpu", "--no-torch"), without=("OPENCL_", "OCL_ICD_"),
                                      POCL_CACHE_DIR=os.path.join(DIR.name, "pocl"),
                                      XDG_CACHE_HOME=DIR.name, SYCL_CACHE_PERSISTENT="0", **more)
    try:
        said = json.loads(got.stdout)
    except ValueError:
        result(False, f"{what}: the program runs", got.stdout + got.stderr)
        return
    equal([got.returncode, said["right"]], [0, True], f"{what}: the program calculates right")
    work = of(events, *WORK)
    kernels = collections.Counter(e["name"] for e in of(events, "kernel"))
    if not all_kernels:
        kernels = {name: kernels[name] for name in said["kernels"]}
    equal(dict(kernels), said["kernels"], f"{what}: kernels by name")
    moved = collections.defaultdict(lambda: [0, 0])
    for e in of(events, "memcpy", "memset"):
        moved[e["name"]][0] += 1
        moved[e["name"]][1] += e["bytes"]
    equal(dict(moved), said["bytes"], f"{what}: copies and sets, and their bytes")
    check_calls(events, f"{what}: each work has its call, of its queue, and begins after that did")
    calls = {e["value"]: e for e in of(events, "runtime") if e["value"]}
    error = bounds(events)
    for name, commands, first, last in said["phases"]:
        # A call is on the markers' clock; its work comes after it, as check_calls() has checked.
        within = [e for e in work if first <= calls[e["value"]]["begin_ns"] <= last]
        late = [e for e in within if not e["begin_ns"] <= e["end_ns"] <= last + error]
        equal([len(within), late], [commands, []],
              f"{what}: {name}: work is within the program's times of it")
    if "scale_ns" in said:
        ours = sum(e["end_ns"] - e["begin_ns"] for e in work if e["name"] == "scale")
        result(abs(ours - said["scale_ns"]) <= 2 * said["kernels"]["scale"] +
               said["scale_ns"] // 2000, f"{what}: kernels last as long as the runtime says",
               (ours, said["scale_ns"]))
    facts = json.loads(run([XSPROF, "info", "--json", path]).stdout)["processes"][0]["facts"]
    equal(json.loads(facts["device.32"])["name"], said["device"], f"{what}: the device's name")
    equal({e["device"] for e in work}, {32}, f"{what}: the device's number")
    equal(len({e["stream"] for e in work}), said["queues"], f"{what}: queues are told apart")
    equal(missed(events), {}, f"{what}: nothing is missed")
    text = run([XSPROF, "report", "--gpu", path]).stdout
    result("lost: 0 records" in text and said["device"] in text, f"{what}: nothing is lost", text)


def check_usm(icd):
    program = os.path.join(DIR.name, "usm")
    got = run([os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
               program, os.path.join(HERE, "usm.c"), "-lOpenCL"])
    if "CL/cl.h" in got.stderr:
        return
    equal(got.returncode, 0, "a program of unified shared memory is built")
    got, events, _ = gpulib.record([program], without=("OPENCL_", "OCL_ICD_"), OCL_ICD_VENDORS=icd)
    said = collections.Counter(tuple(line.rsplit(" ", 1)) for line in got.stdout.splitlines())
    seen = collections.Counter((e["name"], str(e["bytes"])) for e in of(events, *WORK))
    result(len(said) > 3 and got.returncode == 0 and seen == said,
           "each call of unified shared memory", (got.stderr, said, seen))
    check_calls(events, "unified shared memory: each work has its call")


PYTHON = sys.argv[1]
if sys.argv[2] == "pocl":
    check("PyOpenCL on PoCL", "pyopencl-work.py", ["Portable"], False)
else:
    icd = os.path.join(DIR.name, "intel.icd")
    with open(icd, "w", encoding="utf-8") as f:
        f.write(sys.argv[3] + "\n")
    check("PyOpenCL on Intel's runtime", "pyopencl-work.py", ["Intel"], False,
          OCL_ICD_VENDORS=icd)
    check_usm(icd)
    # Khronos' loader, which comes with the runtime, reads only one folder.
    os.mkdir(os.path.join(DIR.name, "none"))
    check("SYCL on Intel's runtime", "sycl-work.py", [],
          OCL_ICD_VENDORS=os.path.join(DIR.name, "none"), OCL_ICD_FILENAMES=sys.argv[3])
finish()
