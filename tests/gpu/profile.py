#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Device activities in profiles that a program makes of itself (xsprof.profile), with a stand-in for
# libcupti. These are replays: no GPU is used.

import ctypes
import json
import os
import sys
import time

sys.dont_write_bytecode = True
import gpulib
from gpulib import BUILD, DIR

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CUPTI = os.path.join(BUILD, "tests", "gpu", "libcupti.so")
AXPY = "axpy(float const*, float*, int)"


def equal(got, want, name):
    gpulib.equal(got, want, f"replay: {name}")


def program():
    """Runs in its own process: prints its profiles' contents, as JSON."""
    import xsprof
    from xsprof import ProfilerActivity, profile
    from xsprof import _user
    from xsprof.profiler import _session

    device = ctypes.CDLL(CUPTI)
    enabled = (ctypes.c_uint32 * 64).in_dll(device, "stand_in_enabled")

    def op(name, function, *work):
        """Makes an op, as the collector of PyTorch writes them."""
        _session._calls.xsprof_emit_op_begin(_user.Op(
            name=xsprof._marker._id(name), scope=0, sequence=-1))
        call = device.stand_in_call(False, function)
        for what, *arguments in work:
            what(call, *arguments)
        _session._calls.xsprof_emit_op_end()

    def kernel(call):
        device.stand_in_kernel(call, 7, b"_Z4axpyPKfPfi", 0)

    def copy(call):
        device.stand_in_memcpy(call, 7, ctypes.c_uint64(4096))

    def said(prof):
        return {"rows": {row.key: [row.count, row.device_time_total, row.self_device_time_total]
                         for row in prof.key_averages()},
                "kernels": {e.name: [k.name for k in e.kernels] for e in prof.events()
                            if e.kernels},
                "children": {e.name: [c.name for c in e.cpu_children] for e in prof.events()
                             if e.cpu_children},
                "table": prof.key_averages().table(sort_by="cuda_time_total")}

    profiles = []
    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    for activities in (both, both, [ProfilerActivity.CPU]):
        op("before", 1, [kernel])
        with profile(activities=activities) as prof:
            on = enabled[10]
            device.stand_in_device(3)
            op("aten::add", 1, [kernel])
            op("aten::copy_", 2, [copy])
            op("aten::add", 1, [kernel], [kernel])
        profiles.append({**said(prof), "on": on})
    prof.export_chrome_trace(os.path.join(DIR.name, "trace.json"))
    # The collector's thread does that; it checks four times a second.
    for _ in range(600):
        if not enabled[10]:
            break
        time.sleep(0.1)
    print(json.dumps({"profiles": profiles, "after": enabled[10]}))


def check():
    got = gpulib.run([sys.executable, __file__, "program"], XSPROF_CUPTI=CUPTI,
                     PYTHONPATH=os.path.join(ROOT, "tools", "python"),
                     XSPROF_LIBDIR=os.path.join(BUILD, "lib"))
    try:
        said = json.loads(got.stdout)
    except ValueError:
        gpulib.result(False, "replay: profiles of a program", got.stderr + got.stdout)
        return
    equal([p["on"] for p in said["profiles"]], [1, 1, 1], "CUPTI collects while a session records")
    for i, p in enumerate(said["profiles"][:2], 1):
        rows = p["rows"]
        equal({name: rows[name][0] for name in ("aten::add", "aten::copy_", AXPY)
               if name in rows}, {"aten::add": 2, "aten::copy_": 1, AXPY: 3},
              f"profile {i}: each op and kernel of it, and none of before")
        equal(p["kernels"], {"aten::add": [AXPY, AXPY],
                             "aten::copy_": ["Memcpy HtoD (Pageable -> Device)"]},
              f"profile {i}: an op has the kernels that it launched")
        equal([rows["aten::add"][1] > 0, rows["aten::add"][1] == rows[AXPY][1],
               rows["aten::add"][2] == rows["aten::add"][1]], [True] * 3,
              f"profile {i}: and their time, once each")
        equal(["CUDA total" in p["table"], p["children"].get("aten::copy_")],
              [True, ["cudaMemcpyAsync"]], f"profile {i}: a table with the device's columns")
    equal([AXPY in said["profiles"][2]["rows"], said["profiles"][2]["kernels"]], [False, {}],
          "without ProfilerActivity.CUDA a profile has nothing of devices")
    equal(said["after"], 0, "CUPTI is given back when no session records")


if sys.argv[1:] == ["program"]:
    program()
else:
    check()
    gpulib.finish()
