# SPDX-License-Identifier: LGPL-2.1-only
"""Arguments of markers: checks their types, and reports values that cannot be converted.

The checks do not depend on a recorder, so that a program runs in the same way with and without
one. They look at types and texts only: converting a value may be expensive (a tensor of a device)
or raise, so a marker does it only if it is recorded, and drops the record if that fails.

They ask for the type of a value, not isinstance(), which asks the value for its __class__: the
proxies of Django, Werkzeug and others compute that, or raise. Methods are those of int, str and so
on, called on the value: a subclass may have its own.
"""
import inspect
import os
import reprlib
import sys
import threading
from typing import Any, Dict, Iterable, Set, Tuple

# By process and thread: each thread changes its own count, so none needs a lock.
_unconverted: Dict[Tuple[int, int], int] = {}
_said: Set[Tuple[str, int]] = set()


# A metaclass may have a __name__ of its own.
_name_of = type.__dict__["__name__"].__get__


def type_name(value: Any) -> str:
    """The name of a value's type."""
    name: str = _name_of(type(value))
    return name


def shown(value: Any) -> str:
    """A value for a message: shortened, with its type."""
    kind = type_name(value)
    try:
        return "{} ({})".format(reprlib.repr(value), kind)
    except Exception:  # pylint: disable=broad-except
        # repr() is code of the program. The message is about something else.
        return kind


def text(function: str, what: str, value: Any) -> str:
    """Check a name; return it as a plain str. "what" is the parameter."""
    kind = type(value)
    if issubclass(kind, str):
        chars = str.__str__(value)
    elif issubclass(kind, bytes):
        chars = bytes.decode(value, "utf-8", "surrogateescape")
    else:
        raise TypeError("xsprof: {}(): {}: expected a str or bytes, not {}".format(
            function, what, shown(value)))
    if "\0" in chars:
        raise ValueError("xsprof: {}(): {}: {!r} contains a null character".format(
            function, what, chars))
    return chars


def one_of(function: str, what: str, value: Any, words: Iterable[str]) -> str:
    """Check a word; return it as a plain str."""
    word = str.__str__(value) if issubclass(type(value), str) else None
    if word is None or word not in words:
        raise ValueError("xsprof: {}(): {}: expected {}, not {}".format(
            function, what, " or ".join(", ".join(words).rsplit(", ", 1)), shown(value)))
    return word


def plain(value: Any) -> Tuple[Any, type]:
    """The int or float of a value of a subclass, and its type; other values as they are."""
    kind = type(value)
    if issubclass(kind, int):
        return int.__int__(value), int
    if issubclass(kind, float):
        return float.__float__(value), float
    return value, kind


def printed(value: Any) -> bytes:
    """The text of a value; bytes are text already."""
    if issubclass(type(value), bytes):
        return bytes.__getitem__(value, slice(None))
    try:
        return str.encode(str(value), "utf-8", "replace")
    except Exception:  # pylint: disable=broad-except
        # Its str() is code of the program, which does not run without a recorder.
        return "<unprintable {} object>".format(type_name(value)).encode("utf-8", "replace")


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


def function_of(function: str, what: str, value: Any, expected: str) -> None:
    """Check that a value can be called, or is None; expected: what it is for."""
    if value is not None and not callable(value):
        raise TypeError("xsprof: {}(): {}: expected {}, not {}".format(
            function, what, expected, shown(value)))


def number(function: str, what: str, value: Any) -> None:
    """Check that a value is of a type whose values can be numbers."""
    kind = type(value)
    # NumPy's str has float(), and complex too in old versions of Python.
    if issubclass(kind, (str, bytes, complex)) or not (
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
    try:
        why = "{}: {}".format(type_name(err), err)
    except Exception:  # pylint: disable=broad-except
        # The exception is of the program, and so is its str().
        why = type_name(err)
    say("{}({!r}): the {} (type {}) cannot be converted: {}: not recorded".format(
        function, name, what, type_name(value), why))


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
    kind = type_name(what)
    if inspect.isclass(what):
        cure = "decorate its methods, not the class {!r}".format(what.__name__)
    elif hasattr(type(what), "__get__"):
        cure = "decorate the function in it: write the decorator below @{}, not above".format(kind)
    else:
        cure = "not {}".format(shown(what))
    return TypeError("xsprof: a range decorates functions and methods, no {}: {}".format(
        "class" if inspect.isclass(what) else kind, cure))
