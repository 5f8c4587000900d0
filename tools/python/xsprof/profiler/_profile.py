# SPDX-License-Identifier: LGPL-2.1-only
"""xsprof.profile: the class of torch.profiler, by its names and with its schedules."""
import json
import uuid
import warnings
from typing import Any, Callable, Dict, Iterable, Optional, Tuple

from .. import _argument
from . import _result, _session
from ._plan import ExecutionTraceObserver, ProfilerAction, ProfilerActivity
from ._plan import activities as parse_activities
from .events import EventList, FunctionEventAvg

STEP = "ProfilerStep#"


class Cycle:
    """What one cycle has recorded: what torch.profiler has as profile.profiler."""

    def __init__(self, memory: bool, flops: bool, stack: bool, device: Optional[str],
                 before: Optional[EventList]) -> None:
        self._memory, self._flops, self._stack = memory, flops, stack
        self.use_device = device
        self._before = before
        self._events: Optional[EventList] = None
        self.result: Optional[_result.Result] = None

    def need(self) -> _result.Result:
        """Its result."""
        if self.result is None:
            raise RuntimeError("xsprof: the profile has not ended: call this after its 'with' "
                               "block, after stop() or in on_trace_ready")
        return self.result

    @property
    def function_events(self) -> EventList:
        """Its events, made when they are first asked for."""
        if self._events is None:
            self._events = self.need().events(
                profile_memory=self._memory, with_flops=self._flops, use_device=self.use_device,
                with_stack=self._stack)
            if self._before is not None:
                self._events.extend(self._before)
                self._before = None
        return self._events

    @property
    def self_cpu_time_total(self) -> float:
        """Sum of the time on the host."""
        return self.function_events.self_cpu_time_total

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """Sums by name."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n,
                                                 group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """Sums over all events."""
        return self.function_events.total_average()

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The events as text."""
        return self.function_events.table(*args, **kwargs)


class _KinetoProfile:
    """A profile without a schedule: prepare_trace(), start_trace(), stop_trace()."""

    def __init__(self, *, activities: Optional[Iterable[Any]] = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False,
                 with_flops: bool = False, with_modules: bool = False,
                 experimental_config: Any = None, execution_trace_observer: Any = None,
                 acc_events: bool = False,
                 custom_trace_id_callback: Optional[Callable[[], str]] = None,
                 post_processing_timeout_s: Optional[float] = None) -> None:
        self.activities = parse_activities(activities)
        _argument.function_of("profile", "custom_trace_id_callback", custom_trace_id_callback,
                              "a function that returns a str")
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.profiler: Optional[Cycle] = None
        self.preset_metadata: Dict[str, str] = {}
        self._trace_id = ""
        self._session: Optional[_session.Session] = None
        devices = self.activities - {ProfilerActivity.CPU}
        self.use_device: Optional[str] = None
        if ProfilerActivity.CUDA in devices:
            self.use_device = "cuda"
            devices.remove(ProfilerActivity.CUDA)
        if devices:
            warnings.warn(
                "xsprof: profile() has no activities of {}: 'xsprof record --gpu' records what "
                "devices do".format(", ".join(sorted(a.name for a in devices))), stacklevel=3)
        _session.collector.attach()

    def start(self) -> None:
        """Begin to record."""
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        """End it."""
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Do the slow part of start_trace()."""
        before = None
        if self.acc_events and self.profiler is not None and self.profiler.result is not None:
            before = self.profiler.function_events
        self.profiler = Cycle(self.profile_memory, self.with_flops, self.with_stack,
                              self.use_device, before)
        self._trace_id = (self.custom_trace_id_callback() if self.custom_trace_id_callback
                          else uuid.uuid4().hex.upper())
        self._session = _session.Session(
            _session.bits(self.activities), self.record_shapes, self.profile_memory,
            self.with_stack, self.with_flops, self.with_modules, self.experimental_config,
            self._trace_id)
        self._session.prepare()

    def start_trace(self) -> None:
        """Begin to record what was prepared."""
        if self._session is None:
            raise AssertionError("xsprof: prepare_trace() comes before start_trace()")
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.start()
        self._session.begin()
        for key, value in self.preset_metadata.items():
            self.add_metadata_json(key, value)

    def stop_trace(self) -> None:
        """End it, and take what was recorded."""
        session, cycle = self._running()
        self._session = None
        cycle.result = session.end()
        observer = self.execution_trace_observer
        if observer is not None:
            observer.stop()
            if isinstance(observer, ExecutionTraceObserver) and observer.is_registered:
                cycle.result.save_execution_trace(observer.get_output_file_path())

    def _running(self) -> Tuple[_session.Session, Cycle]:
        """What is to be ended; the errors are torch.profiler's."""
        if self.profiler is None:
            raise AssertionError("xsprof: the profile was not started: call start() before stop()")
        if self._session is None:
            raise RuntimeError("xsprof: the profile has ended already: its 'with' block ends it, "
                               "or one stop()")
        return self._session, self.profiler

    # ---- what was recorded --------------------------------------------------------------------

    def _cycle(self) -> Cycle:
        if self.profiler is None:
            raise AssertionError("xsprof: the profile has not been started: use it in a 'with', or "
                                 "call start() and stop()")
        return self.profiler

    def events(self) -> EventList:
        """Each event."""
        return self._cycle().function_events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """Sums by name, and by shapes of inputs (record_shapes=True) or the innermost frames of
        stacks (with_stack=True) where asked for; .table() prints them.
        """
        return self._cycle().key_averages(group_by_input_shape, group_by_stack_n,
                                          group_by_overload_name)

    def export_chrome_trace(self, path: Any) -> None:
        """Write the trace of the last cycle for Perfetto, TensorBoard and other viewers; compressed
        if the name ends in .gz.
        """
        self._cycle().need().save(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write folded stacks for flame graph tools; needs with_stack=True."""
        if not self.with_stack:
            raise AssertionError("xsprof: export_stacks() needs profile(with_stack=True)")
        self.events().export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: Optional[str] = None) -> None:
        """Write memory by category over time: .json, .json.gz or .raw.json.gz; needs
        record_shapes, profile_memory and with_stack.

        device: "cpu" (the default), "cuda:0", ...
        """
        missing = [name + "=True" for name in ("record_shapes", "profile_memory", "with_stack")
                   if not getattr(self, name)]
        if missing:
            raise ValueError("xsprof: export_memory_timeline() needs profile({})".format(
                ", ".join(missing)))
        if path.endswith(".html"):
            raise ValueError("xsprof: {}: a timeline is written as .json, .json.gz or "
                             ".raw.json.gz".format(path))
        kinds = {"cpu": 0, "cuda": 1, "xpu": 12, "privateuse1": 20}
        kind, _, index = (device or "cpu").partition(":")
        if kind not in kinds:
            raise ValueError("xsprof: device {!r}: expected cpu, cuda:N, xpu:N or "
                             "privateuse1:N".format(device))
        self._cycle().need().save_memory_timeline(path, kinds[kind] << 16 | int(index or 0))

    def export_memory_snapshot(self, path: Any) -> None:
        """Write a snapshot for PyTorch's memory viewer; needs profile_memory=True."""
        self._cycle().need().save_memory_snapshot(path)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[Any]) -> None:
        """Suspend the recording of activities, or resume it."""
        _session.toggle(enable, _session.bits(parse_activities(activities)))

    def add_metadata(self, key: str, value: str) -> None:
        """Add a key with a text to the trace."""
        self.add_metadata_json(key, json.dumps(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a key with a value in JSON to the trace."""
        _session.add_metadata(key, value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """The same for traces that begin later."""
        self.preset_metadata[key] = value

    def get_trace_id(self) -> str:
        """The id of the trace of this cycle."""
        return self._trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """What makes the ids of later cycles."""
        self.custom_trace_id_callback = callback


_NONE, _WARMUP, _RECORD, _SAVE = (ProfilerAction.NONE, ProfilerAction.WARMUP,
                                  ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


class profile(_KinetoProfile):  # pylint: disable=invalid-name
    """A profile of what the "with" block runs, with the arguments and results of
    torch.profiler.profile.

        with profile(record_shapes=True, with_stack=True) as prof:
            model(inputs)
        print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
        prof.export_chrome_trace("trace.json")

        with profile(schedule=schedule(wait=1, warmup=1, active=3, repeat=2),
                     on_trace_ready=tensorboard_trace_handler("log")) as prof:
            for batch in batches:
                train(batch)
                prof.step()

    activities: ProfilerActivity.CPU and CUDA; others are accepted, and not recorded; all of
    supported_activities() by default. schedule: which steps are, by a function of their number.
    on_trace_ready: called with the profile at the end of each cycle. record_shapes, profile_memory,
    with_stack, with_flops, with_modules: what is recorded of ops. acc_events: events() has those of
    all cycles. The calling thread is recorded, with the backward passes that it waits for; of all
    threads with experimental_config.profile_all_threads.
    """

    def __init__(self, *, activities: Optional[Iterable[Any]] = None,
                 schedule: Optional[Callable[[int], Any]] = None,
                 on_trace_ready: Optional[Callable[[Any], Any]] = None,
                 record_shapes: bool = False, profile_memory: bool = False,
                 with_stack: bool = False, with_flops: bool = False, with_modules: bool = False,
                 experimental_config: Any = None, execution_trace_observer: Any = None,
                 acc_events: bool = False, use_cuda: Optional[bool] = None,
                 custom_trace_id_callback: Optional[Callable[[], str]] = None,
                 post_processing_timeout_s: Optional[float] = None) -> None:
        _argument.function_of("profile", "schedule", schedule,
                              "a function of a step's number, as xsprof.schedule() returns")
        _argument.function_of("profile", "on_trace_ready", on_trace_ready,
                              "a function of the profile")
        if use_cuda is not None:
            warnings.warn("xsprof: profile(use_cuda=) is deprecated: use activities", FutureWarning,
                          stacklevel=2)
        super().__init__(
            activities=activities, record_shapes=record_shapes, profile_memory=profile_memory,
            with_stack=with_stack, with_flops=with_flops, with_modules=with_modules,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer, acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s)
        # All that it does in torch.profiler: what is recorded stays the same.
        if use_cuda is False and self.activities == {ProfilerActivity.CUDA}:
            raise AssertionError("xsprof: use_cuda=False leaves no activity: add "
                                 "ProfilerActivity.CPU")
        self.schedule = schedule or (lambda step: _RECORD)
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self._action(0)
        self.step_rec_fn: Optional[_session.record_function] = None

    def _action(self, step: int) -> ProfilerAction:
        """What the schedule says; PyTorch's own schedules say it in its words."""
        action = self.schedule(step)
        name = str(getattr(action, "name", ""))
        if name not in ProfilerAction.__members__:
            raise TypeError("xsprof: the schedule says {!r} of step {}: it is a "
                            "ProfilerAction".format(action, step))
        return ProfilerAction[name]

    def __enter__(self) -> "profile":
        self.start()
        return self

    def __exit__(self, *of: Any) -> None:
        self.stop()
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.cleanup()

    def start(self) -> None:
        """Begin, with the action of the first step."""
        self._move(_NONE, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """End: what is being recorded is ready."""
        if self.current_action is not _NONE:
            self._running()
        self._end_step()
        self._move(self.current_action, None)

    def step(self) -> None:
        """The next step begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self._action(self.step_num)
        self._move(before, self.current_action)
        self._begin_step()

    def _begin_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = _session.record_function(STEP + str(self.step_num))
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _move(self, before: ProfilerAction, now: Optional[ProfilerAction]) -> None:
        """From the action of one step to that of the next, None after the last."""
        recording = before in (_RECORD, _SAVE)
        if before is _WARMUP and now in (_NONE, None):
            if now is _NONE:
                warnings.warn("xsprof: the schedule has a WARMUP before a NONE: the WARMUP is not "
                              "recorded", stacklevel=4)
            # A profile of nothing, which has tables and files as any other.
            self.start_trace()
            self.stop_trace()
        if recording and (before is _SAVE or now not in (_RECORD, _SAVE)):
            if before is _RECORD and now is not None:
                warnings.warn("xsprof: the schedule has a RECORD before a {}: its records are "
                              "dropped".format(now.name), stacklevel=4)
            self.stop_trace()
            if before is _SAVE or now is None:
                self._ready()
            recording = False
        if now in (None, _NONE) or recording:
            return
        if before is not _WARMUP:
            self.prepare_trace()
        if now is not _WARMUP:
            self.start_trace()

    def _ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)


def of_capture(path: Any, pid: int = 0) -> profile:
    """A capture, or one process of it, as a profile that is over."""
    prof = profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True,
                   with_modules=True)
    prof.profiler = Cycle(True, True, True, None, None)
    prof.profiler.result = _result.open_capture(path, pid)
    return prof
