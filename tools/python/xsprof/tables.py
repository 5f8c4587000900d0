# SPDX-License-Identifier: LGPL-2.1-only
"""The rows of a capture's tables, and the lists of them."""
import builtins
import functools
import importlib
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterable, List, NamedTuple, Optional,
                    Tuple, Type, TypeVar, Union, cast, overload)

Row = TypeVar("Row", bound=Tuple[Any, ...])


class Table(List[Row]):
    """A list of rows, which are named tuples of one kind."""

    def __init__(self, kind: Type[Row], rows: Iterable[Row] = ()) -> None:
        super().__init__(rows)
        self.kind: Any = kind

    @property
    def columns(self) -> Tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.kind._fields)

    def to_dicts(self) -> List[Dict[str, Any]]:
        """The rows as dicts."""
        return [dict(zip(self.columns, row)) for row in self]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of it."""
        try:
            # Not an import statement: type checkers would want the types of pandas.
            pandas: Any = importlib.import_module("pandas")
        except ImportError as err:
            raise ImportError("xsprof: converting a table to a DataFrame needs pandas ({}): pip "
                              "install pandas, or use the rows as they are".format(err)) from None
        return pandas.DataFrame.from_records(builtins.list(self), columns=self.columns)


if TYPE_CHECKING:
    from typing import Literal, Protocol    # Python 3.8

    class Framed(Protocol[Row]):
        """The type of a method that returns a table, or a pandas.DataFrame of it."""

        @overload
        def __call__(self, as_frame: Literal[False] = False) -> Table[Row]: ...

        @overload
        def __call__(self, as_frame: bool) -> Any: ...


def framed(method: Callable[[Any], Table[Row]]) -> "Framed[Row]":
    """Give a method that returns a table the parameter as_frame."""
    def table(self: Any, as_frame: bool = False) -> Any:
        rows = method(self)
        return rows.to_pandas() if as_frame else rows
    functools.update_wrapper(table, method)
    # help() shows the parameters of what is wrapped otherwise.
    del table.__wrapped__  # type: ignore[attr-defined]
    return cast("Framed[Row]", table)


class Op(NamedTuple):
    """All ranges of a name and category: a row of xsprof report."""
    name: str
    category: str
    count: int  # type: ignore[assignment]
    total_ns: int               #: ranges in one of their own name are counted once
    self_ns: Optional[int]      #: without what is inside; None where ranges need not nest
    mean_ns: Optional[int]
    min_ns: Optional[int]
    p50_ns: Optional[int]
    p99_ns: Optional[int]
    max_ns: Optional[int]
    cut: int                    #: of count, those that something else ended
    open: int                   #: those that were open at the end
    uncertain: int              #: those with lost records inside: their times are in no sum
    pid: Optional[int]          #: by="process" or "thread"
    tid: Optional[int]          #: by="thread"


class Range(NamedTuple):
    """One range."""
    name: str
    category: str
    begin_ns: int
    end_ns: int
    duration_ns: int
    self_ns: Optional[int]
    pid: int
    tid: int
    thread: str
    depth: int
    kind: str           #: begin, complete, span, async or gpu
    end: str            #: ended, open (at the end of the trace or process), cut (by something else)
    id: int             #: of an async range, a span or a GPU's activity
    uncertain: bool     #: records were lost inside: the end may be that of another range
    recursive: bool     #: it is in a range of its name
    continued: bool     #: the next range of its name on its thread is the rest of it
    args: Dict[str, Any]
    producer: int


class Instant(NamedTuple):
    """One instant."""
    ns: int
    name: str
    category: str
    scope: str
    pid: int
    tid: int
    args: Dict[str, Any]


class Counter(NamedTuple):
    """One value of a counter."""
    ns: int
    name: str
    category: str
    value: Union[int, float]
    pid: int
    tid: int


class Step(NamedTuple):
    """A step of the program, from where it says that it begins to the next one."""
    name: str
    number: int
    begin_ns: int
    end_ns: Optional[int]       #: None: the last one
    duration_ns: Optional[int]
    pid: int
    tid: int


class Flow(NamedTuple):
    """A begin, step or end of a flow."""
    ns: int
    name: str
    kind: str
    id: int
    pid: int
    tid: int


class Allocation(NamedTuple):
    """Memory that was allocated, or freed: then bytes are negative."""
    ns: int
    name: str
    address: int
    bytes: int
    device_type: int
    device_index: int
    total_allocated: int
    total_reserved: int
    pid: int
    tid: int


class Gpu(NamedTuple):
    """What a device did, or a call of its runtime."""
    name: str
    kind: str           #: kernel, memcpy, memset, sync, runtime, driver, overhead, ...
    begin_ns: int
    end_ns: int
    duration_ns: int
    device: int         #: -1: none, as of CUDA's calls
    context: int
    stream: int         #: -1: none
    bytes: int          #: of copies and sets
    correlation: int    #: the same for a call and for what it started
    graph: int
    graph_node: int
    pid: int
    tid: int
    args: Dict[str, Any]


class Sample(NamedTuple):
    """Where a thread of Python was at a tick (xsprof record --python)."""
    ns: int
    function: str       #: the innermost: "file.py(12): name", with its first line
    line: int           #: where it was in it; 0: not known
    how: str            #: runs (has the lock), native, lock (waits for it), off, or missed
    missed: int         #: how many could not be taken, 0 of one that was
    stack: Tuple[str, ...]      #: functions, innermost first; () where it found no room
    left_out: int       #: how many outer ones are not in it
    pid: int
    tid: int            #: of the thread that was looked at; 0: missed of all threads
    thread: str


class GilThread(NamedTuple):
    """A thread that waited for Python's lock, or had it while others waited."""
    pid: int
    tid: int
    thread: str
    lock: int           #: 0: the process's; else that of an interpreter with a lock of its own
    waits: int
    waited_ns: int
    longest_wait_ns: int
    holds: int          #: times that it had the lock while others waited
    held_ns: int
    longest_hold_ns: int


class GilPair(NamedTuple):
    """A thread that waited for Python's lock, and one that had it meanwhile."""
    pid: int
    lock: int
    holder: Optional[int]       #: its thread id; None: not known
    waiter: int
    handed: int         #: times that the lock went from the one to the other
    waited_ns: int      #: while the holder had it
    longest_ns: int     #: of one wait


class Gil(NamedTuple):
    """How threads shared Python's lock (xsprof report --gil)."""
    waits: int
    waited_ns: int
    open: int           #: of the waits, those that had no end
    doubtful: int       #: waits in no row: records were lost inside them
    left_out: int       #: records in no row: there are too many threads or locks
    threads: Table[GilThread]   #: the longest wait first
    pairs: Table[GilPair]       #: likewise


class Lost(NamedTuple):
    """Records that are missing from here."""
    ns: int
    count: Optional[int]  # type: ignore[assignment]        #: None: how many is not known
    unit: str                   #: records, or slots of 32 bytes
    pid: int                    #: 0: the kernel's tracer


class Process(NamedTuple):
    """A process that was recorded."""
    producer: int
    pid: int
    name: str
    how: str                    #: how it ended: exited, killed, exec, vanished, running, unknown
    status: int                 #: exit status or signal
    exit_ns: Optional[int]
    records: int
    lost_records: int
    lost_slots: int
    facts: Dict[str, str]


class Thread(NamedTuple):
    """A thread with records."""
    producer: int
    pid: int
    tid: int
    name: str
    records: int
    first_ns: int
    last_ns: int


class Kernel(NamedTuple):
    """How many events of a kind the kernel's tracer has."""
    event: str
    count: int  # type: ignore[assignment]
