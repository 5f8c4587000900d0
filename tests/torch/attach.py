# SPDX-License-Identifier: GPL-2.0-only
"""Loads the collector into a running PyTorch, and records it in sessions.

usage: attach.py late|early|off|again LIBRARIES
"""
import collections
import ctypes
import sys
import threading

how, libraries = sys.argv[1:]
ENOENT, EPERM = -2, -1


class Config(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("state", ctypes.c_uint32)] + [
        (name, ctypes.c_bool) for name in ("shapes", "memory", "stack", "flops", "modules")] + [
        ("experimental", ctypes.c_void_p), ("trace_id", ctypes.c_char_p),
        ("buffer_size", ctypes.c_uint64), ("post_process", ctypes.c_void_p),
        ("post_process_data", ctypes.c_void_p)]


def load():
    global collector, user, trace
    user = ctypes.CDLL(libraries + "/libxsprof-user.so.0")
    trace = ctypes.CDLL(libraries + "/libxsprof-trace.so.0")
    trace.xsprof_result_nr_events.restype = ctypes.c_int64
    trace.xsprof_result_event.restype = ctypes.c_void_p
    trace.xsprof_result_event.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    for name, kind in (("name", ctypes.c_char_p), ("module", ctypes.c_char_p),
                       ("nr_frames", ctypes.c_size_t), ("nbytes", ctypes.c_int64)):
        function = getattr(trace, "xsprof_event_" + name)
        function.restype, function.argtypes = kind, [ctypes.c_void_p]
    collector = ctypes.PyDLL(libraries + "/libxsprof-torch.so", ctypes.RTLD_GLOBAL)


def session(run):
    """Return: the events of the session, as (name, module, frames, bytes)."""
    config = Config(ctypes.sizeof(Config), 6, True, True, True, True, True)
    assert user.xsprof_enable_profiler(ctypes.byref(config), 1, 0) == 0
    run()
    result = ctypes.c_void_p()
    assert user.xsprof_disable_profiler(ctypes.byref(result)) == 0
    events = [trace.xsprof_result_event(result, i)
              for i in range(trace.xsprof_result_nr_events(result))]
    told = [(trace.xsprof_event_name(e).decode(), trace.xsprof_event_module(e).decode(),
             trace.xsprof_event_nr_frames(e), trace.xsprof_event_nbytes(e)) for e in events]
    trace.xsprof_result_free(result)
    return told


def training():
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())

    def run():
        for _ in range(3):
            model(torch.ones(2, 4)).sum().backward()
    return run


def check(told):
    names = collections.Counter(name for name, _, _, _ in told)
    assert names["aten::linear"] == names["aten::relu"] == names["AddmmBackward0"] == 3, names
    modules = {name: module for name, module, _, _ in told if module}
    assert modules["aten::linear"] == "Sequential.0", modules
    assert all(frames for name, _, frames, _ in told if name == "aten::linear"), told
    # The results of the three linear layers, 2 * 8 floats each.
    assert sum(1 for name, _, _, size in told if name == "[memory]" and size == 64) >= 3, told


if how == "late":
    import torch
    run = training()
    run()
    load()
    assert collector.xsprof_torch_attach() == 0
elif how == "again":
    # Meanwhile other threads make ops, which must not be disturbed.
    import torch
    run = training()
    stop = threading.Event()

    def work():
        with torch.no_grad():
            while not stop.is_set():
                assert torch.ones(5).sum() == 5

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    load()
    for _ in range(20):
        assert collector.xsprof_torch_attach() == 0
        check(session(run))
    stop.set()
    for t in threads:
        t.join()
elif how == "early":
    load()
    assert collector.xsprof_torch_attach() == ENOENT
    import torch
    run = training()
    assert collector.xsprof_torch_attach() == 0
else:
    import torch
    run = training()
    load()
    assert collector.xsprof_torch_attach() == EPERM
    told = session(run)
    assert not told, told
    sys.exit(0)
for _ in range(3):
    check(session(run))
    run()
