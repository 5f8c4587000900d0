# SPDX-License-Identifier: LGPL-2.1-only
"""Markers: ranges, instants, counters, flows and what they are about.

Without a recorder a marker is one load. It interns no name, makes no call and
looks at no argument. Nothing here raises because of the state of a recording: what could not be
recorded is counted there.
"""
import ctypes
import functools
import inspect
import itertools
import operator
from typing import Any, Callable, Dict, Optional, Tuple, TypeVar, Union

from . import _lib, _user

Text = Union[str, bytes]
Function = TypeVar("Function", bound=Callable[..., Any])

_on = _user.enabled
_calls = _user.library
_emit_begin = _calls.xsprof_emit_begin
_emit_end_of = _calls.xsprof_emit_end_of
_emit = _calls.xsprof_emit

# Ids are the process's own, and the same in children of a fork.
_names: Dict[Any, int] = {}
_categories: Dict[Text, int] = {}
_numbers = itertools.count(1)

_NAME_FULL = 0x03ffffff
_SCOPES = {"thread": 0, "process": 1, "global": 2}


def _category_id(category: Text) -> int:
    number = _categories.get(category)
    if number is None:
        number = _calls.xsprof_category(_lib.to_bytes(category))
        if number < 0:
            raise ValueError("xsprof: {!r} is not a category name: it is empty".format(category))
        _categories[category] = number
    return number


def _intern(name: Text, category: Optional[Text]) -> int:
    number = _category_id(category) if category is not None else 0
    made: int = _calls.xsprof_name_in(number, _lib.to_bytes(name))
    # Where the memory for names is used up the library counts each; no id is to be kept.
    if made & _NAME_FULL != _NAME_FULL:
        _names[name if category is None else (category, name)] = made
    return made


def _id(name: Text, category: Optional[Text] = None) -> int:
    """The id of a name, interned once."""
    made = _names.get(name if category is None else (category, name))
    return _intern(name, category) if made is None else made


def _wanted(name: int) -> int:
    return _on[0] >> (name >> 26) & 1


def _set(kv: Any, value: Any) -> None:
    if isinstance(value, bool):
        kv.type, kv.u.u64 = _user.BOOL, value
    elif isinstance(value, int) and -1 << 63 <= value < 1 << 63:
        kv.type, kv.u.i64 = _user.I64, value
    elif isinstance(value, int) and 0 <= value < 1 << 64:
        kv.type, kv.u.u64 = _user.U64, value
    elif isinstance(value, float):
        kv.type, kv.u.f64 = _user.F64, value
    else:
        data = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
        kv.type, kv.len, kv.u.str = _user.STR, len(data), data


def _kvs(args: Dict[str, Any]) -> Tuple[Any, int]:
    kvs = (_user.Kv * len(args))()
    for kv, (key, value) in zip(kvs, args.items()):
        kv.key = _id(key)
        _set(kv, value)
    return kvs, len(args)


def _begin(name: Text, category: Optional[Text], args: Optional[Dict[str, Any]]) -> int:
    """Begin a range while something is recorded. Return its id; 0: its category is off."""
    made = _id(name, category)
    if not _on[0] >> (made >> 26) & 1:
        return 0
    if args:
        _calls.xsprof_begin_args(made, *_kvs(args))
    else:
        _emit_begin(made)
    return made


class range:  # pylint: disable=invalid-name
    """A range of this thread, as a block or as a decorator.

        with xsprof.range("load", category="io", rows=n):
            ...

        @xsprof.range("step")
        def step(): ...

    Further keyword arguments are arguments of the range: bools, numbers and strings as they are,
    others by their str(). Only recorded ranges look at them.

    Ranges of a thread nest. What begins and ends in different threads, or is open while others take
    turns on its thread, is not of that kind: "async with" makes a range that is independent of
    threads. A decorated coroutine is such a range from its first step to its end; a decorated
    generator is a range each time that it runs.
    """
    __slots__ = ("name", "category", "args", "_open")

    def __init__(self, name: Text, category: Optional[Text] = None, **args: Any) -> None:
        self.name = name
        self.category = category
        self.args = args

    def __repr__(self) -> str:
        return "xsprof.range({!r})".format(self.name)

    def __enter__(self) -> "range":
        self._open = _begin(self.name, self.category, self.args) if _on[0] else 0
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self._open:
            _emit_end_of(self._open)

    async def __aenter__(self) -> "range":
        self._open = _async(self.name, self.category) if _on[0] else 0
        return self

    async def __aexit__(self, kind: Any, value: Any, trace: Any) -> None:
        _async_over(self._open)

    def __call__(self, function: Function) -> Function:
        """Decorate a function: each of its calls is a range."""
        if not callable(function) or inspect.isclass(function):
            raise TypeError("xsprof: range({!r}) decorates functions and methods, not {!r}".format(
                self.name, function))
        if inspect.isasyncgenfunction(function):
            return _of_async_generator(function, self)
        if inspect.iscoroutinefunction(function):
            return _of_coroutine(function, self)
        if inspect.isgeneratorfunction(function):
            return _of_generator(function, self)
        return _of_function(function, self)


def _of_function(function: Any, which: range) -> Any:
    name, category, args = which.name, which.category, which.args
    on = _on

    @functools.wraps(function)
    def ranged(*a: Any, **k: Any) -> Any:
        if not on[0]:
            return function(*a, **k)
        opened = _begin(name, category, args)
        try:
            return function(*a, **k)
        finally:
            if opened:
                _emit_end_of(opened)
    return ranged


def _of_generator(function: Any, which: range) -> Any:
    @functools.wraps(function)
    def ranged(*a: Any, **k: Any) -> Any:
        generator = function(*a, **k)
        resume, value = generator.send, None  # type: Any, Any
        while True:
            with range(which.name, which.category, **which.args):
                try:
                    got = resume(value)
                except StopIteration as stop:
                    return stop.value
            try:
                value, resume = (yield got), generator.send
            except GeneratorExit:
                with range(which.name, which.category, **which.args):
                    generator.close()
                raise
            except BaseException as raised:  # pylint: disable=broad-except
                value, resume = raised, generator.throw
    return ranged


# Tuples of name and number while they are open, 0 while they are not recorded.
def _async(name: Text, category: Optional[Text]) -> Any:
    made = _id(name, category)
    if not _wanted(made):
        return 0
    number = next(_numbers)
    _emit(_user.ASYNC_BEGIN, made, 0, number)
    return made, number


def _async_over(opened: Any) -> None:
    if opened and _wanted(opened[0]):
        _emit(_user.ASYNC_END, opened[0], 0, opened[1])


def _of_coroutine(function: Any, which: range) -> Any:
    @functools.wraps(function)
    async def ranged(*a: Any, **k: Any) -> Any:
        opened = _async(which.name, which.category) if _on[0] else 0
        try:
            return await function(*a, **k)
        finally:
            _async_over(opened)
    return ranged


def _of_async_generator(function: Any, which: range) -> Any:
    @functools.wraps(function)
    async def ranged(*a: Any, **k: Any) -> Any:
        opened = _async(which.name, which.category) if _on[0] else 0
        generator = function(*a, **k)
        try:
            value = None
            resume = generator.asend
            while True:
                try:
                    got = await resume(value)
                except StopAsyncIteration:
                    return
                try:
                    value, resume = (yield got), generator.asend
                except GeneratorExit:
                    await generator.aclose()
                    raise
                except BaseException as raised:  # pylint: disable=broad-except
                    value, resume = raised, generator.athrow
        finally:
            _async_over(opened)
    return ranged


def _own_name(function: Any) -> str:
    # What functools.partial() makes has none.
    name: str = getattr(function, "__qualname__", type(function).__qualname__)
    return name


def annotate(name: Any = None, category: Optional[Text] = None, **args: Any) -> Any:
    """Decorate a function with a range of its own name, or of another one.

        @xsprof.annotate
        def step(): ...

        @xsprof.annotate("eval", category="model")
        def evaluate(): ...

    With a name it is the same as range().
    """
    if callable(name):
        return range(_own_name(name))(name)
    if name is None:
        return lambda function: range(_own_name(function), category, **args)(function)
    return range(name, category, **args)


def instant(name: Text, category: Optional[Text] = None, scope: str = "thread",
            **args: Any) -> None:
    """Record an instant of this thread; scope "process" or "global": of all of it.

    One with arguments is of the thread.
    """
    if not _on[0]:
        return
    made = _id(name, category)
    if args:
        _calls.xsprof_instant_args(made, *_kvs(args))
    elif scope not in _SCOPES:
        raise ValueError("xsprof: scope {!r}: expected thread, process or global".format(scope))
    elif _wanted(made):
        _calls.xsprof_emit_instant(made, _SCOPES[scope])


def counter(name: Text, value: Any, category: Optional[Text] = None) -> None:
    """Record the value of a counter, an int or a float, valid from now on."""
    if not _on[0]:
        return
    made = _id(name, category)
    if not _wanted(made):
        return
    try:
        whole = operator.index(value)
    except TypeError:
        _calls.xsprof_emit_counter_f64(made, float(value))
        return
    if -1 << 63 <= whole < 1 << 63:
        _calls.xsprof_emit_counter(made, whole)
    else:
        _calls.xsprof_emit_counter_f64(made, float(whole))


def _put(kind: int, name: Text, number: int, category: Optional[Text]) -> None:
    made = _id(name, category)
    if _wanted(made):
        _emit(kind, made, 0, number & 0xffffffffffffffff)


def flow_begin(name: Text, number: int, category: Optional[Text] = None) -> None:
    """A flow (arrow) starts in the innermost open range; its steps and its end have the same name
    and number, in any thread.
    """
    if _on[0]:
        _put(_user.FLOW_START, name, number, category)


def flow_step(name: Text, number: int, category: Optional[Text] = None) -> None:
    """A flow goes through the innermost open range."""
    if _on[0]:
        _put(_user.FLOW_STEP, name, number, category)


def flow_end(name: Text, number: int, category: Optional[Text] = None) -> None:
    """A flow ends in the innermost open range."""
    if _on[0]:
        _put(_user.FLOW_END, name, number, category)


def async_begin(name: Text, number: int, category: Optional[Text] = None) -> None:
    """A range begins that is independent of threads; its end has the same name and number.

    "async with xsprof.range(name)" chooses the number.
    """
    if _on[0]:
        _put(_user.ASYNC_BEGIN, name, number, category)


def async_end(name: Text, number: int, category: Optional[Text] = None) -> None:
    """The range of async_begin() with that name and number ends."""
    if _on[0]:
        _put(_user.ASYNC_END, name, number, category)


def step(number: int, name: Text = "step", category: Optional[Text] = None) -> None:
    """Step (iteration) number of the program's main loop begins."""
    if _on[0]:
        _put(_user.STEP, name, number, category)


def args(**values: Any) -> None:
    """Add arguments to the innermost open range of this thread."""
    if _on[0] and values:
        _calls.xsprof_args(*_kvs(values))


def enabled(category: Optional[Text] = None) -> bool:
    """Is the process recorded, and that category of it?"""
    on = _on[0]
    return bool(on if category is None else on and on >> _category_id(category) & 1)


def _done(err: int, what: str) -> bool:
    if err in (0, -107):    # -ENOTCONN
        return err == 0
    raise _lib.error(err, what, {28: "a larger XSPROF_ARENA_SIZE has room for more names",
                                 24: "raise the limit on open files (ulimit -n)"})


def thread_name(name: Optional[Text]) -> bool:
    """Name this thread in traces; None: by the kernel's name again. Return: is it recorded?"""
    return _done(_calls.xsprof_thread_name(None if name is None else _lib.to_bytes(name)),
                 "thread_name({!r})".format(name))


def fact(key: Text, value: Any) -> bool:
    """State something about this process, as its rank. Return: is it recorded?"""
    return _done(_calls.xsprof_fact(_lib.to_bytes(key), _lib.to_bytes(str(value))),
                 "fact({!r}): a key is not empty and has no '='".format(key))


def category_enable(category: Text, on: bool = True) -> bool:
    """Switch a category on or off in this process. Return: is the process recorded?"""
    return _done(_calls.xsprof_category_enable(_category_id(category), int(on)),
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
    err = _user.flush(-1 if timeout is None else max(0, int(timeout * 1000)))
    return err != -110 and _done(err, "flush()")    # -ETIMEDOUT


def stats() -> Dict[str, int]:
    """Counts of this process as a producer of records; all are 0 if it is not recorded."""
    counts = _user.Stats(size=ctypes.sizeof(_user.Stats))
    err = _calls.xsprof_get_stats(counts)
    if err:
        raise _lib.error(err, "stats()")
    return {field[0]: getattr(counts, field[0]) for field in _user.Stats._fields_
            if field[0] not in ("size", "reserved")}
