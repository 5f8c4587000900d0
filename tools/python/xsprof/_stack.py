# SPDX-License-Identifier: LGPL-2.1-only
"""Python stacks of the program's ranges, while a session runs that wants stacks.

The library would walk frame pointers: that finds ctypes and the interpreter, and no function of the
program. A stack is identified by its code objects and the places in them, and its frames are named
once, when it is new. The package's own frames are left out.
"""
import itertools
import os
import sys
from ctypes import c_uint64
from typing import Any, Dict, List, Tuple

from . import _user

FRAMES = 64             #: XSPROF_STACK_FRAMES
MISSED = 0xffffffff     #: XSPROF_STACK_MISSED
NAMED = 1 << 63         #: XSPROF_FRAME_NAMED

_calls = _user.library
_FOLDERS = ("/site-packages/", "/dist-packages/")
# What a text may have of a path and of a function's name.
_LONG = 200

# Numbers by code objects and places. With the number are references to the code objects: their
# addresses are not used again meanwhile.
_known: Dict[Tuple[int, ...], Tuple[int, List[Any]]] = {}
_KNOWN_MOST = 1 << 14
# Keys for the library, which has keys of other callers as well.
_numbers = itertools.count(int.from_bytes(os.urandom(7), "little"))
_OWN = os.path.join(os.path.dirname((lambda: None).__code__.co_filename), "")


def _shown(file: str) -> str:
    """The path of a file; within their folder for packages, as ops of PyTorch have it."""
    for folder in _FOLDERS:
        at = file.find(folder)
        if at >= 0:
            return file[at + len(folder):]
    return file


def _text(frame: Any) -> bytes:
    code = frame.f_code
    # Before 3.11 code objects have only the last part of the qualified name.
    function = getattr(code, "co_qualname", code.co_name)
    file = _shown(code.co_filename)
    if len(file) > _LONG:
        file = "..." + file[-_LONG:]
    text = "{}({}): {}".format(file, frame.f_lineno or code.co_firstlineno, function[:_LONG])
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace")


def _add(number: int, frame: Any, left_out: int) -> int:
    """Give the library the stack from a frame on."""
    category = _calls.xsprof_category(b"python")
    frames = (c_uint64 * FRAMES)()
    count = 0
    while frame is not None and count < FRAMES:
        if not frame.f_code.co_filename.startswith(_OWN):
            frames[count] = NAMED | _calls.xsprof_name_in(category, _text(frame))
            count += 1
        frame = frame.f_back
    stack: int = _calls.xsprof_stack_add(number, frames, count, left_out)
    return stack


def here() -> int:
    """The id of this thread's stack, MISSED if there is no room for it."""
    places: List[int] = []
    codes: List[Any] = []
    left_out = 0
    innermost = frame = sys._getframe(1)    # type: Any
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(_OWN):
            if len(codes) < FRAMES:
                places += id(code), frame.f_lasti
                codes.append(code)
            else:
                left_out += 1
        frame = frame.f_back
    # Lists of 64 frames and more would be the same with different numbers left out.
    places.append(left_out)
    key = tuple(places)
    known = _known.get(key)
    if known is None:
        # The library has room for fewer: these are of programs that never run the same twice.
        if len(_known) >= _KNOWN_MOST:
            _known.clear()
        known = _known.setdefault(key, (next(_numbers), codes))
    # Not 0, for which the library would walk.
    return (_calls.xsprof_stack_find(known[0]) or _add(known[0], innermost, left_out) or MISSED
            if codes else MISSED)


def begin(name: int, kwargs: Any, count: int) -> None:
    """Begin a range with its stack."""
    if _user.op_wanted[0] & _user.OP_PAIRS:
        # The range ends as any other, which is not enough for an op there.
        _calls.xsprof_begin_args(name, kwargs, count)
        return
    op = _user.Op(name=name, scope=_user.USER_SCOPE, nr_kwargs=count, sequence=-1, kwargs=kwargs,
                  stack=here())
    _calls.xsprof_emit_op_begin(op)
