# SPDX-License-Identifier: LGPL-2.1-only
"""What a training or inference job does, recorded on one timeline with what Linux does.

Markers cost little without a recorder:

    import xsprof

    with xsprof.range("load", rows=64):
        ...
    @xsprof.annotate
    def step(): ...
    xsprof.counter("queue", 3)

    $ xsprof record -- python3 train.py

Profiles are those of torch.profiler, by its names:

    from xsprof import profile, record_function, ProfilerActivity

    with profile(activities=[ProfilerActivity.CPU]) as prof:
        model(inputs)
    print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))

Captures are read as tables:

    for op in xsprof.open("xsprof.data").ops():
        print(op.name, op.count, op.total_ns)

The package needs xsprof's libraries and nothing else. Importing it loads nothing: the libraries are
loaded when a name of it is first used.
"""
import importlib
import sys
from typing import TYPE_CHECKING, Any, List

__version__ = "0.1.0"

_NAMES = {
    "_marker": ("range", "annotate", "instant", "counter", "flow_begin", "flow_step", "flow_end",
                "async_begin", "async_end", "step", "args"),
    "_process": ("enabled", "thread_name", "fact", "category_enable", "pause", "resume", "flush",
                 "stats"),
    "_lib": ("Error",),
    "capture": ("open", "Capture"),
    "tables": ("Table",),
    "profiler": ("profile", "schedule", "tensorboard_trace_handler", "record_function",
                 "ProfilerActivity", "ProfilerAction", "supported_activities"),
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names}

# A literal, so that type checkers know it.
__all__ = [
    "Capture", "Error", "ProfilerAction", "ProfilerActivity", "Table", "annotate", "args",
    "async_begin", "async_end", "capture", "category_enable", "counter", "enabled", "fact",
    "flow_begin", "flow_end", "flow_step", "flush", "instant", "open", "pause", "profile",
    "profiler", "range", "record_function", "resume", "schedule", "stats", "step",
    "supported_activities", "tensorboard_trace_handler", "thread_name"]

if TYPE_CHECKING:
    from . import capture, profiler
    from ._lib import Error
    from ._marker import (annotate, args, async_begin, async_end, counter, flow_begin, flow_end,
                          flow_step, instant, range, step)
    from ._process import (category_enable, enabled, fact, flush, pause, resume, stats,
                           thread_name)
    from .capture import Capture, open
    from .tables import Table
    from .profiler import (ProfilerAction, ProfilerActivity, profile, record_function, schedule,
                           supported_activities, tensorboard_trace_handler)
else:
    # Type checkers would take any name for one of these.
    def __getattr__(name: str) -> Any:
        if name in ("capture", "profiler"):
            return importlib.import_module("." + name, __name__)
        try:
            module = _WHERE[name]
        except KeyError:
            raise AttributeError("module 'xsprof' has no attribute {!r}".format(name)) from None
        value = getattr(importlib.import_module("." + module, __name__), name)
        # The next use is a look-up of the module's own.
        globals()[name] = value
        return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(__all__))


# Python 3.6 does not ask the two above.
if sys.version_info < (3, 7):
    for _name in __all__:
        globals()[_name] = __getattr__(_name)
