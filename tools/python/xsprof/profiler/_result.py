# SPDX-License-Identifier: LGPL-2.1-only
"""<xsprof/result.h>: results of sessions and of captures, and the events in them."""
import ctypes
import json
import os
from ctypes import (POINTER, c_bool, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32,
                    c_uint64, c_void_p)
from typing import Any, Dict, List, Optional, Tuple

from .. import _lib, _trace
from .events import CPU, EventList, FunctionEvent

library = _lib.load(_lib.TRACE)
quick = _lib.load(_lib.TRACE, holds_gil=True)

SLOT = 32   #: bytes
_GIL = tuple(name.encode() for name in _trace.GIL)

#: enum xsprof_event_kind
OP, ANNOTATION, INSTANT, MEMORY, OUT_OF_MEMORY, VULKAN = 0, 1, 2, 3, 4, 5
OVERHEAD = 12
STACKS_CPU, STACKS_DEVICE = 0, 1
#: c10::DeviceType: what torch.profiler counts as memory of the host, and of devices
HOSTS, DEVICES = (0, 5, 7), (1, 6, 12, 20)


class Options(ctypes.Structure):
    """struct xsprof_result_options"""
    _fields_ = [("size", c_size_t), ("from_ns", c_uint64), ("to_ns", c_uint64),
                ("pid", c_uint32), ("nr_tids", c_uint32), ("tids", c_void_p),
                ("activities", c_uint32), ("scopes", c_uint32), ("config", c_void_p),
                ("keys", c_void_p), ("values", c_void_p), ("nr_metadata", c_size_t),
                ("steps_from", c_uint64), ("absences", c_void_p), ("nr_absences", c_size_t),
                ("steps_to", c_uint64), ("from_ticks", c_uint64), ("to_ticks", c_uint64)]


_lib.is_size(Options, 128)
_lib.declare(library, [
    ("xsprof_result_open", c_int, [c_char_p, POINTER(Options), POINTER(c_void_p)]),
    ("xsprof_result_nr_events", c_int64, [c_void_p]),
    ("xsprof_result_save_as", c_int, [c_void_p, c_char_p, c_char_p, POINTER(c_uint64)]),
    ("xsprof_result_save_stacks", c_int, [c_void_p, c_char_p, c_uint32]),
    ("xsprof_result_save_memory_timeline", c_int, [c_void_p, c_char_p, c_uint32]),
    ("xsprof_result_save_memory_snapshot", c_int, [c_void_p, c_char_p]),
    ("xsprof_result_save_execution_trace", c_int, [c_void_p, c_char_p]),
    ("xsprof_result_tensorboard_path", c_int, [c_char_p, c_char_p, c_bool, c_char_p, c_size_t]),
])


def _accessors(result: Any, names: str) -> List[Tuple[str, Any, List[Any]]]:
    return [("xsprof_event_" + name, result, [c_void_p]) for name in names.split()]


_functions: List[Tuple[str, Any, List[Any]]] = [
    ("xsprof_result_free", None, [c_void_p]),
    ("xsprof_result_start_ns", c_uint64, [c_void_p]),
    ("xsprof_result_lost", c_uint64, [c_void_p, POINTER(c_uint64)]),
    ("xsprof_result_error", c_char_p, [c_void_p]),
    ("xsprof_result_event", c_void_p, [c_void_p, c_uint64]),
    ("xsprof_event_frame", c_char_p, [c_void_p, c_size_t]),
    ("xsprof_event_input_dtype", c_char_p, [c_void_p, c_size_t]),
    ("xsprof_event_input_concrete", c_char_p, [c_void_p, c_size_t]),
    ("xsprof_trace_error", c_char_p, [c_void_p]),
]
_lib.declare(quick, _functions + _accessors(c_char_p, "name module shapes strides kwargs")
  + _accessors(c_uint64, "start_ns end_ns device_resource_id start_thread_id end_thread_id "
                         "forward_thread_id correlation_id linked_correlation_id flops")
  + _accessors(c_int64, "sequence_number device_elapsed_ns nbytes")
  + _accessors(c_uint32, "device_type scope")
  + _accessors(c_int32, "device_index kind")
  + _accessors(c_bool, "is_async is_user_annotation unfinished uncertain")
  + _accessors(c_size_t, "nr_inputs nr_frames")
  + _accessors(c_void_p, "parent"))
_of = {name[len("xsprof_event_"):]: getattr(quick, name) for name in (
    "xsprof_event_" + word for word in (
        "name module shapes strides kwargs start_ns end_ns device_resource_id start_thread_id "
        "end_thread_id forward_thread_id correlation_id linked_correlation_id flops "
        "sequence_number device_elapsed_ns nbytes device_type scope device_index kind is_async "
        "is_user_annotation unfinished uncertain nr_inputs nr_frames parent").split())}


def _frame(text: str) -> str:
    """A frame as torch.profiler has it: "file.py(12): function"."""
    function, at, place = text.partition(" at ")
    name, colon, line = place.rpartition(":")
    return "{}({}): {}".format(name, line, function) if at and colon else text


class Result:
    """A result; its memory is freed with it."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._frames: Dict[bytes, str] = {}
        self._saved: Any = None

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            quick.xsprof_result_free(self._handle)
            self._handle = None

    def lost(self) -> Tuple[int, int]:
        """How many records were lost, and how many bytes were overwritten unread."""
        slots = c_uint64()
        records = quick.xsprof_result_lost(self._handle, slots)
        return records, slots.value * SLOT

    def check(self, err: int, what: str) -> int:
        """Raise what a call said."""
        if err < 0:
            raise _lib.error(err, what, {
                61: "nothing was recorded",
                95: "the file name does not match its format",
            }, _lib.text(quick.xsprof_result_error(self._handle)))
        return err

    def save(self, path: Any) -> None:
        """Write it in the JSON format of PyTorch's profiler."""
        name = os.fsencode(os.fspath(path))
        err = library.xsprof_result_save_as(self._handle, name, None, None)
        if err == -114:     # -EALREADY
            raise _lib.Error(114, "xsprof: {}: the trace is already saved: copy {}".format(
                path, self._saved))
        self.check(err, str(path))
        self._saved = path

    def save_stacks(self, path: Any, what: int) -> None:
        """Write folded stacks."""
        name = os.fsencode(os.fspath(path))
        self.check(library.xsprof_result_save_stacks(self._handle, name, what), str(path))

    def save_memory_timeline(self, path: Any, device: int) -> None:
        """Write memory by category over time."""
        name = os.fsencode(os.fspath(path))
        self.check(library.xsprof_result_save_memory_timeline(self._handle, name, device),
                   str(path))

    def save_memory_snapshot(self, path: Any) -> None:
        """Write a snapshot for PyTorch's memory viewer."""
        name = os.fsencode(os.fspath(path))
        self.check(library.xsprof_result_save_memory_snapshot(self._handle, name), str(path))

    def save_execution_trace(self, path: Any) -> None:
        """Write the execution trace of its ops."""
        name = os.fsencode(os.fspath(path))
        self.check(library.xsprof_result_save_execution_trace(self._handle, name), str(path))

    # ---- events -------------------------------------------------------------------------------

    def events(self, profile_memory: bool = False, with_flops: bool = False,
               use_device: Optional[str] = None, with_stack: bool = True) -> EventList:
        """The events as torch.profiler has them: a tree is made of those of the host. Without
        ranges of the GIL: a thread that waits for it uses no CPU.
        """
        count = self.check(library.xsprof_result_nr_events(self._handle), "events")
        start = quick.xsprof_result_start_ns(self._handle)
        made: Dict[int, FunctionEvent] = {}
        memory: List[Tuple[int, int]] = []
        for index in range(count):
            ev = quick.xsprof_result_event(self._handle, index)
            kind = _of["kind"](ev)
            if kind in (MEMORY, OUT_OF_MEMORY):
                memory.append((ev, kind))
            elif kind != INSTANT and _of["name"](ev) not in _GIL:
                made[ev] = self._event(ev, start, use_device, with_stack)
        for ev, event in made.items():
            parent = made.get(_of["parent"](ev) or 0)
            if parent is not None and event.device_type == CPU and not event.is_async and \
                    parent.device_type == CPU and not parent.is_async:
                parent.append_cpu_child(event)
                event.set_cpu_parent(parent)
        self._give_kernels(made)
        events = list(made.values())
        for ev, kind in memory:
            alone = self._account(ev, made) if kind == MEMORY else True
            if alone:
                events.append(self._memory(ev, kind, start, use_device))
        events.sort(key=lambda e: (e.time_range.start, -e.time_range.end))
        table = EventList(events, use_device=use_device, profile_memory=profile_memory,
                          with_flops=with_flops)
        table.build_tree()
        return table

    def _text(self, data: bytes) -> str:
        frame = self._frames.get(data)
        if frame is None:
            frame = self._frames[data] = _frame(_lib.text(data))
        return frame

    def _event(self, ev: int, start: int, use_device: Optional[str],
               with_stack: bool) -> FunctionEvent:
        of = _of
        name = _lib.text(of["name"](ev))
        kind = of["kind"](ev)
        shapes = of["shapes"](ev)
        strides = of["strides"](ev)
        kwargs = of["kwargs"](ev)
        inputs = of["nr_inputs"](ev)
        structured = json.loads(_lib.text(shapes)) if shapes else []
        thread = of["start_thread_id"](ev)
        event = FunctionEvent(
            id=of["correlation_id"](ev),
            name="ProfilerStep*" if name.startswith("ProfilerStep#") else name,
            trace_name=name, thread=thread,
            start_us=(of["start_ns"](ev) - start) / 1000,
            end_us=(of["end_ns"](ev) - start) / 1000,
            fwd_thread=of["forward_thread_id"](ev),
            # A list of tensors has no shape of its own there.
            input_shapes=[[] if dims and isinstance(dims[0], list) else dims
                          for dims in structured],
            structured_input_shapes=structured,
            structured_input_strides=json.loads(_lib.text(strides)) if strides else [],
            input_dtypes=[_lib.text(quick.xsprof_event_input_dtype(ev, i)) for i in range(inputs)],
            concrete_inputs=[_lib.text(quick.xsprof_event_input_concrete(ev, i))
                             for i in range(inputs)],
            kwinputs=json.loads(_lib.text(kwargs)) if kwargs else {},
            stack=[self._text(quick.xsprof_event_frame(ev, i))
                   for i in range(of["nr_frames"](ev))] if with_stack else [],
            module_hierarchy=_lib.text(of["module"](ev)),
            scope=of["scope"](ev), use_device=use_device,
            is_async=of["is_async"](ev) or thread != of["end_thread_id"](ev),
            sequence_nr=of["sequence_number"](ev), device_type=of["device_type"](ev),
            device_index=of["device_index"](ev), device_resource_id=of["device_resource_id"](ev),
            flops=of["flops"](ev),
            is_user_annotation=of["is_user_annotation"](ev) or kind == ANNOTATION,
            external_id=of["correlation_id"](ev),
            linked_correlation_id=of["linked_correlation_id"](ev),
            finished=not of["unfinished"](ev), uncertain=of["uncertain"](ev))
        elapsed = of["device_elapsed_ns"](ev)
        if elapsed > 0:
            event.append_kernel(name, event.device_index, elapsed / 1000)
            event.is_legacy = True
        return event

    @staticmethod
    def _give_kernels(made: Dict[int, FunctionEvent]) -> None:
        """What devices did, to the ops that launched it, as torch.profiler does."""
        ops = {event.id: event for ev, event in made.items() if _of["kind"](ev) == OP}
        for ev, event in made.items():
            op = ops.get(event.linked_correlation_id)
            if op is not None and event.device_type != CPU and not event.is_user_annotation and \
                    not op.is_async:
                op.append_kernel(event.name, event.device_index, event.time_range.elapsed_us())

    @staticmethod
    def _account(ev: int, made: Dict[int, FunctionEvent]) -> bool:
        """Add it to what it is in. Return: it is in nothing."""
        size, device = _of["nbytes"](ev), _of["device_type"](ev)
        at = _of["parent"](ev)
        alone = True
        while at:
            event = made.get(at)
            if event is not None:
                alone = False
                if device in HOSTS:
                    event.cpu_memory_usage += size
                elif device in DEVICES:
                    event.device_memory_usage += size
            at = _of["parent"](at)
        return alone

    @staticmethod
    def _memory(ev: int, kind: int, start: int, use_device: Optional[str]) -> FunctionEvent:
        size, device = _of["nbytes"](ev), _of["device_type"](ev)
        at = (_of["start_ns"](ev) - start) / 1000
        thread = _of["start_thread_id"](ev)
        return FunctionEvent(
            id=0, name="[memory]" if kind == MEMORY else "[OutOfMemory]", thread=thread,
            start_us=at, end_us=at, fwd_thread=thread, input_shapes=[], stack=[],
            use_device=use_device, cpu_memory_usage=size if device in HOSTS else 0,
            device_memory_usage=size if device in DEVICES else 0)


def open_capture(path: Any, pid: int = 0) -> Result:
    """The result that a capture, or a process of it, is."""
    options = Options(size=ctypes.sizeof(Options), pid=pid)
    handle = c_void_p()
    err = library.xsprof_result_open(os.fsencode(os.fspath(path)), options, handle)
    if err < 0:
        raise _lib.error(err, "open", said=_lib.text(quick.xsprof_trace_error(None)))
    return Result(handle)


def tensorboard_path(folder: str, worker: Optional[str], gzip: bool) -> str:
    """A name in a folder that TensorBoard's plugin finds; the folder is made."""
    room = ctypes.create_string_buffer(4096)
    err = library.xsprof_result_tensorboard_path(
        os.fsencode(folder), os.fsencode(worker or ""), gzip, room, len(room))
    if err < 0:
        raise _lib.error(err, folder, {13: "choose a directory that you can write to",
                                       20: "a file of that name exists"})
    return os.fsdecode(room.value)
