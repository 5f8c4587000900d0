# SPDX-License-Identifier: LGPL-2.1-only
"""Markers: ranges, instants, counters, flows and what they are about.

Without a recorder a marker checks the types of its arguments and loads a word. It calls nothing of
the library, interns no name and converts no argument. It raises the same exceptions with and
without a recorder: a program may get one at any time (xsprof record -p). Nothing raises because of
the state of a recording; what could not be recorded is counted.
"""
import functools
import inspect
import itertools
import operator
from threading import get_ident
from typing import (TYPE_CHECKING, Any, Callable, Dict, Optional, SupportsFloat, Tuple, TypeVar,
                    Union, cast, overload)

from . import _argument, _lib, _open, _stack, _user

if TYPE_CHECKING:
    from typing import SupportsIndex        # Python 3.8

Text = Union[str, bytes]
Function = TypeVar("Function", bound=Callable[..., Any])

_on = _user.enabled
_details = _user.op_details
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
    kind = type(value)
    if kind is not int and kind is not str and kind is not float and kind is not bool:
        value, kind = _argument.plain(value)
    if kind is int and -1 << 63 <= value < 1 << 63:
        kv.type, kv.u.i64 = _user.I64, value
    elif kind is float:
        kv.type, kv.u.f64 = _user.F64, value
    elif kind is bool:
        kv.type, kv.u.u64 = _user.BOOL, value
    elif kind is int and 0 <= value < 1 << 64:
        kv.type, kv.u.u64 = _user.U64, value
    else:
        text = value.encode("utf-8", "replace") if kind is str else _argument.printed(value)
        kv.type, kv.len, kv.u.str = _user.STR, len(text), text


def _kvs(args: Dict[str, Any]) -> Tuple[Any, int]:
    # A copy: a value's str() is code of the program, which may change the arguments of its range.
    items = tuple(args.items())
    kvs = (_user.Kv * len(items))()
    for kv, (key, value) in zip(kvs, items):
        # Only "**" makes such a key; looking for it without a recorder would cost too much.
        if type(key) is not str or "\0" in key:
            key = str.__str__(key).replace("\0", "\\0")
        kv.key = _id(key)
        _set(kv, value)
    return kvs, len(items)


def _begin(name: Text, category: Optional[Text], args: Optional[Dict[str, Any]]) -> int:
    """Begin a range while something is recorded. Return its id; 0: its category is off."""
    made = _names.get(name if category is None else (category, name))
    if made is None:
        made = _intern(name, category)
    if not _on[0] >> (made >> 26) & 1:
        return 0
    if _details[0] & _user.DETAIL_STACK:
        _stack.begin(made, *_kvs(args or {}))
    elif args:
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
    others by their str(), or "<unprintable TYPE object>" if that raises. Only recorded ranges look
    at them.

    Ranges of a thread nest. What begins and ends in different threads, or is open while others take
    turns on its thread, is not of that kind: "async with" makes a range that is independent of
    threads, and has no arguments. A decorated coroutine is such a range from its first step to its
    end; a decorated generator is a range each time that it runs. One object may be open in several
    threads and tasks at once, and inside of itself.
    """
    __slots__ = ("name", "category", "args", "_open", "_passed")

    def __init__(self, name: Text, category: Optional[Text] = None, **args: Any) -> None:
        # The common case without a call: this runs for each block, also without a recorder.
        if type(name) is not str or "\0" in name:
            name = _argument.text("range", "name", name)
        if category is not None and (
                type(category) is not str or not category or "\0" in category):
            category = _argument.category("range", category)
        self.name = name
        self.category = category
        self.args = args
        self._open: Optional[_open.Opens] = None

    def __repr__(self) -> str:
        return "xsprof.range({!r})".format(self.name)

    def __enter__(self) -> "range":
        if _on[0]:
            made = _begin(self.name, self.category, self.args)
            opens = self._open or _open.of(self)
            if opens:
                _open.enter(opens, made)
            else:
                opens[get_ident()] = made
        elif self._open:
            _open.enter(self._open, 0)
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self._open:
            made = self._open.pop(get_ident(), 0)
            if made.__class__ is tuple:
                made = _open.leave(self._open, made)
            if made:
                _emit_end_of(made)

    async def __aenter__(self) -> "range":
        _argument.has_none(self.args)
        if _on[0] or self._open:
            _open.enter_apart(self._open or _open.of(self),
                              _async(self.name, self.category) if _on[0] else 0)
        else:
            self._passed = True
        return self

    async def __aexit__(self, kind: Any, value: Any, trace: Any) -> None:
        if self._open:
            # A range that has begun in one task may end in another, unless that is the end of one
            # that began unrecorded.
            _async_over(_open.leave_apart(self._open, not hasattr(self, "_passed")))

    def __call__(self, function: Function) -> Function:
        """Decorate a function: each of its calls is a range."""
        # "Any": type checkers do not take the two for callables.
        given: Any = function
        if isinstance(given, (classmethod, staticmethod)):
            made: Any = type(given)(self(given.__func__))
        elif not callable(given) or inspect.isclass(given):
            raise _argument.undecorable(given)
        elif inspect.isasyncgenfunction(given):
            _argument.has_none(self.args)
            made = _of_async_generator(given, self)
        elif inspect.iscoroutinefunction(given):
            _argument.has_none(self.args)
            made = _of_coroutine(given, self)
        elif inspect.isgeneratorfunction(given):
            made = _of_generator(given, self)
        else:
            made = _of_function(given, self)
        return cast(Function, made)


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
    if isinstance(function, (classmethod, staticmethod)):
        function = function.__func__
    # What functools.partial() makes has none.
    name: str = getattr(function, "__qualname__", type(function).__qualname__)
    return name


@overload
def annotate(name: Function) -> Function: ...


@overload
def annotate(name: Text, category: Optional[Text] = None, **args: Any) -> range: ...


@overload
def annotate(name: None = None, category: Optional[Text] = None,
             **args: Any) -> Callable[[Function], Function]: ...


def annotate(name: Any = None, category: Optional[Text] = None, **args: Any) -> Any:
    """Decorate a function with a range of its own name, or of another one.

        @xsprof.annotate
        def step(): ...

        @xsprof.annotate("eval", category="model")
        def evaluate(): ...

    With a name it is the same as range().
    """
    if name is None:
        return lambda function: range(_own_name(function), category, **args)(function)
    if callable(name) or hasattr(type(name), "__get__"):
        return range(_own_name(name))(name)
    return range(name, category, **args)


def instant(name: Text, category: Optional[Text] = None, scope: str = "thread",
            **args: Any) -> None:
    """Record an instant of this thread; scope "process" or "global": of all of it. One with
    arguments is of the thread.
    """
    if type(name) is not str or "\0" in name:
        name = _argument.text("instant", "name", name)
    if category is not None:
        category = _argument.category("instant", category)
    if type(scope) is not str or scope not in _SCOPES:
        scope = _argument.one_of("instant", "scope", scope, _SCOPES)
    if not _on[0]:
        return
    made = _id(name, category)
    if args:
        _calls.xsprof_instant_args(made, *_kvs(args))
    elif _wanted(made):
        _calls.xsprof_emit_instant(made, _SCOPES[scope])


def counter(name: Text, value: "Union[SupportsFloat, SupportsIndex]",
            category: Optional[Text] = None) -> None:
    """Record the value of a counter, an int or a float, valid from now on.

    Other types are converted by int() or float(), if they are numbers. If that raises, as for an
    array of several, the record is dropped, with a line on stderr, and stats() counts it.
    """
    if type(name) is not str or "\0" in name:
        name = _argument.text("counter", "name", name)
    if type(value) is not int and type(value) is not float:
        _argument.number("counter", "value", value)
    if category is not None:
        category = _argument.category("counter", category)
    if not _on[0]:
        return
    made = _id(name, category)
    if _wanted(made):
        _count(made, name, value)


def _count(made: int, name: str, value: Any) -> None:
    try:
        try:
            # A subclass of int may compare in its own way.
            whole = value if type(value) is int else int.__int__(operator.index(value))
        except TypeError:
            real = float(value)
        else:
            if -1 << 63 <= whole < 1 << 63:
                _calls.xsprof_emit_counter(made, whole)
                return
            real = float(whole)
    except Exception as err:  # pylint: disable=broad-except
        _argument.unconverted("counter", name, "value", value, err)
        return
    _calls.xsprof_emit_counter_f64(made, real)


def _put(function: str, kind: int, name: Text, number: Any, category: Optional[Text]) -> None:
    if type(name) is not str or "\0" in name:
        name = _argument.text(function, "name", name)
    if type(number) is not int:
        _argument.whole(function, "number", number)
    if category is not None:
        category = _argument.category(function, category)
    if not _on[0]:
        return
    made = _id(name, category)
    if not _wanted(made):
        return
    try:
        whole = int.__int__(operator.index(number))
    except Exception as err:  # pylint: disable=broad-except
        _argument.unconverted(function, name, "number", number, err)
        return
    _emit(kind, made, 0, whole & 0xffffffffffffffff)


def flow_begin(name: Text, number: "SupportsIndex", category: Optional[Text] = None) -> None:
    """A flow (arrow) starts in the innermost open range; its steps and its end have the same name
    and number, in any thread.
    """
    _put("flow_begin", _user.FLOW_START, name, number, category)


def flow_step(name: Text, number: "SupportsIndex", category: Optional[Text] = None) -> None:
    """A flow goes through the innermost open range."""
    _put("flow_step", _user.FLOW_STEP, name, number, category)


def flow_end(name: Text, number: "SupportsIndex", category: Optional[Text] = None) -> None:
    """A flow ends in the innermost open range."""
    _put("flow_end", _user.FLOW_END, name, number, category)


def async_begin(name: Text, number: "SupportsIndex", category: Optional[Text] = None) -> None:
    """A range begins that is independent of threads; its end has the same name and number
    ("async with xsprof.range(name)" chooses the number).
    """
    _put("async_begin", _user.ASYNC_BEGIN, name, number, category)


def async_end(name: Text, number: "SupportsIndex", category: Optional[Text] = None) -> None:
    """The range of async_begin() with that name and number ends."""
    _put("async_end", _user.ASYNC_END, name, number, category)


def step(number: "SupportsIndex", name: Text = "step", category: Optional[Text] = None) -> None:
    """Step (iteration) number of the program's main loop begins."""
    _put("step", _user.STEP, name, number, category)


def args(**values: Any) -> None:
    """Add arguments to the innermost open range of this thread."""
    if _on[0] and values:
        _calls.xsprof_args(*_kvs(values))
