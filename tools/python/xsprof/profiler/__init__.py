# SPDX-License-Identifier: LGPL-2.1-only
"""torch.profiler by its names, recorded by xsprof: "import torch.profiler" becomes
"import xsprof.profiler".

It works without PyTorch as well: then profiles have the ranges of the program. What differs is in
Documentation/python-api.rst.
"""
from ._plan import (ExecutionTraceObserver, ProfilerAction, ProfilerActivity, kineto_available,
                    schedule, supported_activities, tensorboard_trace_handler)
from ._profile import _KinetoProfile, of_capture, profile  # noqa: F401
from ._session import record_function
from .events import EventList, FunctionEvent, FunctionEventAvg, Interval, Kernel

__all__ = ["profile", "schedule", "supported_activities", "tensorboard_trace_handler",
           "ProfilerAction", "ProfilerActivity", "kineto_available", "record_function",
           "ExecutionTraceObserver", "of_capture", "EventList", "FunctionEvent",
           "FunctionEventAvg", "Interval", "Kernel"]
