#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks the bars. Reads the measurements (lines of id, unit, min, median, max; or id, "skip", why;
# with the first kind also id, "doubt", why, and id, "noise", how much two equal things differed),
# prints the table and writes the JSON. A value that the noise could carry over its bar is in doubt.
# Does not measure. Exits with 0 if every bar that was not skipped holds. Usage: table.py RAW.tsv
# OUT.json PART...   (the parts that were measured)

import json
import sys

# How much the counter hides of a marker depends on the processor: by vendor, else None.
CALLED = {"GenuineIntel": 1.30, None: 1.05}
INLINE = {"GenuineIntel": 1.20, None: 1.03}

# part of run.sh, id, name, unit, how the bar is meant, bar
ROWS = [
    ("marker", "marker_ratio", "marker, enabled, shared library, discard / bare counter",
     "ratio", "max", CALLED),
    ("marker", "inline_ratio", "the same in the program's own code (XSPROF_INLINE)",
     "ratio", "max", INLINE),
    ("marker", "archive_ratio", "marker, static archive / shared library",
     "ratio", "max", 1.03),
    ("marker", "noclock_so", "the same without the clock (where the counter is 9 ns)",
     "ns", "max", 2.7),
    ("marker", "noclock_inline",
     "the same without the clock, inline (where the counter is 9 ns)", "ns", "max", 1.6),
    ("marker", "threads_two_ratio", "2 threads on 2 CPUs / 1 thread", "ratio", "max", 1.03),
    ("marker", "crowd_ratio", "64 threads on 2 CPUs / 1 thread, CPU time per event",
     "ratio", "max", 1.10),
    ("marker", "miss_ratio", "4 missing stores between markers: marginal / thread-local ring",
     "ratio", "max", 1.4),
    ("marker", "disabled", "disabled, inline, more than an empty loop", "ns", "max", 0.3),
    ("marker", "drop", "dropped marker (where the counter is 9 ns)", "ns", "max", 5.0),
    ("lttng", "lttng_ratio", "LTTng-UST, snapshot mode, same payload / ours",
     "ratio", "min", 6.0),
    ("marker", "bytes_pair", "memory of a begin/end pair", "B", "is", 64.0),
    ("marker", "bytes_complete", "memory of a complete range", "B", "is", 32.0),
    ("ops", "op_ratio", "op begin/end, no inputs / marker pair", "ratio", "max", 1.3),
    ("ops", "op_dims_ratio", "op with 4 inputs of 4 dims / marker pair", "ratio", "max", 4.0),
    ("ops", "op_stack", "a stack of 32 frames: an op with it less one without",
     "ns", "below", 1000.0),
    ("ops", "op_kineto_far",
     "op (where the counter is 9 ns) / 154 ns, libkineto's as published", "ratio", "max", 0.15),
    ("ops", "op_kineto_ratio", "op / libkineto's CPU trace buffer, in this run",
     "ratio", "max", 0.15),
    ("ops", "nvtx_text_ratio", "push and pop of NVTX, a text / marker pair", "ratio", "max", 1.15),
    ("ops", "nvtx_string_ratio", "the same, a registered string in a domain",
     "ratio", "max", 1.15),
    ("ops", "itt_ratio", "begin and end of an ITT task, with a string handle / marker pair",
     "ratio", "max", 1.15),
    ("opencl", "opencl_ratio", "enqueue of a kernel to PoCL: added by record --gpu / it alone",
     "ratio", "max", 0.3),
    ("cupti", "cupti_rate", "activities of CUDA by the collector's thread, 1 core, into a capture",
     "M/s", "min", 20.0),
    ("cupti", "cupti_growth", "its memory, from the first to the last tenth of 10^8 activities",
     "MiB", "max", 1.0),
    ("ops", "op_allocs", "allocations in a million ops, once warm", "calls", "is", 0.0),
    ("disk", "disk_pair", "disk per pair, --compress, the demo's programs", "B", "max", 10.0),
    ("record", "record_plain", "recorder, 1 producer, 1 core, nothing lost, plain",
     "M/s", "min", 20.0),
    ("record", "record_zstd", "recorder, 1 producer, 1 core, nothing lost, --compress",
     "M/s", "min", 5.0),
    ("dump", "text_rate", "xsprof-dump -f text", "M/s", "min", 8.0),
    ("dump", "bt2_ratio", "babeltrace2 / xsprof-dump -f text, same events",
     "ratio", "min", 5.0),
    ("dump", "decode_rate", "decoding alone", "M/s", "min", 25.0),
    ("dump", "chrome_rate", "xsprof-dump -f chrome", "MB/s", "min", 300.0),
    ("dump", "perfetto_rate", "xsprof-dump -f perfetto", "MB/s", "min", 200.0),
    ("dump", "perfetto_kernel_rate", "xsprof-dump -f perfetto, the kernel's events",
     "MB/s", "min", 200.0),
    ("save", "save_rate", "save of 10 M ops with inputs, to /dev/null, one core",
     "MB/s", "min", 300.0),
    ("save", "save_memory", "memory of that", "MiB", "below", 64.0),
    ("memory", "tool_memory", "most memory of any tool, 50 M events", "MiB", "below", 64.0),
    ("large", "large_memory", "most memory of any tool, 4 GiB of the kernel's events",
     "MiB", "below", 64.0),
    ("device", "device_ratio", "marker pair, device / tmpfs, one boot of a guest",
     "ratio", "near 1", 0.05),
    ("device", "device_first", "device: attach, map, first marker, in that guest",
     "ms", "below", 1.0),
    ("tracer", "tracer_marker", "marker pair with -e sched / without", "ratio", "max", 1.05),
    ("tracer", "tracer_text", "trace-cmd report / xsprof-dump -f text, same sub-buffers",
     "ratio", "min", 5.0),
    ("python", "python_gil_off", "two threads that want the GIL, collector loaded, no recorder",
     "%", "max", 0.5),
    ("python", "python_gil", "the same, recorded", "%", "max", 1.0),
    ("python", "python_100", "the same, and sampled 100 times a second", "%", "max", 1.0),
    ("python", "python_1000", "1000 times a second", "%", "max", 5.0),
    ("python", "python_native", "100 times a second, with frames of C", "%", "max", 2.0),
    ("python", "python_left", "after record -p has left it, beside one that was let be", "%",
     "max", 1.0),
    ("torch", "torch_names", "an op of PyTorch, --torch names / torch.profiler, CPU time",
     "ratio", "max", 0.35),
    ("torch", "torch_shapes", "--torch shapes / torch.profiler with shapes",
     "ratio", "max", 0.40),
    ("torch", "torch_all", "--torch all / torch.profiler with shapes, memory and stacks",
     "ratio", "max", 0.40),
    ("torch", "torch_count", "--torch names, more than an observer that counts", "ns", "max", 25.0),
    ("torch", "torch_off", "an op with the collector loaded, without a recorder",
     "ns", "max", 2.0),
    ("torch", "torch_step", "a step of a convolutional net, --torch names, more than bare",
     "%", "below", 2.0),
    ("torch", "torch_growth", "memory that 10 M ops leave in the process, an op",
     "B", "below", 0.1),
    ("torch", "torch_exit", "from the last of 1 M ops to the end of record", "s", "below", 1.0),
]
SIGN = {"max": "<=", "min": ">=", "is": "=", "below": "<", "near 1": "1 +-"}


def holds(how, value, bar):
    return {"max": value <= bar, "min": value >= bar, "is": value == bar,
            "below": value < bar, "near 1": abs(value - 1) <= bar}[how]


def read(path):
    """Returns the measurements by id; reasons why some bars can be neither met nor missed; by id
    the noise; and the vendor."""
    got, doubts, noise, vendor = {}, {}, {}, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.rstrip("\n").split("\t")
            if len(words) == 3 and words[1] == "doubt":
                doubts[words[0]] = words[2]
            elif len(words) == 3 and words[1] == "noise":
                noise[words[0]] = float(words[2])
            elif len(words) == 3 and words[0] == "processor":
                vendor = words[1]
            elif len(words) >= 3:
                got[words[0]] = words[1:]
    return got, doubts, noise, vendor


def judge(words, doubt, noise, how, bar):
    """Returns the row's state, and its JSON. Only "yes" means that the bar holds."""
    if words is None:
        return "NO", {"why": "not measured: its benchmark failed, see above", "holds": False}
    if words[0] == "skip":
        return "skip", {"why": words[1]}
    low, value, high = (float(w) for w in words[1:4])
    row = {"value": round(value, 4), "min": low, "max": high}
    if doubt or (value <= 0 and words[0] == "ratio"):
        return "?", {**row, "why": doubt or "not a ratio: what is compared is within the noise"}
    good = holds(how, value, bar)
    if any(holds(how, value + less, bar) != good for less in (-noise, noise)):
        return "?", {**row, "why": f"equal ones differ by {noise:.2f}"}
    return "yes" if good else "NO", {**row, "holds": good}


def main():
    (got, doubts, noise, vendor), asked = read(sys.argv[1]), sys.argv[3:]
    out, known = [], {row[1] for row in ROWS}
    count = {"yes": 0, "NO": 0, "?": 0, "skip": 0}
    print(f"{'what':<68} {'value':>9} {'unit':<6} {'bar':>8}  {'holds':<5}  min..max of the runs")
    for part, key, name, unit, how, bar in ROWS:
        if isinstance(bar, dict):
            bar = bar.get(vendor, bar[None])
        sign = f"{SIGN[how]} {bar:g}"
        row = {"name": name, "value": None, "unit": unit, "bar": sign, "holds": None}
        state, more = "skip", {"why": f"part {part} was not asked for"}
        if part in asked:
            state, more = judge(got.get(key), doubts.get(key), noise.get(key, 0), how, bar)
            count[state] += 1
        row.update(more)
        out.append(row)
        text, tail = f"{'-':>9}", row.get("why", "")
        if row["value"] is not None:
            text = f"{row['value']:9.3f}"
            tail = f"{row['min']:.3f}..{row['max']:.3f}" + (f"; {tail}" if tail else "")
        print(f"{name:<68} {text} {unit:<6} {sign:>8}  {state:<5}  {tail}")
    print("\nbeside them (no bar):")
    for key, words in got.items():
        if key not in known and words[0] != "skip":
            low, value, high = (float(w) for w in words[1:4])
            print(f"  {key:<28} {value:10.3f} {words[0]:<8} {low:.3f}..{high:.3f}")
    print(f"\n{count['yes']} of {sum(count.values())} bars hold; {count['NO']} do not, "
          f"{count['?']} in doubt, {count['skip']} skipped")
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        json.dump(out, f, indent=1)
        f.write("\n")
    return 1 if count["NO"] or count["?"] else 0


if __name__ == "__main__":
    sys.exit(main())
