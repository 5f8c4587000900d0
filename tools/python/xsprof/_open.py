# SPDX-License-Identifier: LGPL-2.1-only
"""The open ranges of a range object. Several threads and tasks may enter one object at once, and
again inside of it, and recording may begin or end meanwhile: each leaves what it has entered. It
records nothing.

The keys of an object's dict are the threads that have it open, and negative numbers for ranges that
are independent of threads. The program's signal handlers and finalizers may run between any two
steps and use the same object: so no value is changed in place, and there is no lock.
"""
import itertools
import threading
from typing import Any, Dict, Tuple

try:
    from contextvars import ContextVar
    # The dict and key of each range that this task, or the one that started it, has entered.
    _entered: Any = ContextVar("xsprof ranges", default=())
except ImportError:                         # Python 3.6
    _entered = None

Opens = Dict[int, Any]
_new: Dict[int, Opens] = {}
_keys = itertools.count(-1, -1)


def of(which: Any) -> Opens:
    """The dict of an object, which has none before it is first recorded."""
    if which._open is None:
        # Threads that come here at once get the same one: it is removed only when the object has
        # it, and who comes later sees that.
        opens = _new.setdefault(id(which), {})
        if which._open is None:
            which._open = opens
        _new.pop(id(which), None)
    made: Opens = which._open
    return made


# The value of a thread: the name of the range that it has entered, 0 for one that was not recorded
# then; if there are more, a tuple of the name and number of the innermost ones of one name, and the
# value below. So it takes no more memory if a program never leaves them in the same thread.
def enter(opens: Opens, made: int) -> None:
    """This thread enters a range."""
    thread = threading.get_ident()
    last = opens.get(thread)
    if last is None:
        opens[thread] = made
        return
    if not isinstance(last, tuple):
        last = last, 1, None
    opens[thread] = (made, last[1] + 1, last[2]) if last[0] == made else (made, 1, last)


def leave(opens: Opens, last: Tuple[int, int, Any]) -> int:
    """Leave the innermost range of this thread (@last, removed from @opens); return its name."""
    made, often, below = last
    if often > 1:
        opens[threading.get_ident()] = made, often - 1, below
    elif below is not None:
        opens[threading.get_ident()] = below
    return made


def enter_apart(opens: Opens, opened: Any) -> None:
    """This task enters a range that is independent of threads; opened: what leave_apart() is to
    return.
    """
    key = next(_keys)
    opens[key] = opened
    if _entered is not None:
        entered = _entered.get()
        if entered:
            # Without those that were left in other tasks.
            entered = tuple(e for e in entered if e[1] in e[0])
        _entered.set(entered + ((opens, key),))


def leave_apart(opens: Opens, others: bool) -> Any:
    """This task leaves the innermost of them, or, if it has entered none and others is set, the one
    that any task has entered last. Return what it was entered with, or 0.
    """
    entered: Tuple[Tuple[Opens, int], ...] = _entered.get() if _entered is not None else ()
    for one in reversed(entered):
        if one[0] is opens and one[1] in opens:
            _entered.set(tuple(e for e in entered if e is not one))
            return opens.pop(one[1], 0)
    keys = [key for key in list(opens) if key < 0]
    return opens.pop(min(keys), 0) if keys and (others or _entered is None) else 0
