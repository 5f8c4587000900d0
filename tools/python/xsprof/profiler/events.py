# SPDX-License-Identifier: LGPL-2.1-only
"""Events of a profile and their sums, by the names of torch.autograd.profiler_util."""
import collections
import itertools
import json
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import _table

CPU = 0     #: DeviceType.CPU
BACKWARD = 1    #: RecordScope.BACKWARD_FUNCTION


class Interval(NamedTuple):
    """A time, in microseconds from the begin of the profile."""
    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it is."""
        return self.end - self.start


class Kernel(NamedTuple):
    """What an op had a device do."""
    name: str
    device: int
    duration: float


class _Times:
    """What events and their sums have in common: averages, and times as text."""
    count = 0
    cpu_time_total: Any = 0.0
    device_time_total: Any = 0.0
    self_cpu_time_total: Any = 0.0
    self_device_time_total: Any = 0.0

    @property
    def cpu_time(self) -> float:
        """Average time on the host, us."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """Average time on devices, us."""
        return self.device_time_total / self.count if self.count else 0.0

    cpu_time_str = property(lambda self: _table.time_text(self.cpu_time))
    device_time_str = property(lambda self: _table.time_text(self.device_time))
    cpu_time_total_str = property(lambda self: _table.time_text(self.cpu_time_total))
    device_time_total_str = property(lambda self: _table.time_text(self.device_time_total))
    self_cpu_time_total_str = property(lambda self: _table.time_text(self.self_cpu_time_total))
    self_device_time_total_str = property(
        lambda self: _table.time_text(self.self_device_time_total))
    # By their names before they were called those of a device.
    cuda_time = property(lambda self: self.device_time)
    cuda_time_total = property(lambda self: self.device_time_total)
    self_cuda_time_total = property(lambda self: self.self_device_time_total)
    cuda_memory_usage = property(lambda self: self.device_memory_usage)
    self_cuda_memory_usage = property(lambda self: self.self_device_memory_usage)


class FunctionEvent(_Times):
    """One op, annotation or activity, with what it is inside and what is inside it.

    Times are microseconds. thread and fwd_thread are the system's ids of threads; module_hierarchy,
    finished and uncertain are not in torch.profiler: the modules as one text, whether it had ended
    when the profile did, and whether records were lost inside.
    """

    def __init__(self, id: int, name: str, thread: int, start_us: float, end_us: float,
                 fwd_thread: int = 0, input_shapes: Any = None, stack: Any = None, scope: int = 0,
                 use_device: Optional[str] = None, cpu_memory_usage: int = 0,
                 device_memory_usage: int = 0, is_async: bool = False, sequence_nr: int = -1,
                 device_type: int = CPU, device_index: int = 0,
                 device_resource_id: Optional[int] = None, flops: int = 0,
                 trace_name: Optional[str] = None, concrete_inputs: Any = None,
                 kwinputs: Any = None, is_user_annotation: bool = False, external_id: int = 0,
                 linked_correlation_id: int = 0, structured_input_shapes: Any = None,
                 structured_input_strides: Any = None, input_dtypes: Any = None,
                 module_hierarchy: str = "", finished: bool = True,
                 uncertain: bool = False) -> None:
        self.id = id
        self.node_id = -1
        self.name = name
        self.overload_name = ""
        self.trace_name = trace_name
        self.time_range = Interval(start_us, end_us)
        self.thread = thread
        self.fwd_thread = fwd_thread
        self.kernels: List[Kernel] = []
        self.count = 1
        self.cpu_children: List[FunctionEvent] = []
        self.cpu_parent: Optional[FunctionEvent] = None
        self.input_shapes = input_shapes if input_shapes is not None else []
        self.concrete_inputs = concrete_inputs if concrete_inputs is not None else []
        self.kwinputs = kwinputs if kwinputs is not None else {}
        self.structured_input_shapes = structured_input_shapes or []
        self.structured_input_strides = structured_input_strides or []
        self.input_dtypes = input_dtypes or []
        self.stack = stack if stack is not None else []
        self.module_hierarchy = module_hierarchy
        self.scope = scope
        self.use_device = use_device
        self.cpu_memory_usage = cpu_memory_usage
        self.device_memory_usage = device_memory_usage
        self.is_async = is_async
        self.is_remote = False
        self.sequence_nr = sequence_nr
        self.device_type = device_type
        self.device_index = device_index
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.is_legacy = False
        self.flops = flops
        self.is_user_annotation = is_user_annotation
        self.external_id = external_id
        self.linked_correlation_id = linked_correlation_id
        self.finished = finished
        self.uncertain = uncertain

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """It had a device do this."""
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: "FunctionEvent") -> None:
        """A direct child."""
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: Optional["FunctionEvent"]) -> None:
        """What it is directly inside."""
        self.cpu_parent = parent

    def _own(self, name: str) -> Any:
        if self.is_async or self.device_type != CPU:
            return 0
        return getattr(self, name) - sum(getattr(c, name) for c in self.cpu_children)

    @property
    def key(self) -> str:
        """What key_averages() groups by."""
        return self.name

    @property
    def cpu_time_total(self) -> float:
        """Time on the host."""
        return self.time_range.elapsed_us() if self.device_type == CPU else 0

    @property
    def self_cpu_time_total(self) -> float:
        """Time on the host without its children's."""
        own: float = self._own("cpu_time_total")
        return own

    @property
    def device_time_total(self) -> float:
        """Time on devices."""
        if self.is_async:
            return 0
        if self.device_type != CPU:
            return self.time_range.elapsed_us()
        own = sum(k.duration for k in self.kernels)
        return own if self.is_legacy else own + sum(
            c.device_time_total for c in self.cpu_children)

    @property
    def self_device_time_total(self) -> float:
        """Time on devices without its children's."""
        if self.device_type != CPU:
            return self.device_time_total
        own: float = self._own("device_time_total")
        return own

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes of the host allocated less those freed, without its children's."""
        own: int = self._own("cpu_memory_usage")
        return own

    @property
    def self_device_memory_usage(self) -> int:
        """The same on devices."""
        own: int = self._own("device_memory_usage")
        return own

    def __repr__(self) -> str:
        return "<FunctionEvent {} start_us={} end_us={} thread={} input_shapes={}>".format(
            self.name, self.time_range.start, self.time_range.end, self.thread,
            self.input_shapes)


class FunctionEventAvg(_Times):
    """Sums over the events of one row of key_averages()."""
    _SUMS = ("cpu_time_total", "device_time_total", "self_cpu_time_total",
             "self_device_time_total", "cpu_memory_usage", "device_memory_usage",
             "self_cpu_memory_usage", "self_device_memory_usage", "count", "flops")
    _FIRST = ("key", "node_id", "is_async", "is_remote", "cpu_parent", "cpu_children",
              "overload_name", "input_shapes", "stack", "scope", "device_type", "is_legacy",
              "use_device", "is_user_annotation", "module_hierarchy")

    def __init__(self) -> None:
        self.key: Optional[str] = None
        self.stack: List[str] = []
        self.input_shapes: Any = []
        self.overload_name = ""
        for name in self._SUMS:
            setattr(self, name, 0)

    def add(self, other: Any) -> "FunctionEventAvg":
        """Add an event, or other sums, of the same key."""
        if self.key is None:
            for name in self._FIRST:
                setattr(self, name, getattr(other, name))
        for name in self._SUMS:
            setattr(self, name, getattr(self, name) + (getattr(other, name) or 0))
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return "<FunctionEventAvg key={} count={} self_cpu_time={} cpu_time={}>".format(
            self.key, self.count, self.self_cpu_time_total_str, self.cpu_time_str)


class EventList(List[Any]):
    """Events, or their sums, with table(), key_averages() and exports."""

    def __init__(self, *args: Any, use_device: Optional[str] = None,
                 profile_memory: bool = False, with_flops: bool = False) -> None:
        super().__init__(*args)
        self._use_device = use_device
        self._profile_memory = profile_memory
        self._with_flops = with_flops

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        """Sum of the time on the host."""
        total: float = sum(event.self_cpu_time_total for event in self)
        return total

    def build_tree(self) -> None:
        """What torch.profiler makes of its events: an op that does nothing but call another one of
        its name is one event, and ops of a backward pass have the stacks of their forward ops."""
        self._merge()
        self._give_stacks()

    def _merge(self) -> None:
        gone = set()
        # Ordered by begin: parents come first, and their children are theirs then.
        for event in self:
            parent = event.cpu_parent
            if parent is None or parent.name != event.name or len(parent.cpu_children) != 1:
                continue
            parent.cpu_children = event.cpu_children
            parent.kernels = parent.kernels + event.kernels
            for child in event.cpu_children:
                child.set_cpu_parent(parent)
            gone.add(id(event))
        if gone:
            self[:] = [event for event in self if id(event) not in gone]

    def _give_stacks(self) -> None:
        backward: Dict[int, Optional[FunctionEvent]] = {}
        stacks: Dict[Tuple[int, int], List[str]] = {}
        for event in self:
            parent = event.cpu_parent
            inherited = backward.get(id(parent)) if parent is not None else None
            backward[id(event)] = event if event.scope == BACKWARD else inherited
            if backward[id(event)] is None and event.stack:
                stacks.setdefault((event.sequence_nr, event.thread), event.stack)
        for event in self:
            of = backward[id(event)]
            if of is not None:
                event.stack = stacks.get((of.sequence_nr, of.fwd_thread), [])

    def table(self, sort_by: Optional[str] = None, row_limit: int = 100,
              max_src_column_width: Optional[int] = 75,
              max_name_column_width: Optional[int] = 55,
              max_shapes_column_width: Optional[int] = 80, header: Optional[str] = None,
              top_level_events_only: bool = False, time_unit: Optional[str] = None) -> str:
        """The rows as text.

        sort_by: a number of theirs, as "self_cpu_time_total", "cpu_time_total", "cpu_memory_usage"
        or "count": the largest first. row_limit: -1 for all. time_unit: "s", "ms" or "us" for all.
        """
        return _table.build(
            self, sort_by, row_limit, max_src_column_width, max_name_column_width,
            max_shapes_column_width, header, top_level_events_only, time_unit,
            profile_memory=self._profile_memory, with_flops=self._with_flops)

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> "EventList":
        """Sums by name, and by shapes of inputs or the innermost frames of stacks where asked for.
        """
        rows: Any = collections.OrderedDict()
        for event in self:
            key = (event.key, event.node_id, event.device_type, event.is_legacy,
                   event.is_user_annotation,
                   event.overload_name if group_by_overload_name else None,
                   str(event.input_shapes) if group_by_input_shapes else None,
                   tuple(event.stack[:group_by_stack_n]) if group_by_stack_n > 0 else None)
            rows.setdefault(key, FunctionEventAvg()).add(event)
        averages = EventList(rows.values(), use_device=self._use_device,
                             profile_memory=self._profile_memory, with_flops=self._with_flops)
        for row in averages:
            row.stack = row.stack[:group_by_stack_n]
            if not group_by_input_shapes:
                row.input_shapes = ""
            if not group_by_overload_name:
                row.overload_name = ""
        return averages

    def total_average(self) -> FunctionEventAvg:
        """The sums over all of them."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: str) -> None:
        """Write what torch.profiler writes of its events: begin and duration of each, and arrows to
        what they launched. That of the profile has more.
        """
        lines = []
        arrows = itertools.count()
        for event in self:
            if not isinstance(event, FunctionEvent):
                raise AttributeError("xsprof: sums have no times: export events() in place of "
                                     "key_averages()")
            name = event.trace_name or event.name
            where = {"name": name, "ts": event.time_range.start, "tid": event.thread,
                     "pid": "CPU functions", "args": {}}
            lines.append(dict(where, ph="X", dur=event.time_range.elapsed_us()))
            lines += [dict(where, ph="s", id=next(arrows),
                           cat="cpu_to_" + (self._use_device or "cuda")) for _ in event.kernels]
        with open(path, "w") as f:
            json.dump(lines, f)

    @staticmethod
    def supported_export_stacks_metrics() -> List[str]:
        """What export_stacks() takes as metric."""
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total",
                "self_privateuse1_time_total"]

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write folded stacks, "outer;inner 12" (us), for flame graph tools."""
        allowed = self.supported_export_stacks_metrics()
        if metric not in allowed:
            raise ValueError("xsprof: metric {!r}: expected one of {}".format(
                metric, ", ".join(allowed)))
        name = metric if metric == allowed[0] else "self_device_time_total"
        clean = str.maketrans(" ;\t\n", "____")
        with open(path, "w") as f:
            for event in self:
                value = int(getattr(event, name))
                if event.stack and value > 0:
                    frames = (frame.translate(clean) for frame in reversed(event.stack))
                    f.write("{} {}\n".format(";".join(frames), value))
