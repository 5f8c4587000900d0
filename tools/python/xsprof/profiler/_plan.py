# SPDX-License-Identifier: LGPL-2.1-only
"""What a profile is told: activities, schedules, and where traces go."""
import enum
import glob
import sys
import warnings
from typing import Any, Callable, Iterable, Optional, Set

from .. import _argument
from . import _result


class ProfilerActivity(enum.Enum):
    """What is profiled. A session records the CPU, and CUDA where CUPTI is."""
    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What a schedule says of a step."""
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> Set[ProfilerActivity]:
    """What sessions record: the CPU, and CUDA where there are devices, as PyTorch says if it is
    imported.
    """
    found = {ProfilerActivity.CPU}
    torch: Any = sys.modules.get("torch")
    if hasattr(torch, "cuda") and hasattr(torch, "version"):
        # One for ROCm calls its devices CUDA as well: those are not recorded by a session.
        cuda = not getattr(torch.version, "hip", None) and torch.cuda.is_available()
    else:
        # Loading CUDA to ask it would cost a program without it too much.
        cuda = bool(glob.glob("/dev/nvidia[0-9]*") or glob.glob("/dev/dxg"))
    if cuda:
        found.add(ProfilerActivity.CUDA)
    return found


def kineto_available() -> bool:
    """Traces in Kineto's format can be written."""
    return True


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             skip_first_wait: int = 0) -> Callable[[int], ProfilerAction]:
    """A schedule for profile(): skip_first steps are skipped once; then, in each cycle, wait steps
    are not recorded, warmup steps prepare, and active ones are recorded.

    repeat: how many cycles, 0 for no end. skip_first_wait: the first cycle has no wait.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise AssertionError(
            "xsprof: schedule(wait={}, warmup={}, active={}, repeat={}, skip_first={}): no number "
            "may be negative, and active must be at least 1".format(
                wait, warmup, active, repeat, skip_first))
    if not warmup:
        warnings.warn("xsprof: schedule(warmup=0): the first steps recorded are slower than others",
                      stacklevel=2)
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError("xsprof: there is no step {}".format(step))
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        step += wait if skip_first_wait else 0
        number, at = divmod(step, cycle)
        if repeat and number >= repeat or at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if at == cycle - 1 else ProfilerAction.RECORD
    return action


def tensorboard_trace_handler(dir_name: str, worker_name: Optional[str] = None,
                              use_gzip: bool = False) -> Callable[[Any], None]:
    """An on_trace_ready for profile() that writes each trace into a folder for TensorBoard.

    worker_name: that of the process, its host and id by default.
    """
    def handler(prof: Any) -> None:
        prof.export_chrome_trace(_result.tensorboard_path(dir_name, worker_name, use_gzip))
    return handler


class ExecutionTraceObserver:
    """Writes the execution trace (Chakra) of each cycle of a profile.

        profile(execution_trace_observer=ExecutionTraceObserver().register_callback("et.json"))
    """

    def __init__(self) -> None:
        self._path: Optional[str] = None

    def register_callback(self, output_file_path: str) -> "ExecutionTraceObserver":
        """Where it is written."""
        self._path = output_file_path
        return self

    def unregister_callback(self) -> None:
        """It is not written any more."""
        self._path = None

    @property
    def is_registered(self) -> bool:
        """Is there a file?"""
        return self._path is not None

    def get_output_file_path(self) -> Optional[str]:
        """The file, or None."""
        return self._path

    def start(self) -> None:
        """The profile does it."""

    stop = cleanup = start


def activities(given: Optional[Iterable[Any]]) -> Set[ProfilerActivity]:
    """Of ours and of PyTorch's, and of dicts that have them as keys. What is refused, PyTorch 2.13
    refuses.
    """
    if given is None:
        return supported_activities()
    try:
        if isinstance(given, (str, bytes)):
            raise TypeError
        items = iter(given)
    except TypeError:
        raise TypeError("xsprof: profile(): activities: expected a list of ProfilerActivity, not "
                        "{}".format(_argument.shown(given))) from None
    found: Set[ProfilerActivity] = set()
    names = [a for item in items for a in (item if isinstance(item, dict) else [item])]
    for activity in names:
        name = str(getattr(activity, "name", ""))
        if name not in ProfilerActivity.__members__:
            raise TypeError("xsprof: activities has {!r}: expected a ProfilerActivity".format(
                activity))
        if ProfilerActivity[name] in found:
            raise ValueError("xsprof: activities has {} twice".format(name))
        found.add(ProfilerActivity[name])
    if not found:
        raise AssertionError("xsprof: activities is empty: add ProfilerActivity.CPU")
    return found
