# SPDX-License-Identifier: LGPL-2.1-only
"""<xsprof/profiler.h>: sessions of this process; and the collector of PyTorch's ops for them."""
import contextlib
import ctypes
import functools
import os
import sys
import warnings
from ctypes import (POINTER, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64,
                    c_void_p)
from typing import Any, Iterable, Optional, cast

from .. import _argument, _lib, _marker, _process, _stack, _user
from .._marker import Function
from ._result import Result

KINETO = 6      #: XSPROF_PROFILER_KINETO


class Experimental(ctypes.Structure):
    """struct xsprof_experimental"""
    _fields_ = [("size", c_size_t), ("metrics", c_void_p), ("nr_metrics", c_size_t),
                ("measure_per_kernel", c_bool), ("verbose", c_bool),
                ("enable_cuda_sync_events", c_bool), ("adjust_profiler_step", c_bool),
                ("disable_external_correlation", c_bool), ("all_threads", c_bool),
                ("capture_overload_names", c_bool), ("custom", c_char_p)]


class Config(ctypes.Structure):
    """struct xsprof_profiler_config"""
    _fields_ = [("size", c_size_t), ("state", c_uint32), ("report_input_shapes", c_bool),
                ("profile_memory", c_bool), ("with_stack", c_bool), ("with_flops", c_bool),
                ("with_modules", c_bool), ("experimental", POINTER(Experimental)),
                ("trace_id", c_char_p), ("buffer_size", c_uint64), ("post_process", c_void_p),
                ("post_process_data", c_void_p)]


_lib.is_size(Experimental, 40)
_lib.is_size(Config, 64)

# Recording the calling thread: with Python's lock, as nothing here waits for long.
_calls = _user.library
_lib.declare(_calls, [
    ("xsprof_prepare_profiler", c_int, [POINTER(Config), c_uint32]),
    ("xsprof_enable_profiler", c_int, [POINTER(Config), c_uint32, c_uint32]),
    ("xsprof_toggle_collection", c_int, [c_bool, c_uint32]),
    ("xsprof_profiler_add_metadata_json", c_int, [c_char_p, c_char_p]),
    ("xsprof_is_profiler_enabled_in_main_thread", c_bool, []),
    ("xsprof_enable_profiler_in_child_thread", c_int, []),
    ("xsprof_disable_profiler_in_child_thread", c_int, []),
])
# It reads what was recorded: other threads go on meanwhile.
_waiting = _lib.load(_lib.USER)
for _library in (_calls, _waiting):
    _lib.declare(_library, [("xsprof_disable_profiler", c_int, [POINTER(c_void_p)])])
_op_wanted = _user.op_wanted
_op_details = _user.op_details

_CURES = {
    16: "a session is running: stop it first, or wait for the trace that 'xsprof ctl' asked for",
    1: "XSPROF_BACKEND=none disables recording: unset it",
    2: "no session is running",
    28: "no space left in /dev/shm for the rings: use XSPROF_BUFFER_SIZE=1M",
    12: "no memory for the rings: use XSPROF_BUFFER_SIZE=1M",
    13: "/dev/shm cannot be written: set XSPROF_SHM_DIR to a directory that can",
    38: "libxsprof-trace.so.0 is missing, or older than libxsprof-user: install both from one "
        "source",
}


class _Collector:
    """libxsprof-torch.so, which gets into the process's PyTorch: once, and to its end."""

    def __init__(self) -> None:
        self.library: Any = None
        self.attached = False
        self.settled = False
        self.said = False

    def attach(self) -> None:
        """Let sessions have PyTorch's ops, now or when it is imported."""
        if self.attached or self.said:
            return
        try:
            if self.library is None:
                # Global: what is loaded later finds its functions first.
                self.library = _lib.load(_lib.TORCH, ctypes.RTLD_GLOBAL, holds_gil=True)
                _lib.declare(self.library, [("xsprof_torch_attach", c_int, [])])
        except ImportError as missing:
            self.fails(str(missing))
            return
        err = self.library.xsprof_torch_attach()
        # Not there yet: asked again when the next profile begins.
        if err == -2:
            return
        self.attached = not err
        if err:
            self.fails({1: "XSPROF_TORCH=off", 38: "see the line on standard error"}.get(
                -err, str(_lib.error(err, "attach"))))

    def settle(self) -> None:
        """Where a tensor keeps its sizes is found in a program's first ops, which have no inputs
        themselves: these are some of ours, in a session that is dropped.
        """
        if not self.attached or self.settled or _process.enabled():
            return
        self.settled = True
        torch = sys.modules["torch"]
        scratch = Session(1, True, False, False, False, False)
        if _calls.xsprof_enable_profiler(scratch.config, 1, 0) < 0:
            return
        try:
            tensor = torch.ones(2, 3, device="cpu")
            for _ in range(100):
                tensor = torch.cat([tensor.sum(dim=[0], keepdim=True)] * 2)
        except Exception:  # pylint: disable=broad-except
            # Where the program has tensors of its own make: the first ops have no inputs then.
            pass
        finally:
            _calls.xsprof_disable_profiler(None)

    def fails(self, why: str) -> None:
        """A warning, once, where there is a PyTorch whose ops will be missing."""
        if _lib.main_is("torch"):
            self.said = True
            warnings.warn("xsprof: this profile has no PyTorch ops: " + why,
                          stacklevel=4)


collector = _Collector()


class _Device:
    """libxsprof-cupti.so, which CUDA loads by itself under "xsprof record --gpu": here a session
    does it, once. It collects while a session records.
    """

    def __init__(self) -> None:
        self.tried = False

    def attach(self) -> None:
        """Where the process is recorded, which it is once a session was prepared."""
        if self.tried:
            return
        self.tried = True
        try:
            library = ctypes.CDLL(_lib.CUPTI, mode=os.RTLD_NOLOAD)
        except OSError:
            try:
                library = _lib.load(_lib.CUPTI)
                _lib.declare(library, [("InitializeInjection", c_int, [])])
            except ImportError as missing:
                warnings.warn("xsprof: this profile has no GPU events: {}".format(missing),
                              stacklevel=5)
                return
            library.InitializeInjection()

    @staticmethod
    def settle() -> None:
        """What devices have to do is done: else it would be missing from the profile."""
        torch: Any = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
            torch.cuda.synchronize()


device = _Device()
CUDA = 1 << 2   #: XSPROF_ACTIVITY(CUDA)


class Session:
    """A session: what is recorded between begin() and end()."""

    def __init__(self, activities: int, shapes: bool, memory: bool, stack: bool, flops: bool,
                 modules: bool, experimental: Any = None, trace_id: Optional[str] = None) -> None:
        self.activities = activities
        self.experimental = Experimental(size=ctypes.sizeof(Experimental))
        for name in ("verbose", "enable_cuda_sync_events", "adjust_profiler_step",
                     "disable_external_correlation", "capture_overload_names"):
            setattr(self.experimental, name, bool(getattr(experimental, name, False)))
        self.experimental.all_threads = bool(getattr(experimental, "profile_all_threads", False))
        self.config = Config(
            size=ctypes.sizeof(Config), state=KINETO, report_input_shapes=shapes,
            profile_memory=memory, with_stack=stack, with_flops=flops, with_modules=modules,
            experimental=ctypes.pointer(self.experimental),
            trace_id=trace_id.encode() if trace_id else None)
        self.reads_inputs = shapes or flops

    def prepare(self) -> None:
        """Do the slow part of begin()."""
        collector.attach()
        if self.reads_inputs:
            collector.settle()
        err = _calls.xsprof_prepare_profiler(self.config, self.activities)
        if err < 0:
            raise _lib.error(err, "profile", _CURES)
        if self.activities & CUDA:
            device.attach()

    def begin(self) -> None:
        """Record this thread, and those that join it."""
        collector.attach()
        err = _calls.xsprof_enable_profiler(self.config, self.activities, 0)
        if err < 0:
            raise _lib.error(err, "profile", _CURES)

    def end(self) -> Result:
        """What was recorded."""
        if self.activities & CUDA:
            device.settle()
        handle = c_void_p()
        err = _waiting.xsprof_disable_profiler(handle)
        if handle and err < 0:
            warnings.warn("xsprof: {}: the profile ends where recording stopped".format(
                _lib.error(err, "profile", _CURES)), stacklevel=4)
        elif err < 0:
            raise _lib.error(err, "profile", _CURES)
        result = Result(handle)
        records, overwritten = result.lost()
        missing = ["{} records were lost".format(records)] if records else []
        if overwritten:
            missing.append("the oldest {} kB were overwritten".format(-(-overwritten // 1000)))
        if missing:
            warnings.warn("xsprof: of this profile {}: use XSPROF_BUFFER_SIZE=64M".format(
                " and ".join(missing)), stacklevel=4)
        return result


def toggle(on: bool, activities: int) -> None:
    """Suspend or resume the running session."""
    err = _calls.xsprof_toggle_collection(on, activities)
    if err < 0:
        raise _lib.error(err, "toggle_collection_dynamic", _CURES)


def add_metadata(key: str, value: str) -> None:
    """Add a key with a JSON value to the trace of the running session."""
    err = _calls.xsprof_profiler_add_metadata_json(_lib.to_bytes(key), _lib.to_bytes(value))
    if err < 0:
        cures = dict(_CURES)
        cures.update({22: "the value is no JSON", 7: "there are too many keys"})
        raise _lib.error(err, "add_metadata({!r})".format(key), cures)


class record_function(contextlib.ContextDecorator):  # pylint: disable=invalid-name
    """A range of the program by a name, in profiles and recordings: a block or a decorator.

        with record_function("model_inference"):
            model(inputs)

    Where PyTorch is loaded it is PyTorch's own, so that its profiler has it as well.
    """

    def __init__(self, name: str, args: Optional[str] = None) -> None:
        # As markers do: the same exceptions with and without a recorder.
        self.name = _argument.text("record_function", "name", name)
        self.args = args
        self._inner: Any = None

    def __call__(self, function: Function) -> Function:
        # That of contextlib would be a frame in each stack.
        @functools.wraps(function)
        def ranged(*a: Any, **k: Any) -> Any:
            with type(self)(self.name, self.args):
                return function(*a, **k)
        return cast(Function, ranged)

    def __enter__(self) -> "record_function":
        torch = sys.modules.get("torch.autograd.profiler")
        if torch is not None and hasattr(torch, "record_function"):
            self._inner = torch.record_function(self.name, self.args)
            self._inner.__enter__()
        else:
            self._inner = bool(_op_wanted[0])
            if self._inner:
                op = _user.Op(name=_marker._id(self.name), scope=_user.USER_SCOPE, sequence=-1)
                if self.args is not None:
                    op.kwargs, op.nr_kwargs = _marker._kvs({"args": self.args})
                if _op_details[0] & _user.DETAIL_STACK:
                    op.stack = _stack.here()
                _calls.xsprof_emit_op_begin(op)
        return self

    def __exit__(self, *of: Any) -> None:
        inner, self._inner = self._inner, None
        if inner is True:
            _calls.xsprof_emit_op_end()
        elif inner:
            inner.__exit__(*of)


def bits(activities: Iterable[Any]) -> int:
    """A set of activities for the library."""
    return sum(1 << a.value for a in set(activities))
