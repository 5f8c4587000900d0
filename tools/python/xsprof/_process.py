# SPDX-License-Identifier: LGPL-2.1-only
"""The process as a producer of records: names, facts, switches and counts. None raises because of
the state of a recording.
"""
import ctypes
import errno
from typing import Any, Dict, Optional

from . import _argument, _lib, _user
from ._marker import Text, _category_id, _on

_calls = _user.library
# Seconds: the milliseconds of the library are an int.
_TIMEOUT_MAX = 2000000


def enabled(category: Optional[Text] = None) -> bool:
    """Is the process recorded, and that category of it?"""
    if category is not None:
        category = _argument.category("enabled", category)
    if category is None or not _on[0]:
        return bool(_on[0])
    # Its first use creates it, which changes the word.
    number = _category_id(category)
    return bool(_on[0] >> number & 1)


def _done(err: int, what: str) -> bool:
    """Turn a result into "is it recorded?". The library refuses wrong arguments without a recorder
    as well; other errors are the state of a recording, which must not end the program.
    """
    if err == -errno.EINVAL:
        raise _lib.error(err, what)
    if err not in (0, -errno.ENOTCONN):
        _argument.say(str(_lib.error(err, what, {
            errno.ENOSPC: "a larger XSPROF_ARENA_SIZE has room for more names",
            errno.EMFILE: "raise the limit on open files (ulimit -n)"})))
    return err == 0


def thread_name(name: Optional[Text]) -> bool:
    """Name this thread in traces; None: as without this call. Return: is it recorded?"""
    if name is not None:
        name = _argument.text("thread_name", "name", name)
    return _done(_calls.xsprof_thread_name(None if name is None else _lib.to_bytes(name)),
                 "thread_name({!r})".format(name))


def fact(key: Text, value: Any) -> bool:
    """State something about this process, as its rank. Return: is it recorded?"""
    key = _argument.text("fact", "key", key)
    data = _lib.to_bytes(_argument.text("fact", "value", str(value)))
    return _done(_calls.xsprof_fact(_lib.to_bytes(key), data),
                 "fact({!r}): a key is not empty and has no '='".format(key))


def category_enable(category: Text, on: bool = True) -> bool:
    """Switch a category on or off in this process. Return: is the process recorded?"""
    category = _argument.category("category_enable", category)
    return _done(_calls.xsprof_category_enable(_category_id(category), 1 if on else 0),
                 "category_enable({!r})".format(category))


def pause() -> bool:
    """Stop to record this process until resume(). Return: is it recorded?"""
    return _done(_calls.xsprof_pause(), "pause()")


def resume() -> bool:
    """Go on to record it."""
    return _done(_calls.xsprof_resume(), "resume()")


def flush(timeout: Optional[float] = None) -> bool:
    """Wait until the recorder has read all that this process wrote before, at most timeout seconds.

    Return: has it? Not where the time was up, or there is no recorder.
    """
    if timeout is None:
        limit = -1
    elif not isinstance(timeout, (int, float)) or timeout != timeout:
        raise TypeError("xsprof: flush(): timeout: expected seconds as an int or a float, or None, "
                        "not {}".format(_argument.shown(timeout)))
    else:
        limit = int(max(0, min(timeout, _TIMEOUT_MAX)) * 1000)
    err = _user.flush(limit)
    return err != -errno.ETIMEDOUT and _done(err, "flush()")


def stats() -> Dict[str, int]:
    """Counts of this process as a producer of records; all are 0 if it is not recorded, except
    "unconverted": records that were dropped because a value could not be converted.
    """
    counts = _user.Stats(size=ctypes.sizeof(_user.Stats))
    err = _calls.xsprof_get_stats(counts)
    if err:
        raise _lib.error(err, "stats()")
    values = {field[0]: getattr(counts, field[0]) for field in _user.Stats._fields_
              if field[0] not in ("size", "reserved")}
    values["unconverted"] = _argument.nr_unconverted()
    return values
