# SPDX-License-Identifier: LGPL-2.1-only
"""<xsprof/trace.h>: the functions of libxsprof-trace that read captures."""
import ctypes
from ctypes import (POINTER, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t,
                    c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)
from typing import Any

from . import _lib

library = _lib.load(_lib.TRACE)
# The pairer calls back, and is called for each event: with Python's lock throughout.
quick = _lib.load(_lib.TRACE, holds_gil=True)

#: enum xsprof_rec_type, and XSPROF_EV_*
(BEGIN, END, COMPLETE, INSTANT, COUNTER_I64, COUNTER_F64, ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END,
 FLOW_START, FLOW_STEP, FLOW_END, CORR_PUSH, CORR_POP, ALLOC, FREE, ARGS, STEP, SPAN, SYNC,
 CONTROL, CLOCK, GPU, STACK, RELATION, OP, SAMPLE) = range(1, 28)
EV_LOST, EV_PRODUCER, EV_EXIT, EV_KERNEL = 0x100, 0x101, 0x102, 0x110
EVF_SLOTS, EVF_UNKNOWN = 0x1, 0x4
NO_PRODUCER = 0xffffffff
#: enum xsprof_arg_type
(ARG_I64, ARG_U64, ARG_F64, ARG_BOOL, ARG_PTR, ARG_NAME, ARG_STR) = (1, 2, 3, 4, 5, 6, 7)
ARGF_CONT = 0x1
FRAME_NAMED = 1 << 63
#: XSPROF_GIL_WAIT and XSPROF_GIL_HELD: ranges of threads that wait for the GIL, or let others wait
GIL = ("GIL wait", "GIL held, wanted")
#: enum xsprof_range_end, XSPROF_RANGEF_*
ENDED, OPEN, CUT = 0, 1, 2
UNCERTAIN, RECURSIVE, OF_THREAD, CONTINUED = 0x1, 0x2, 0x4, 0x8


class Options(ctypes.Structure):
    """struct xsprof_trace_options"""
    Warn = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
    _fields_ = [("size", c_size_t), ("flags", c_uint32), ("reserved", c_uint32),
                ("memory", c_uint64), ("warn", Warn), ("warn_data", c_void_p)]


class Event(ctypes.Structure):
    """struct xsprof_event"""
    _fields_ = [("ns", c_uint64), ("begin_ns", c_uint64), ("end_ns", c_uint64),
                ("ticks", c_uint64), ("type", c_uint16), ("flags", c_uint16),
                ("producer", c_uint32), ("pid", c_uint32), ("tid", c_uint32), ("cpu", c_int32),
                ("name", c_uint32), ("aux", c_uint32), ("reserved", c_uint32),
                ("value", c_uint64), ("rec", c_void_p), ("rec_size", c_size_t)]


class ArgValue(ctypes.Union):
    _fields_ = [("i64", c_int64), ("u64", c_uint64), ("f64", c_double)]


class Arg(ctypes.Structure):
    """struct xsprof_trace_arg"""
    _fields_ = [("key", c_uint32), ("type", c_uint8), ("flags", c_uint8), ("len", c_uint16),
                ("u", ArgValue), ("str", c_void_p)]


class Producer(ctypes.Structure):
    """struct xsprof_trace_producer"""
    _fields_ = [("number", c_uint32), ("pid", c_uint32), ("ctl", c_void_p), ("how", c_uint32),
                ("status", c_int32), ("exit_ns", c_uint64), ("records", c_uint64),
                ("lost_records", c_uint64), ("lost_slots", c_uint64), ("bad_slots", c_uint64),
                ("rings", c_uint32), ("exit_within_ns", c_uint32)]


class Info(ctypes.Structure):
    """struct xsprof_trace_info"""
    _fields_ = [("size_of", c_size_t), ("producers", c_uint32), ("truncated", c_uint32),
                ("chunks", c_uint64), ("size", c_uint64), ("bad_chunks", c_uint64),
                ("records", c_uint64), ("lost_records", c_uint64), ("lost_slots", c_uint64),
                ("bad_slots", c_uint64), ("first_ns", c_uint64), ("last_ns", c_uint64),
                ("clock_kind", c_uint32), ("clock_points", c_uint32), ("clock_freq", c_double),
                ("clock_error_ns", c_uint64), ("real_offset_ns", c_int64), ("end", c_void_p)]


class Range(ctypes.Structure):
    """struct xsprof_range"""
    _fields_ = [("begin_ns", c_uint64), ("end_ns", c_uint64), ("self_ns", c_uint64),
                ("producer", c_uint32), ("pid", c_uint32), ("tid", c_uint32), ("name", c_uint32),
                ("depth", c_uint32), ("kind", c_uint16), ("how", c_uint16), ("id", c_uint64),
                ("flags", c_uint32), ("reserved", c_uint32)]


class PairerStats(ctypes.Structure):
    """struct xsprof_pairer_stats"""
    _fields_ = [("unmatched_ends", c_uint64), ("cut", c_uint64), ("open", c_uint64),
                ("too_deep", c_uint64)]


class GpuRecord(ctypes.Structure):
    """struct xsprof_rec_gpu, behind its struct xsprof_rec"""
    _fields_ = [("start", c_uint64), ("end", c_uint64), ("clock", c_uint32),
                ("device", c_uint32), ("context", c_uint32), ("stream", c_uint32),
                ("bytes", c_uint64), ("graph", c_uint64), ("graph_node", c_uint64),
                ("thread", c_uint64)]


class KernelEvent(ctypes.Structure):
    """struct xsprof_kernel_event"""
    _fields_ = [("system", c_char_p), ("name", c_char_p), ("id", c_uint32),
                ("nr_fields", c_uint32), ("fields", c_void_p), ("format", c_void_p),
                ("format_len", c_size_t)]


class SampleRecord(ctypes.Structure):
    """struct xsprof_trace_sample"""
    _fields_ = [("thread", c_uint32), ("how", c_uint32), ("line", c_uint32),
                ("missed", c_uint32), ("stack", c_uint32)]


class Mem(ctypes.Structure):
    """struct xsprof_rec_mem, behind its struct xsprof_rec"""
    _fields_ = [("bytes", c_uint64), ("total_allocated", c_uint64), ("total_reserved", c_uint64),
                ("reserved", c_uint64)]


for _kind, _size in ((Options, 40), (Event, 88), (Arg, 24), (Producer, 72), (Info, 128),
                     (Range, 64), (PairerStats, 32), (KernelEvent, 48), (Mem, 32),
                     (GpuRecord, 64), (SampleRecord, 20)):
    _lib.is_size(_kind, _size)

def thread_of(ev: Any) -> int:
    """The thread that an event is about: of a sample the sampled one."""
    return int(ev.value >> 32 or ev.tid if ev.type == SAMPLE else ev.tid)


Emit = ctypes.PYFUNCTYPE(None, c_void_p, POINTER(Range))

_lib.declare(library, [
    ("xsprof_trace_open", c_int, [c_char_p, POINTER(Options), POINTER(c_void_p)]),
    ("xsprof_trace_next_batch", c_int, [c_void_p, POINTER(Event), c_size_t]),
    ("xsprof_trace_rewind", c_int, [c_void_p]),
])
_lib.declare(quick, [
    ("xsprof_trace_close", None, [c_void_p]),
    ("xsprof_trace_error", c_char_p, [c_void_p]),
    ("xsprof_trace_name", c_char_p, [c_void_p, c_uint32, c_uint32]),
    ("xsprof_trace_category", c_char_p, [c_void_p, c_uint32, c_uint32]),
    ("xsprof_trace_thread", c_char_p, [c_void_p, c_uint32, c_uint32]),
    ("xsprof_trace_args", c_bool, [POINTER(Event), POINTER(c_size_t), POINTER(Arg)]),
    ("xsprof_trace_arg_text", c_size_t, [c_void_p, c_uint32, POINTER(Arg), c_char_p, c_size_t]),
    ("xsprof_trace_sample", c_bool, [POINTER(Event), POINTER(SampleRecord)]),
    ("xsprof_trace_stack", POINTER(c_uint64), [c_void_p, c_uint32, c_uint64, POINTER(c_size_t),
                                               POINTER(c_uint32)]),
    ("xsprof_trace_get_info", c_int, [c_void_p, POINTER(Info)]),
    ("xsprof_trace_get_producer", c_int, [c_void_p, c_uint32, POINTER(Producer)]),
    ("xsprof_trace_fact_at", c_int, [c_void_p, c_uint32, c_uint32, POINTER(c_char_p),
                                     POINTER(c_char_p)]),
    ("xsprof_trace_host_fact_at", c_int, [c_void_p, c_uint32, POINTER(c_char_p),
                                          POINTER(c_char_p)]),
    ("xsprof_trace_note", c_char_p, [c_void_p, c_uint32]),
    ("xsprof_trace_kernel_event", POINTER(KernelEvent), [c_void_p, c_uint32]),
    ("xsprof_pairer_new", c_int, [c_void_p, Emit, c_void_p, POINTER(c_void_p)]),
    ("xsprof_pairer_event", c_int, [c_void_p, c_void_p]),
    ("xsprof_pairer_finish", c_int, [c_void_p]),
    ("xsprof_pairer_free", None, [c_void_p]),
    ("xsprof_pairer_get_stats", None, [c_void_p, POINTER(PairerStats)]),
])
