# SPDX-License-Identifier: LGPL-2.1-only
"""Arguments of markers: checks their types, and reports values that cannot be converted.

The checks do not depend on a recorder, so that a program runs in the same way with and without
one. They look at types and texts only: converting a value may be expensive (a tensor of a device)
or raise, so a marker does it only if it is recorded, and drops the record if that fails.
"""
import inspect
import os
import reprlib
import sys
import threading
from typing import Any, Dict, Set, Tuple

# By process and thread: each thread changes its own count, so none needs a lock.
_unconverted: Dict[Tuple[int, int], int] = {}
_said: Set[Tuple[str, int]] = set()


def shown(value: Any) -> str:
    """A value for a message: shortened, with its type."""
    kind = type(value).__name__
    try:
        return "{} ({})".format(reprlib.repr(value), kind)
    except Exception:  # pylint: disable=broad-except
        # repr() is code of the program. The message is about something else.
        return kind


def text(function: str, what: str, value: Any) -> str:
    """Check a name; return it as a plain str. "what" is the parameter."""
    if isinstance(value, str):
        plain = str.__str__(value)
    elif isinstance(value, bytes):
        plain = value.decode("utf-8", "surrogateescape")
    else:
        raise TypeError("xsprof: {}(): {}: expected a str or bytes, not {}".format(
            function, what, shown(value)))
    if "\0" in plain:
        raise ValueError("xsprof: {}(): {}: {!r} contains a null character".format(
            function, what, value))
    return plain


def category(function: str, value: Any) -> str:
    """Check the name of a category."""
    plain = text(function, "category", value)
    if not plain:
        raise ValueError("xsprof: {}(): category: expected a name or None, not an empty "
                         "string".format(function))
    return plain


def whole(function: str, what: str, value: Any) -> None:
    """Check that a value is of a type whose values can be integers."""
    if not hasattr(type(value), "__index__"):
        raise TypeError("xsprof: {}(): {}: expected an int, not {}".format(
            function, what, shown(value)))


def number(function: str, what: str, value: Any) -> None:
    """Check that a value is of a type whose values can be numbers."""
    kind = type(value)
    # NumPy's str has float(), and complex too in old versions of Python.
    if isinstance(value, (str, bytes, complex)) or not (
            hasattr(kind, "__index__") or hasattr(kind, "__float__")):
        raise TypeError("xsprof: {}(): {}: expected an int or a float, not {}".format(
            function, what, shown(value)))


def place() -> Tuple[str, int]:
    """File and line of the program's call."""
    frame = sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith("xsprof."):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def say(message: str) -> None:
    """Write a line to stderr, once for each place in the program."""
    at = place()
    if at in _said:
        return
    _said.add(at)
    try:
        sys.stderr.write("xsprof: {}:{}: {}\n".format(at[0], at[1], message))
    except Exception:  # pylint: disable=broad-except
        # No stderr (None), or a closed one. A marker does not end the program because of that.
        pass


def unconverted(function: str, name: str, what: str, value: Any, err: Exception) -> None:
    """Count a record that is dropped because a value of it cannot be converted, and say it."""
    key = os.getpid(), threading.get_ident()
    _unconverted[key] = _unconverted.get(key, 0) + 1
    say("{}({!r}): the {} (type {}) cannot be converted: {}: {}: not recorded".format(
        function, name, what, type(value).__name__, type(err).__name__, err))


def nr_unconverted() -> int:
    """How many records of this process were dropped for that reason."""
    pid = os.getpid()
    return sum(count for (of, _), count in list(_unconverted.items()) if of == pid)


def has_none(args: Dict[str, Any]) -> None:
    """Check the arguments of a range that is independent of threads."""
    if args:
        raise TypeError("xsprof: range(): a range that is independent of threads has no "
                        "arguments: leave out {}".format(", ".join(args)))


def undecorable(what: Any) -> TypeError:
    """The exception for what cannot be decorated, with what to do."""
    kind = type(what).__name__
    if inspect.isclass(what):
        cure = "decorate its methods, not the class {!r}".format(what.__name__)
    elif hasattr(type(what), "__get__"):
        cure = "decorate the function in it: write the decorator below @{}, not above".format(kind)
    else:
        cure = "not {}".format(shown(what))
    return TypeError("xsprof: a range decorates functions and methods, no {}: {}".format(
        "class" if inspect.isclass(what) else kind, cure))
