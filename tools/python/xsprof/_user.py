# SPDX-License-Identifier: LGPL-2.1-only
"""<xsprof/xsprof.h>: the functions of libxsprof-user that markers call, and its control page."""
import ctypes
from ctypes import (POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64,
                    c_void_p)

from . import _lib

library = _lib.load(_lib.USER, holds_gil=True)

#: enum xsprof_arg_type
I64, U64, F64, BOOL, STR, NONE = 1, 2, 3, 4, 7, 12
#: enum xsprof_rec_type
ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END = 7, 8, 9
FLOW_START, FLOW_STEP, FLOW_END = 10, 11, 12
STEP = 18
NAME_SHIFT = 26
TEXT_MAX = 4000
USER_SCOPE = 7      #: XSPROF_OP_USER_SCOPE
DETAIL_STACK = 2    #: XSPROF_DETAIL_STACK
#: XSP_OP_DEVICE and XSP_OP_MIRROR, beside the scopes: an op's end does more than end a range
OP_PAIRS = 9 << 28


class KvValue(ctypes.Union):
    _fields_ = [("i64", c_int64), ("u64", c_uint64), ("f64", c_double), ("str", c_char_p)]


class Kv(ctypes.Structure):
    """struct xsprof_kv"""
    _fields_ = [("key", c_uint32), ("type", c_uint32), ("len", c_size_t), ("u", KvValue)]


class Stats(ctypes.Structure):
    """struct xsprof_stats"""
    _fields_ = [("size", c_size_t), ("attached", c_uint32), ("clock", c_uint32),
                ("slots", c_uint64), ("lost", c_uint64), ("memory", c_uint64),
                ("names_missed", c_uint64), ("lock_slots", c_uint64), ("backend", c_uint32),
                ("reserved", c_uint32), ("stacks_missed", c_uint64)]


class Op(ctypes.Structure):
    """struct xsprof_op"""
    _fields_ = [("name", c_uint32), ("scope", c_uint32), ("nr_inputs", c_uint32),
                ("nr_kwargs", c_uint32), ("sequence", c_int64), ("forward_thread", c_uint64),
                ("record_function_id", c_uint64), ("inputs", c_void_p),
                ("kwargs", POINTER(Kv)), ("module", c_char_p), ("module_name", c_uint32),
                ("line", c_uint32), ("stack", c_uint32)]


_lib.is_size(Kv, 24)
_lib.is_size(Stats, 72)
_lib.is_size(Op, 80)
_kvs = POINTER(Kv)
_lib.declare(library, [
    ("xsprof_name_in", c_uint32, [c_int, c_char_p]),
    ("xsprof_category", c_int, [c_char_p]),
    ("xsprof_category_enable", c_int, [c_int, c_int]),
    ("xsprof_emit_begin", None, [c_uint32]),
    ("xsprof_emit_end_of", None, [c_uint32]),
    ("xsprof_emit_instant", None, [c_uint32, c_uint32]),
    ("xsprof_emit_counter", None, [c_uint32, c_int64]),
    ("xsprof_emit_counter_f64", None, [c_uint32, c_double]),
    ("xsprof_emit", None, [c_uint32, c_uint32, c_uint32, c_uint64]),
    ("xsprof_begin_args", None, [c_uint32, _kvs, c_size_t]),
    ("xsprof_args", None, [_kvs, c_size_t]),
    ("xsprof_instant_args", None, [c_uint32, _kvs, c_size_t]),
    ("xsprof_thread_name", c_int, [c_char_p]),
    ("xsprof_fact", c_int, [c_char_p, c_char_p]),
    ("xsprof_pause", c_int, []),
    ("xsprof_resume", c_int, []),
    ("xsprof_get_stats", c_int, [POINTER(Stats)]),
    ("xsprof_emit_op_begin", None, [POINTER(Op)]),
    ("xsprof_emit_op_end", None, []),
    ("xsprof_stack_find", c_uint32, [c_uint64]),
    ("xsprof_stack_add", c_uint32, [c_uint64, POINTER(c_uint64), c_uint32, c_uint32]),
])
# It waits for the recorder: other threads of the program go on.
_waiting = _lib.load(_lib.USER)
_lib.declare(_waiting, [("xsprof_flush", c_int, [c_int])])
flush = _waiting.xsprof_flush

# The word that every marker tests. The library maps the producer's page over this address and
# never moves it, so that a look at it needs no call.
_page = (c_uint64 * 1).in_dll(library, "xsprof_ctl_page")
enabled = memoryview(_page).cast("B").cast("Q")


def _word(name: str) -> "memoryview":
    """A word of the library that says what is recorded of ops."""
    return memoryview((c_uint32 * 1).in_dll(library, name)).cast("B").cast("I")


op_wanted = _word("xsprof_op_wanted")
op_details = _word("xsprof_op_details")
