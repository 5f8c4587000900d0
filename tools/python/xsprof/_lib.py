# SPDX-License-Identifier: LGPL-2.1-only
"""Finds and loads the shared libraries of xsprof, and turns their errors into exceptions.

It knows names of files and how the loader takes them; user.py, trace.py and result.py declare the
functions. Nothing is loaded before it is asked for.
"""
import ctypes
import os
import sys
from typing import Any, Dict, Iterable, List, Optional, Tuple

USER = "libxsprof-user.so.0"
TRACE = "libxsprof-trace.so.0"
TORCH = "libxsprof-torch.so"
CUPTI = "libxsprof-cupti.so"

_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
_loaded: Dict[Tuple[str, bool], Any] = {}


def find(name: str) -> str:
    """Return what the loader is to be given for a library, as "libxsprof-user.so.0".

    The package's own folder comes first, then the folder in XSPROF_LIBDIR; else it is the name
    itself, which the loader looks for where it looks for all libraries.
    """
    for folder in (_HERE, os.environ.get("XSPROF_LIBDIR", "")):
        path = os.path.join(folder, name)
        if folder and os.path.exists(path):
            return path
    return name


def load(name: str, mode: int = ctypes.DEFAULT_MODE, holds_gil: bool = False) -> Any:
    """Load a library once. A process that has it already, by whatever path, keeps that one: two
    would be two recordings.

    With holds_gil functions are called with Python's lock: for short ones, and for those that call
    Python's functions themselves.
    """
    known = _loaded.get((name, holds_gil))
    if known is not None and mode == ctypes.DEFAULT_MODE:
        return known
    kind = ctypes.PyDLL if holds_gil else ctypes.CDLL
    try:
        library = kind(name, mode=mode | os.RTLD_NOLOAD)
    except OSError:
        try:
            library = kind(find(name), mode=mode)
        except OSError as err:
            raise ImportError(
                "xsprof: {}: {}: install xsprof's libraries (make install), or set XSPROF_LIBDIR "
                "to their directory".format(name, err)) from None
    _loaded[name, holds_gil] = library
    return library


def declare(library: Any, functions: Iterable[Tuple[str, Any, List[Any]]]) -> None:
    """Set result and arguments of functions: (name, result, arguments)."""
    for name, result, arguments in functions:
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(
                "xsprof: {} has no {}: it is older than this package; install both "
                "from one source".format(getattr(library, "_name", "?"), name)) from None
        function.restype = result
        function.argtypes = arguments


def is_size(kind: Any, size: int) -> None:
    """Refuse a machine where a struct is laid out in another way than its header has it."""
    if ctypes.sizeof(kind) != size:
        raise ImportError("xsprof: {} has {} bytes here, not {}: 64-bit Linux machines are "
                          "supported".format(kind.__name__, ctypes.sizeof(kind), size))


class Error(OSError):
    """A function of xsprof's libraries failed; errno says how, the text what to do."""


def error(err: int, what: str, cures: Optional[Dict[int, str]] = None, said: str = "") -> Error:
    """Make an exception: of what was done, a negative errno, cures by errno, and the library's own
    message."""
    number = abs(err)
    text = said or os.strerror(number)
    cure = (cures or {}).get(number)
    return Error(number, "xsprof: {}: {}{}".format(what, text, ": " + cure if cure else ""))


def text(data: Optional[bytes]) -> str:
    """A text of a trace; bytes that are not UTF-8 are kept as escapes."""
    return data.decode("utf-8", "backslashreplace") if data else ""


def to_bytes(value: Any) -> bytes:
    """A name for the libraries: a text has no byte 0 there."""
    if isinstance(value, bytes):
        data = value
    elif isinstance(value, str):
        try:
            data = value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            # A surrogate that stands for no byte, as "\ud800".
            data = value.encode("utf-8", "backslashreplace")
    else:
        raise TypeError("xsprof: a name must be a str, not {}".format(type(value).__name__))
    if b"\0" in data:
        raise ValueError("xsprof: a name must not contain a null character: {!r}".format(value))
    return data


def main_is(name: str) -> bool:
    """Is a module imported already? It is not imported for the answer."""
    return sys.modules.get(name) is not None
