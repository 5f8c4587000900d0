# SPDX-License-Identifier: LGPL-2.1-only
"""Captures as tables: what xsprof report, info and dump say, for programs.

A capture is read once, when a table is first asked for; what is in no table is not kept. Times are
nanoseconds of CLOCK_MONOTONIC of the recorded machine.
"""
import collections
import ctypes
import os
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Tuple,
                    overload)

from . import _argument, _lib, _tool, _trace
from ._reader import Reader, Tables
from ._steps import named_steps, optimizer_steps
from ._sums import ENDS, Sums
from .tables import (Allocation, Counter, Flow, Gil, GilPair, GilThread, Gpu, Instant, Kernel, Lost,
                     Op, Process, Range, Sample, Step, Table, Thread, framed)

if TYPE_CHECKING:
    from typing import Literal      # Python 3.8

    from . import profiler

BATCH = 1024

_HOW = ("unknown", "exited", "killed", "exec", "vanished", "running")
_CLOCKS = ("none", "tsc", "cntvct", "mono_raw")


class Capture:
    """A capture file, or the ring file of a process: xsprof.open(path) makes one.

    Each table is a list of named tuples; with as_frame=True it is a pandas.DataFrame. Use it in a
    "with", or close() it: that frees the library's memory. The tables that it gave stay valid; it
    gives no more then.
    """

    def __init__(self, path: Any, memory: int = 0) -> None:
        # For close(), if what follows raises.
        self._handle = ctypes.c_void_p()
        if not isinstance(path, (str, bytes)) and not hasattr(type(path), "__fspath__"):
            raise TypeError("xsprof: open(): path: expected a str or os.PathLike, not {}".format(
                _argument.shown(path)))
        _argument.whole("open", "memory", memory)
        if not 0 <= memory < 1 << 64:
            raise ValueError("xsprof: open(): memory: expected a number of bytes, not {}".format(
                memory))
        self.path = os.fspath(path)
        self.warnings: List[str] = []
        self._tables: Optional[Tables] = None
        self._ended = False
        self._words: Dict[Any, str] = {}
        say = self.warnings.append
        self._warn = _trace.Options.Warn(lambda data, said: say(_lib.text(said)))
        options = _trace.Options(size=ctypes.sizeof(_trace.Options), memory=memory,
                                 warn=self._warn)
        err = _trace.library.xsprof_trace_open(os.fsencode(self.path), options, self._handle)
        if err < 0:
            raise _lib.error(err, "open", said=_lib.text(_trace.quick.xsprof_trace_error(None)))

    def close(self) -> None:
        """Free what the library has of it."""
        if self._handle:
            _trace.quick.xsprof_trace_close(self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self) -> "Capture":
        return self

    def __exit__(self, *of: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def __repr__(self) -> str:
        return "xsprof.open({!r})".format(self.path)

    # ---- tables -------------------------------------------------------------------------------

    @overload
    def ops(self, by: str = "name", as_frame: "Literal[False]" = False) -> Table[Op]: ...

    @overload
    def ops(self, by: str = "name", *, as_frame: bool) -> Any: ...

    @overload
    def ops(self, by: str, as_frame: bool) -> Any: ...

    def ops(self, by: str = "name", as_frame: bool = False) -> Any:
        """The sums of all ranges by name and category, the largest total first, as xsprof report
        has them.

        by: "name", or "process" or "thread": each has rows of its own then.
        """
        if by not in ("name", "process", "thread"):
            raise ValueError("xsprof: ops(by={!r}): expected name, process or thread".format(by))
        sums: Any = collections.OrderedDict()
        unsure = self._unsure()
        for r in self._read().whole:
            if (r.end == "open" and not r.uncertain and r.producer in unsure and
                    r.end_ns >= unsure[r.producer]):
                continue
            key = (r.name, r.category, r.producer if by != "name" else None,
                   r.tid if by == "thread" else None)
            if key not in sums:
                sums[key] = (Sums(), r)
            s = sums[key][0]
            s.count += 1
            s.how[ENDS.index(r.end)] += 1
            s.uncertain += r.uncertain
            if r.uncertain:
                continue
            s.total += 0 if r.recursive else r.duration_ns
            s.times.append(r.duration_ns)
            if r.self_ns is not None:
                s.own += r.self_ns
                s.nested += 1
        table = Table(Op, (s.row(r, by) for s, r in sums.values()))
        table.sort(key=lambda op: -op.total_ns)
        return self._give(table, as_frame)

    @overload
    def ranges(self, name: Optional[str] = None,
               as_frame: "Literal[False]" = False) -> Table[Range]: ...

    @overload
    def ranges(self, name: Optional[str] = None, *, as_frame: bool) -> Any: ...

    @overload
    def ranges(self, name: Optional[str], as_frame: bool) -> Any: ...

    def ranges(self, name: Optional[str] = None, as_frame: bool = False) -> Any:
        """Each range, ordered by begin; those of one name, if it is given."""
        rows = self._read().ranges
        if name is not None:
            rows = Table(Range, (r for r in rows if r.name == name))
        return self._give(rows, as_frame)

    @overload
    def steps(self, name: Optional[str] = None,
              as_frame: "Literal[False]" = False) -> Table[Step]: ...

    @overload
    def steps(self, name: Optional[str] = None, *, as_frame: bool) -> Any: ...

    @overload
    def steps(self, name: Optional[str], as_frame: bool) -> Any: ...

    def steps(self, name: Optional[str] = None, as_frame: bool = False) -> Any:
        """The steps of a training, as xsprof report --steps has them: those that the program told
        of (xsprof.step(), a profiler's steps); else each ends with its optimizer's step.

        With a name the ranges of that name are the steps.
        """
        if name is not None:
            rows = named_steps(self._read().ranges, name)
        else:
            rows = self._read().steps or optimizer_steps(self._read())
        return self._give(rows, as_frame)

    @framed
    def instants(self) -> Table[Instant]:
        """Each instant."""
        return self._read().instants

    @framed
    def counters(self) -> Table[Counter]:
        """Each value of each counter."""
        return self._read().counters

    @framed
    def flows(self) -> Table[Flow]:
        """Each begin, step and end of flows."""
        return self._read().flows

    @framed
    def allocations(self) -> Table[Allocation]:
        """Memory allocated and freed, as allocators of programs said."""
        return self._read().allocations

    @framed
    def gpu(self) -> Table[Gpu]:
        """What devices did, and calls of their runtimes (xsprof record --gpu)."""
        return self._read().gpu

    @framed
    def samples(self) -> Table[Sample]:
        """Where threads of Python were (xsprof record --python). If there are functions of C among
        them, the tool reads the capture once more and finds their names in their files.
        """
        t = self._read()
        if t.stacks_of_c:
            named = {(e["producer"], e["stack"]): tuple(e["frames"])
                     for e in _tool.events(self.path, "--category", "python")
                     if e["type"] == "sample" and "stack" in e}
            t.samples[:] = [s._replace(stack=named.get(of, s.stack))
                            for s, of in zip(t.samples, t.stacks_of_c)]
            t.stacks_of_c = []
        return t.samples

    def gil(self) -> Gil:
        """How threads shared Python's lock: what xsprof report --gil prints, with its tables
        threads and pairs. The capture is read once more for it, by the tool.
        """
        t = self._read()
        if not any(r.name in _trace.GIL for rows in (t.ranges, t.whole) for r in rows):
            return Gil(0, 0, 0, 0, 0, Table(GilThread), Table(GilPair))
        r = _tool.report(self.path, "--gil", "--limit", str(2 ** 32))
        threads = Table(GilThread, (GilThread(**row) for row in r.pop("threads")))
        pairs = Table(GilPair, (GilPair(**row) for row in r.pop("pairs")))
        return Gil(threads=threads, pairs=pairs, **r)

    @framed
    def lost(self) -> Table[Lost]:
        """Where records are missing."""
        return self._read().lost

    @framed
    def kernel(self) -> Table[Kernel]:
        """The kinds of events of the kernel tracer, with how many there are of each."""
        counts = self._read().kernel
        rows = (Kernel(name, count) for name, count in sorted(counts.items()))
        return Table(Kernel, rows)

    @framed
    def processes(self) -> Table[Process]:
        """The processes that were recorded, with what is known of each."""
        self._read()
        table = Table(Process)
        for p in self._producers():
            facts = self._facts(p.number)
            name = facts.get("exe", "").rsplit("/", 1)[-1]
            how = _HOW[p.how] if p.how < len(_HOW) else "unknown"
            table.append(Process(p.number, p.pid, name, how, p.status, p.exit_ns or None,
                                 p.records, p.lost_records, p.lost_slots, facts))
        return table

    @framed
    def threads(self) -> Table[Thread]:
        """The threads with records."""
        table = Table(Thread)
        for (producer, tid), (pid, records, first, last) in sorted(self._read().threads.items()):
            table.append(Thread(producer, pid, tid, self._thread(producer, tid), records, first,
                                last))
        return table

    # ---- facts --------------------------------------------------------------------------------

    def info(self) -> Dict[str, Any]:
        """Facts about the capture: the host, its clock, how many records it has and lacks."""
        self._read()
        info = self._info()
        stats = self._read().stats
        facts = {field[0]: getattr(info, field[0]) for field in info._fields_
                 if field[0] not in ("size_of", "end")}
        facts["truncated"] = bool(info.truncated)
        facts["clock_kind"] = _CLOCKS[info.clock_kind] if info.clock_kind < 4 else "unknown"
        for field in stats._fields_:
            facts[field[0]] = getattr(stats, field[0])
        facts["host"] = self._pairs(lambda at, k, v: _trace.quick.xsprof_trace_host_fact_at(
            self._open(), at, k, v))
        return facts

    def notes(self) -> List[str]:
        """What the recorder noted about the recording."""
        notes: List[str] = []
        while True:
            note = _trace.quick.xsprof_trace_note(self._open(), len(notes))
            if note is None:
                return notes
            notes.append(_lib.text(note))

    def events(self) -> Iterator[Dict[str, Any]]:
        """Iterate over the records in time order, as dicts; nothing is kept.

        A record has "type" as a number (enum xsprof_rec_type and XSPROF_EV_*), "value" and "aux" as
        it has them. One iteration at a time; a table asked for meanwhile ends it.
        """
        # Not in the iterator, which would raise at its first step only.
        self._open()
        return self._each()

    def _each(self) -> Iterator[Dict[str, Any]]:
        self._rewind()
        for batch, count in self._batches():
            for ev in batch[:count]:
                row = {"ns": ev.ns, "type": ev.type, "producer": ev.producer, "pid": ev.pid,
                       "tid": _trace.thread_of(ev), "cpu": ev.cpu,
                       "name": self._name(ev.producer, ev.name), "aux": ev.aux,
                       "value": ev.value}
                if ev.rec_size > 32 and ev.type != _trace.EV_KERNEL:
                    row["args"] = self._args(ev)
                yield row

    def profile(self, pid: int = 0) -> "profiler.profile":
        """The capture, or one process of it, as a profile that is over: with events(),
        key_averages() and exports, as xsprof.profile() has them.
        """
        from .profiler import of_capture
        _argument.whole("profile", "pid", pid)
        # In a container a process knows itself by another pid, which the events are found by too.
        known = sorted({0} | {p.pid for p in self._producers()})
        made = of_capture(self.path, pid) if 0 <= pid < 1 << 32 else None
        if made is None or (pid not in known and not made.events()):
            raise ValueError("xsprof: {}: profile(): pid: no process {} in the capture: it has "
                             "{}".format(self.path, pid, ", ".join(map(str, known[1:])) or "none"))
        return made

    # ---- reading ------------------------------------------------------------------------------

    @staticmethod
    def _give(table: Table[Any], as_frame: bool) -> Any:
        return table.to_pandas() if as_frame else table

    def _open(self) -> Any:
        if not self._handle:
            raise ValueError("xsprof: {}: the capture is closed: open it again".format(self.path))
        return self._handle

    def _check(self, err: int) -> None:
        if err < 0:
            said = _lib.text(_trace.quick.xsprof_trace_error(self._handle))
            raise _lib.error(err, self.path, said=said)

    def _rewind(self) -> None:
        self._check(_trace.library.xsprof_trace_rewind(self._open()))

    def _batches(self) -> Iterator[Tuple[Any, int]]:
        batch = (_trace.Event * BATCH)()
        while True:
            count = _trace.library.xsprof_trace_next_batch(self._open(), batch, BATCH)
            self._check(count)
            if not count:
                return
            yield batch, count

    def _info(self) -> Any:
        info = _trace.Info(size_of=ctypes.sizeof(_trace.Info))
        self._check(_trace.quick.xsprof_trace_get_info(self._open(), info))
        return info

    def _producers(self) -> Iterator[Any]:
        for number in range(self._info().producers):
            producer = _trace.Producer()
            self._check(_trace.quick.xsprof_trace_get_producer(self._open(), number, producer))
            yield producer

    def _unsure(self) -> Dict[int, int]:
        """When processes ended of which it is known only that they ended about then: how long what
        was open there took is not known."""
        return {p.number: p.exit_ns for p in self._producers() if p.exit_within_ns}

    def _pairs(self, at: Callable[[int, Any, Any], int]) -> Dict[str, str]:
        facts: Dict[str, str] = {}
        key, value = ctypes.c_char_p(), ctypes.c_char_p()
        number = 0
        while at(number, key, value) == 0:
            facts[_lib.text(key.value)] = _lib.text(value.value)
            number += 1
        return facts

    def _facts(self, producer: int) -> Dict[str, str]:
        return self._pairs(lambda at, k, v: _trace.quick.xsprof_trace_fact_at(
            self._open(), producer, at, k, v))

    def _word(self, what: str, producer: int, number: int) -> str:
        key = (what, producer, number)
        word = self._words.get(key)
        if word is None:
            function = getattr(_trace.quick, "xsprof_trace_" + what)
            word = _lib.text(function(self._open(), producer, number))
            # What the capture does not have yet may come with a later chunk.
            if word != "?":
                self._words[key] = word
        return word

    def _name(self, producer: int, name: int) -> str:
        return self._word("name", producer, name) if name else "-"

    def _category(self, producer: int, name: int) -> str:
        return self._word("category", producer, name)

    def _thread(self, producer: int, tid: int) -> str:
        return _lib.text(_trace.quick.xsprof_trace_thread(self._open(), producer, tid))

    def _value(self, producer: int, arg: Any) -> Any:
        if arg.type == _trace.ARG_I64:
            return arg.u.i64
        if arg.type in (_trace.ARG_U64, _trace.ARG_PTR):
            return arg.u.u64
        if arg.type == _trace.ARG_F64:
            return arg.u.f64
        if arg.type == _trace.ARG_BOOL:
            return bool(arg.u.u64)
        if arg.type == _trace.ARG_NAME:
            return self._name(producer, arg.u.u64 & 0xffffffff)
        if arg.type == _trace.ARG_STR:
            return ctypes.string_at(arg.str, arg.len)
        room = ctypes.create_string_buffer(512)
        size = _trace.quick.xsprof_trace_arg_text(self._open(), producer, arg, room, len(room))
        return _lib.text(room.raw[:size])

    def _args(self, ev: Any, into: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """The arguments of a record; long strings come in pieces, also of the next records."""
        values: Dict[str, Any] = {} if into is None else into
        at, arg = ctypes.c_size_t(), _trace.Arg()
        while _trace.quick.xsprof_trace_args(ev, at, arg):
            key = self._name(ev.producer, arg.key)
            value = self._value(ev.producer, arg)
            if isinstance(value, bytes):
                value = _lib.text(value)
                if arg.flags & _trace.ARGF_CONT:
                    value = str(values.get(key, "")) + value
            values[key] = value
        return values

    def _read(self) -> Tables:
        self._open()
        if self._tables is None:
            tables = Tables()
            self._rewind()
            Reader(self, tables).read()
            self._tables = tables
        return self._tables


def open(path: Any = "xsprof.data", memory: int = 0) -> Capture:
    """Open a capture of xsprof record (or snapshot), or a ring file.

        with xsprof.open("xsprof.data") as capture:
            for op in capture.ops():
                print(op.name, op.count, op.total_ns)
            frame = capture.ranges(as_frame=True)

    memory: bytes that the library may use for what it decodes, 0 for its default. What is damaged
    or cut is read as far as it goes; "warnings" of the capture says what was wrong.
    """
    return Capture(path, memory)
