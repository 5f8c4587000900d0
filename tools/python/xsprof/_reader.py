# SPDX-License-Identifier: LGPL-2.1-only
"""One pass over the events of a capture, into its tables."""
import collections
import ctypes
import struct
from typing import Any, Dict, List, Optional, Tuple

from . import _lib, _trace
from ._join import Join
from .tables import Allocation, Counter, Flow, Gpu, Instant, Lost, Range, Sample, Step, Table

_ENDS = ("ended", "open", "cut")
_SCOPES = ("thread", "process", "global")
_KINDS = {_trace.BEGIN: "begin", _trace.COMPLETE: "complete", _trace.SPAN: "span",
          _trace.ASYNC_BEGIN: "async", _trace.GPU: "gpu", _trace.OP: "begin"}
_GPU_KINDS = ("unknown", "kernel", "memcpy", "memset", "sync", "runtime", "driver", "overhead",
              "graph", "unrecorded", "alloc", "free", "node", "metrics", "custom", "fault")
_HOWS = ("missed", "runs", "native", "lock", "off")
_FLOWS = {_trace.FLOW_START: "begin", _trace.FLOW_STEP: "step", _trace.FLOW_END: "end"}


def _known(number: int) -> int:
    """A device or a stream; -1: none."""
    return -1 if number == 0xffffffff else number


class Tables:
    """What one pass over the events has found."""

    def __init__(self) -> None:
        self.ranges = Table(Range)
        #: those of ranges, but what is in parts as one
        self.whole: List[Range] = []
        # Any: tuples with numbers of names become rows at the end.
        self.instants: Table[Any] = Table(Instant)
        self.counters: Table[Any] = Table(Counter)
        self.steps: Table[Any] = Table(Step)
        self.flows: Table[Any] = Table(Flow)
        self.allocations: Table[Any] = Table(Allocation)
        self.gpu: Table[Any] = Table(Gpu)
        self.samples: Table[Any] = Table(Sample)
        #: producer and number of each sample's stack, if a stack has functions of C
        self.stacks_of_c: List[Tuple[int, int]] = []
        self.lost = Table(Lost)
        self.threads: Dict[Tuple[int, int], List[int]] = {}
        self.kernel: Any = collections.Counter()
        self.stats = _trace.PairerStats()


class Reader:
    """One pass over the events."""

    def __init__(self, capture: Any, tables: Tables) -> None:
        self.capture = capture
        self.tables = tables
        self.args: Dict[Any, Dict[str, Any]] = {}
        self.last: Dict[Tuple[int, int], Dict[str, Any]] = {}
        self.found: List[Tuple[Any, ...]] = []
        self.open_steps: Dict[Any, int] = {}
        self.stacks: Dict[Tuple[int, int], Tuple[Tuple[str, ...], int]] = {}
        self.has_c = False
        self.join = Join()
        self.raised: Optional[BaseException] = None

    def emit(self, data: Any, pointer: Any) -> None:
        """A range ended: its names are looked up when all of them are known."""
        try:
            r = pointer.contents
            args = self.args.pop((r.producer, r.tid, r.name, r.begin_ns), None)
            found = (r.begin_ns, r.end_ns, r.self_ns, r.producer, r.pid, r.tid, r.name, r.depth,
                     r.kind, r.how, r.id, r.flags, args)
            self.found.append(found)
            self.join.range(found)
        except BaseException as err:  # pylint: disable=broad-except
            # The library cannot pass it on.
            self.raised = err

    def check(self, err: int) -> None:
        if self.raised is not None:
            raise self.raised
        self.capture._check(err)

    def read(self) -> None:
        emit = _trace.Emit(self.emit)
        pairer = ctypes.c_void_p()
        quick = _trace.quick
        self.capture._check(quick.xsprof_pairer_new(self.capture._open(), emit, None, pairer))
        size = ctypes.sizeof(_trace.Event)
        try:
            for batch, count in self.capture._batches():
                base = ctypes.addressof(batch)
                for i in range(count):
                    ev = batch[i]
                    if ev.producer != _trace.NO_PRODUCER:
                        # First, so that a begin's arguments are there when its range ends.
                        self.event(ev)
                        self.join.event(ev)
                        self.check(quick.xsprof_pairer_event(pairer, base + i * size))
                    else:
                        self.kernel(ev)
            self.check(quick.xsprof_pairer_finish(pairer))
            quick.xsprof_pairer_get_stats(pairer, self.tables.stats)
        finally:
            quick.xsprof_pairer_free(pairer)
        self.finish()

    def kernel(self, ev: Any) -> None:
        if ev.type == _trace.EV_LOST:
            self.lost(ev)
        elif ev.type == _trace.EV_KERNEL:
            self.tables.kernel[ev.name] += 1

    def kernel_name(self, number: int) -> str:
        kind = _trace.quick.xsprof_trace_kernel_event(self.capture._open(), number)
        if not kind:
            return "event {}".format(number)
        return "{}:{}".format(_lib.text(kind.contents.system), _lib.text(kind.contents.name))

    def lost(self, ev: Any) -> None:
        unknown = ev.flags & _trace.EVF_UNKNOWN
        self.tables.lost.append(Lost(
            ev.ns, None if unknown else ev.value,
            "slots" if ev.flags & _trace.EVF_SLOTS else "records", ev.pid))

    def event(self, ev: Any) -> None:
        kind, of = ev.type, (ev.producer, _trace.thread_of(ev))
        if kind >= _trace.EV_LOST:
            if kind == _trace.EV_LOST:
                self.lost(ev)
            return
        seen = self.tables.threads.get(of)
        if seen is None:
            self.tables.threads[of] = seen = [ev.pid, 0, ev.ns, ev.ns]
        if kind == _trace.ARGS:
            into = self.last.get(of)
            if into is not None:
                self.capture._args(ev, into)
            return
        seen[1] += 1
        seen[3] = ev.ns
        args: Dict[str, Any] = {}
        if ev.rec_size > 32:
            args = self.capture._args(ev)
        if kind in (_trace.BEGIN, _trace.OP):
            # Arguments in the next records are added to it.
            self.last[of] = args
            self.args[ev.producer, ev.tid, ev.name, ev.ns] = args
            return
        self.last.pop(of, None)
        handler = self.HANDLERS.get(kind)
        if handler:
            handler(self, ev, args)

    def _spread(self, ev: Any, args: Dict[str, Any]) -> None:
        if args:
            self.args[ev.producer, ev.tid, ev.name, ev.begin_ns] = args

    def _instant(self, ev: Any, args: Dict[str, Any]) -> None:
        self.last[ev.producer, ev.tid] = args
        scope = _SCOPES[ev.aux] if ev.aux < len(_SCOPES) else "thread"
        self.tables.instants.append((ev.ns, ev.producer, ev.name, scope, ev.pid, ev.tid, args))

    def _counter(self, ev: Any, args: Dict[str, Any]) -> None:
        raw = ev.value.to_bytes(8, "little")
        value = struct.unpack("<q" if ev.type == _trace.COUNTER_I64 else "<d", raw)[0]
        self.tables.counters.append((ev.ns, ev.producer, ev.name, value, ev.pid, ev.tid))

    def _step(self, ev: Any, args: Dict[str, Any]) -> None:
        steps = self.tables.steps
        before = self.open_steps.get((ev.producer, ev.tid, ev.name))
        if before is not None:
            steps[before][3] = ev.ns
        self.open_steps[ev.producer, ev.tid, ev.name] = len(steps)
        steps.append([ev.producer, ev.name, ev.ns, None, ev.value, ev.pid, ev.tid])

    def _flow(self, ev: Any, args: Dict[str, Any]) -> None:
        self.tables.flows.append((ev.ns, ev.producer, ev.name, _FLOWS[ev.type], ev.value, ev.pid,
                                  ev.tid))

    def _memory(self, ev: Any, args: Dict[str, Any]) -> None:
        if ev.rec_size < 64:
            return
        mem = _trace.Mem.from_address(ev.rec + 32)
        size = mem.bytes if ev.type == _trace.ALLOC else -mem.bytes
        self.tables.allocations.append((
            ev.ns, ev.producer, ev.name, ev.value, size, ev.aux >> 16, ev.aux & 0xffff,
            mem.total_allocated, mem.total_reserved, ev.pid, ev.tid))

    def _gpu(self, ev: Any, args: Dict[str, Any]) -> None:
        kind = _GPU_KINDS[ev.aux if ev.aux < len(_GPU_KINDS) else 0]
        if kind != "metrics":  # a sample of counters is no range
            self._spread(ev, args)
        if ev.rec_size < 96:
            return
        gpu = _trace.GpuRecord.from_address(ev.rec + 32)
        self.tables.gpu.append((
            ev.producer, ev.name, kind, ev.begin_ns, ev.end_ns,
            max(0, ev.end_ns - ev.begin_ns), _known(gpu.device), gpu.context, _known(gpu.stream),
            gpu.bytes, ev.value, gpu.graph, gpu.graph_node, ev.pid, gpu.thread or ev.tid, args))

    def _sample(self, ev: Any, args: Dict[str, Any]) -> None:
        sample = _trace.SampleRecord()
        if _trace.quick.xsprof_trace_sample(ev, sample) and sample.how < len(_HOWS):
            self.tables.samples.append((
                ev.ns, ev.producer, ev.name, sample.line, _HOWS[sample.how], sample.missed,
                sample.stack, ev.pid, sample.thread))

    HANDLERS: Dict[int, Any] = {
        _trace.COMPLETE: _spread, _trace.SPAN: _spread, _trace.GPU: _gpu,
        _trace.INSTANT: _instant, _trace.COUNTER_I64: _counter, _trace.COUNTER_F64: _counter,
        _trace.STEP: _step, _trace.FLOW_START: _flow, _trace.FLOW_STEP: _flow,
        _trace.FLOW_END: _flow, _trace.ALLOC: _memory, _trace.FREE: _memory,
        _trace.SAMPLE: _sample,
    }

    def _stack(self, producer: int, stack: int) -> Tuple[Tuple[str, ...], int]:
        """Its functions, innermost first, and how many are left out; kept by its number."""
        key = (producer, stack)
        if key not in self.stacks:
            nr, left = ctypes.c_size_t(), ctypes.c_uint32()
            frames = _trace.quick.xsprof_trace_stack(self.capture._open(), producer, stack, nr,
                                                     left)
            frames = frames[:nr.value] if frames else []
            self.stacks[key] = (tuple(
                self.capture._name(producer, frame & 0xffffffff)
                if frame & _trace.FRAME_NAMED else "0x{:x}".format(frame)
                for frame in frames), left.value)
            self.has_c |= not all(frame & _trace.FRAME_NAMED for frame in frames)
        return self.stacks[key]

    def _sampled(self, ns: int, producer: int, name: int, line: int, how: str, missed: int,
                 stack: int, pid: int, tid: int) -> Sample:
        frames, left = self._stack(producer, stack) if stack else ((), 0)
        c = self.capture
        return Sample(ns=ns, function="" if how == "missed" else c._name(producer, name),
                      line=line, how=how, missed=missed if how == "missed" else 0, stack=frames,
                      left_out=left, pid=pid, tid=tid, thread=c._thread(producer, tid))

    def _range(self, r: Tuple[Any, ...]) -> Range:
        (begin, end, own, producer, pid, tid, name, depth, kind, how, number, flags, args) = r
        nests = kind in (_trace.BEGIN, _trace.OP, _trace.COMPLETE)
        c = self.capture
        return Range(
            name=c._name(producer, name), category=c._category(producer, name), begin_ns=begin,
            end_ns=end, duration_ns=max(0, end - begin), self_ns=own if nests else None, pid=pid,
            tid=tid, thread=c._thread(producer, tid), depth=depth,
            kind=_KINDS.get(kind, "begin"), end=_ENDS[how % 3], id=number,
            uncertain=bool(flags & _trace.UNCERTAIN), recursive=bool(flags & _trace.RECURSIVE),
            continued=bool(flags & _trace.CONTINUED), args=args or {}, producer=producer)

    def finish(self) -> None:
        """Names, which may have come later than the records that have them."""
        t, c = self.tables, self.capture
        self.found.sort(key=lambda r: (r[0], r[7]))
        made = {id(r): self._range(r) for r in self.found}
        t.ranges.extend(made.values())
        self.join.finish()
        t.whole = [made.get(id(r)) or self._range(r) for r in self.join.whole]
        t.instants[:] = [Instant(ns, c._name(p, n), c._category(p, n), *rest)
                         for ns, p, n, *rest in t.instants]
        t.counters[:] = [Counter(ns, c._name(p, n), c._category(p, n), *rest)
                         for ns, p, n, *rest in t.counters]
        t.steps[:] = [Step(c._name(p, n), number, begin, end, end and end - begin, pid, tid)
                      for p, n, begin, end, number, pid, tid in t.steps]
        t.flows[:] = [Flow(ns, c._name(p, n), *rest) for ns, p, n, *rest in t.flows]
        t.gpu[:] = [Gpu(c._name(p, n), *rest) for p, n, *rest in t.gpu]
        stacks = [(s[1], s[6]) for s in t.samples]
        t.samples[:] = [self._sampled(*s) for s in t.samples]
        if self.has_c:
            t.stacks_of_c = stacks
        t.kernel = {self.kernel_name(kind): count for kind, count in t.kernel.items()}
        t.allocations[:] = [Allocation(ns, c._name(p, n), *rest)
                            for ns, p, n, *rest in t.allocations]
