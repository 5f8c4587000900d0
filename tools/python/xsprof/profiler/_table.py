# SPDX-License-Identifier: LGPL-2.1-only
"""Rows of key_averages() as text, in the columns of torch.profiler's tables."""
from typing import Any, List, Optional, Tuple

_UNITS = (("s", 1e6), ("ms", 1e3), ("us", 1.0))
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
_WIDTH = 12
_DEVICES = ("cuda", "xpu", "privateuse1")


def time_text(us: float, unit: Optional[str] = None) -> str:
    """A time: "12.500us", "3.200ms", "1.000s"."""
    for name, factor in _UNITS:
        if unit == name or (unit is None and (us >= factor or name == "us")):
            return "{:.3f}{}".format(us / factor, name)
    raise ValueError("xsprof: time_unit {!r}: expected s, ms or us".format(unit))


def memory_text(size: int) -> str:
    """Bytes: "1.50 KB"."""
    for name, shift in (("GB", 30), ("MB", 20), ("KB", 10)):
        if abs(size) >= 1 << shift:
            return "{:.2f} {}".format(size / (1 << shift), name)
    return "{} B".format(size)


def _share(part: float, whole: float) -> str:
    return "{:.2f}%".format(part * 100 / whole) if whole else "NaN"


def _short(text: str, width: Optional[int]) -> str:
    return text[:width - 3] + "..." if width is not None and len(text) >= width - 3 else text


def _tail(text: str, width: int) -> str:
    return text if len(text) <= width else "..." + text[len(text) - width + 3:]


def _fit(texts: List[str], most: Optional[int]) -> int:
    width = max(map(len, texts)) + 4
    return width if most is None else min(width, most)


def _flops(rows: Any) -> Tuple[float, str]:
    """By what FLOPs are divided, and what they are called then."""
    least = min((row.flops for row in rows if row.flops > 0), default=0)
    step = 0
    while least >= 1000 and step < len(_FLOPS) - 1:
        least /= 1000
        step += 1
    return 1000.0 ** step, _FLOPS[step]


def sort_key(name: str) -> str:
    """The attribute that a word of sort_by stands for."""
    for device in _DEVICES:
        name = name.replace(device, "device")
    return name


class _Columns:
    """What a row of this table has, and how wide it is."""

    def __init__(self) -> None:
        self.heads: List[str] = []
        self.widths: List[int] = []
        self.left: List[bool] = []

    def add(self, head: str, width: int = _WIDTH, left: bool = False) -> None:
        self.heads.append(head)
        self.widths.append(width)
        self.left.append(left)

    def line(self, values: List[Any]) -> str:
        return "  ".join(str(v).ljust(w) if left else str(v).rjust(w) for v, w, left in zip(
            values, self.widths, self.left)) + "  "

    def rule(self) -> str:
        return "  ".join("-" * w for w in self.widths) + "  "


def build(events: Any, sort_by: Optional[str], row_limit: int, max_src: Optional[int],
          max_name: Optional[int], max_shapes: Optional[int], header: Optional[str],
          top_only: bool, unit: Optional[str], profile_memory: bool, with_flops: bool) -> str:
    """The text of EventList.table()."""
    if not events:
        return ""
    rows = list(events)
    if sort_by is not None:
        name = sort_key(sort_by)
        if not hasattr(rows[0], name):
            raise AttributeError("xsprof: sort_by={!r}: expected self_cpu_time_total, "
                                 "cpu_time_total, cpu_time, cpu_memory_usage, "
                                 "self_cpu_memory_usage, count, the same of device, "
                                 "flops".format(sort_by))
        rows.sort(key=lambda row: getattr(row, name), reverse=True)
    device = (rows[0].use_device or "device").upper()
    device_time = any(row.self_device_time_total > 0 for row in rows)
    device_memory = profile_memory and any(row.self_device_memory_usage for row in rows)
    shapes = any(row.input_shapes for row in rows)
    stacks = [frame for row in rows for frame in row.stack]
    flops = with_flops and any(row.flops > 0 for row in rows)
    whole = sum(row.self_cpu_time_total for row in rows)
    whole_device = sum(row.self_device_time_total for row in rows)

    columns = _Columns()
    columns.add("Name", _fit([row.key for row in rows], max_name))
    for head in ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"):
        columns.add(head)
    if device_time:
        for head in ("Self {} %", "Self {}", "{} total", "{} time avg"):
            columns.add(head.format(device))
    if profile_memory:
        columns.add("CPU Mem")
        columns.add("Self CPU Mem")
    if device_memory:
        columns.add(device + " Mem")
        columns.add("Self {} Mem".format(device))
    columns.add("# of Calls")
    if shapes:
        columns.add("Input Shapes", _fit([str(row.input_shapes) for row in rows], max_shapes))
    if stacks:
        columns.add("Source Location", _fit(stacks, max_src), left=True)
    if flops:
        divisor, word = _flops(rows)
        columns.add("Total " + word)

    lines: List[str] = []
    if header is not None:
        lines += ["=" * len(columns.rule()), header]
    if top_only:
        lines += ["=" * len(columns.rule()), "This table has top-level ops only"]
    lines += [columns.rule(), columns.line(columns.heads), columns.rule()]
    shown = 0
    for row in rows:
        if shown == row_limit:
            break
        if top_only and getattr(row, "cpu_parent", None) is not None:
            continue
        shown += 1
        values: List[Any] = [
            _short(row.key, max_name), _share(row.self_cpu_time_total, whole),
            time_text(row.self_cpu_time_total, unit),
            _share(row.cpu_time_total, whole) if not row.is_async else "0",
            time_text(row.cpu_time_total, unit), time_text(row.cpu_time, unit)]
        if device_time:
            values += [_share(row.self_device_time_total, whole_device),
                       time_text(row.self_device_time_total, unit),
                       time_text(row.device_time_total, unit), time_text(row.device_time, unit)]
        if profile_memory:
            values += [memory_text(row.cpu_memory_usage), memory_text(row.self_cpu_memory_usage)]
        if device_memory:
            values += [memory_text(row.device_memory_usage),
                       memory_text(row.self_device_memory_usage)]
        values.append(row.count)
        if shapes:
            values.append(str(row.input_shapes)[:columns.widths[len(values)]])
        source = len(values)
        if stacks:
            values.append(_tail(row.stack[0], columns.widths[source]) if row.stack else "")
        if flops:
            values.append("{:.3f}".format(row.flops / divisor) if row.flops > 0 else "--")
        lines.append(columns.line(values))
        for frame in row.stack[1:]:
            more = [""] * len(values)
            more[source] = _tail(frame, columns.widths[source])
            lines.append(columns.line(more))
        if stacks:
            lines.append(columns.line([""] * len(values)))
    lines += [columns.rule(), "Self CPU time total: " + time_text(whole, unit)]
    if device_time:
        lines.append("Self {} time total: {}".format(device, time_text(whole_device, unit)))
    return "\n".join(lines) + "\n"
