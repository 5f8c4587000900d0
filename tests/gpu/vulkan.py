#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Vulkan programs on a real device (lavapipe, which is the CPU): calls and batches in the trace must
# equal what the program prints, what an independent layer counts, and the device's own times. The
# validation layer sees what ours adds, and must find no error in it.

import collections
import json
import os

import gpulib
from gpulib import BUILD, CAPTURE, DIR, XSPROF, equal, failed, finish, missed, of, result

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.path.join(DIR.name, "vulkan")
COUNT = os.path.join(DIR.name, "count")
LAYERS = os.path.join(DIR.name, "layers")
OURS = os.path.join(BUILD, "lib", "xsprof-vulkan")
STANDARD = "/usr/share/vulkan/explicit_layer.d"
RECORD = "VK_LAYER_XSPROF_record"
VALIDATION = "VK_LAYER_KHRONOS_validation"
MANIFEST = {"file_format_version": "1.1.2", "layer": {
    "name": "VK_LAYER_TEST_count", "type": "GLOBAL", "library_path": "./layer.so",
    "api_version": "1.3.239", "implementation_version": "1", "description": "counts"}}


def run(args, **more):
    own = {k: os.environ[k] for k in ("VK_ICD_FILENAMES",) if k in os.environ}
    own.setdefault("VK_ICD_FILENAMES", lavapipe())
    return gpulib.run(args, **{"without": ("VK_", "COUNT_"), "COUNT_FILE": COUNT, **own, **more})


def lavapipe():
    """Sets lavapipe as the device: times of this machine's GPU are not checked here."""
    folder = "/usr/share/vulkan/icd.d"
    found = sorted(f for f in os.listdir(folder) if f.startswith("lvp_icd"))
    return os.path.join(folder, found[0]) if found else ""


def compile_all():
    cc = os.environ.get("CC", "cc")
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-iquote", ROOT]
    os.mkdir(LAYERS)
    with open(os.path.join(LAYERS, "count.json"), "w", encoding="ascii") as f:
        json.dump(MANIFEST, f)
    files = [os.path.join(HERE, f) for f in ("vulkan.c", "vulkan-labels.c", "vulkan-work.c")]
    got = run([cc, *flags, "-o", PROGRAM, *files, "-pthread", "-lvulkan"])
    result(not got.returncode, "a program of Vulkan", got.stderr)
    got = run([cc, *flags, "-shared", "-fPIC", "-o", os.path.join(LAYERS, "layer.so"),
               os.path.join(HERE, "vulkan-layer.c")])
    result(not got.returncode, "what the collector knows of Vulkan is what its headers say",
           got.stderr)


def record(command, options=("--gpu",), **more):
    got = run([XSPROF, "record", *options, "-o", CAPTURE, "--", *command], **more)
    dump = run([XSPROF, "dump", "-f", "ndjson", CAPTURE])
    events = [json.loads(line) for line in dump.stdout.splitlines()]
    return got, [dict(e, name=e.get("name")) for e in events]


def below(layer, folder):
    """Puts our layer first: by names for a loader that keeps their order, else by the folders."""
    return {"VK_INSTANCE_LAYERS": f"{RECORD}:{layer}", "VK_LAYER_PATH": f"{OURS}:{folder}"}


def work_of(events):
    return of(events, "kernel", "memcpy")


def clock_of(events):
    return [e["i64"] for e in events
            if e["type"] == "counter" and e["name"].startswith("clock of device 64")]


def commands(e):
    return {a["key"]: a["value"] for a in e["args"]}["command buffers"]


def said(stdout):
    """Parses a program's output: calls, batches by their command buffers, queues, ns of a
    dispatch."""
    calls = collections.Counter()
    batches = collections.Counter()
    queues = ran = 0
    for line in stdout.splitlines():
        what, *rest = line.split()
        if what == "call":
            calls[rest[0]] += int(rest[1])
        elif what == "batch":
            batches[int(rest[0])] += int(rest[1])
        elif what == "queues":
            queues += int(rest[0])
        elif what == "ran":
            ran = int(rest[0])
    return calls, +batches, queues, ran


def named(stdout):
    lines = [line.split() for line in stdout.splitlines() if line.startswith("name ")]
    return {name: int(n) for _, name, n in lines}


def seen(events):
    return (collections.Counter(e["name"] for e in of(events, "runtime")),
            collections.Counter(commands(e) for e in work_of(events)),
            len({(e["context"], e["stream"]) for e in work_of(events)}))


def check_pairs(events, name):
    """Checks that each batch has one call and its queue, and lies between that and the last
    wait."""
    calls = {e["value"]: e for e in of(events, "runtime") if e["value"]}
    wrong = [e for e in work_of(events)
             if e["value"] not in calls or e["begin_ns"] < calls[e["value"]]["begin_ns"] or
             (e["device"], e["context"], e["stream"]) !=
             tuple(calls[e["value"]][k] for k in ("device", "context", "stream"))]
    result(work_of(events) and not wrong, name, wrong[:3])


def check_same(name, *command, **more):
    got, events = record([PROGRAM, *command], **more)
    calls, batches, queues, _ = said(got.stdout)
    equal((got.returncode, *seen(events)), (0, calls, batches, queues), name)
    equal(missed(events), {}, f"{name}: nothing is missed")
    check_pairs(events, f"{name}: each batch after its call")
    return got, events


def check_waited(name, events):
    """Checks that each batch ends before the wait for it does, within the clock's error."""
    calls = sorted(of(events, "runtime"), key=lambda e: e["begin_ns"])
    begins = {e["value"]: e["begin_ns"] for e in calls}
    waits = {}
    for call, wait in zip(calls, calls[1:]):
        if wait["name"] == "vkQueueWaitIdle":
            waits[call["value"]] = wait["end_ns"]
    bound = max(clock_of(events), default=0)
    late = [e for e in work_of(events) if e["end_ns"] > waits[e["value"]] + bound]
    # An invalid time is replaced by the call's.
    moved = [e for e in work_of(events) if e["begin_ns"] == begins[e["value"]]]
    result(bound and not late and len(moved) < len(waits) / 4,
           f"{name}: each batch is over when the wait for it is", (bound, late[:3], moved[:3]))


def check_all():
    got, events = check_same("each kind of call", "all")
    ran = said(got.stdout)[3]
    batch = next(e for e in sorted(work_of(events), key=lambda e: e["begin_ns"]))
    took = batch["end_ns"] - batch["begin_ns"]
    # The program's own timestamps lie between ours.
    result(ran <= took + 4 + ran // 2000, "a batch lasts as long as the device says", (ran, took))
    waits = [e for e in of(events, "runtime") if e["name"] == "vkWaitForFences"]
    bound = max(clock_of(events), default=0)
    result(batch["end_ns"] <= waits[0]["end_ns"] + bound, "it ends before the wait for it does",
           (batch, waits, bound))
    result(bound, "how well the device's clock is known is in the trace")
    # As XSPROF_CORRELATION() sets it for Vulkan devices: readers of Kineto's JSON know 32 bits.
    wrong = [e for e in work_of(events) if not 0xc4000000 <= e["value"] < 0xc6000000]
    result(not wrong, "correlation ids are no other collector's", wrong)
    report = run([XSPROF, "report", "--gpu", CAPTURE])
    result(not report.returncode and "# Vulkan device 64, llvmpipe" in report.stdout and
           " (graphics) of context 1" in report.stdout and
           "batch of 2 command buffers" in report.stdout,
           "report --gpu names the device, its queues and batches", report.stdout + report.stderr)
    facts = json.loads(run([XSPROF, "info", "--json", CAPTURE]).stdout)["processes"][0]["facts"]
    device = json.loads(facts["device.64"])
    result(device["type"] == "CPU" and "Mesa" in device["driver"] and
           device["totalGlobalMem"] > 0 and device["timestampPeriod"] == "1 ns",
           "info says what the device is", facts)


def check_kineto():
    out = os.path.join(DIR.name, "kineto.json")
    run([XSPROF, "dump", "-f", "kineto", "-o", out, CAPTURE])
    with open(out, encoding="utf-8") as f:
        trace = json.load(f)
    cats = collections.Counter(e.get("cat") for e in trace["traceEvents"] if e["ph"] == "X")
    flows = collections.Counter(e["ph"] for e in trace["traceEvents"] if e.get("cat") == "ac2g")
    # One submit has two batches.
    result((cats["kernel"], flows["s"], flows["f"]) == (5, 4, 5),
           "Kineto's JSON has batches, and arrows from their calls", (cats, flows))


def check_labels():
    got, events = check_same("batches with labels", "labels")
    names = collections.Counter(e["name"] for e in work_of(events))
    equal(names, {**named(got.stdout), "batch of 2 command buffers": 1},
          "batches with labels: their names")


def check_labelled():
    """10,000 command buffers with labels: each batch has its label, or that is counted."""
    buffers = "not recorded: labels, because too many command buffers have one"
    texts = "not recorded: labels, because there are too many different ones"
    for how, what, lost in (
            ("again", "2,000 at once, then recorded without", None),
            ("freed", "2,000 at once, then freed", None),
            ("together", "all at once", buffers),
            ("names", "with different names", texts)):
        got, events = record([PROGRAM, "labelled", how], options=("--gpu", *gpulib.ROOM))
        names = collections.Counter(e["name"] for e in work_of(events))
        named = sum(n for name, n in names.items() if name.startswith("label"))
        counts = missed(events)
        equal((got.returncode, len(work_of(events)), named + counts.pop(lost, 0), counts,
               named < 10000), (0, 10000, 10000, {}, lost is not None),
              f"10,000 command buffers with labels, {what}")


def check_many():
    check_same("four threads, each with a device", "threads", "4", "200")
    check_same("twenty instances, one after the other", "again", "20")
    check_same("a program of Vulkan 1.0", "old")
    check_same("the child of a fork, of a parent that has an instance", "fork")
    calls = of(record([PROGRAM, "fork"])[1], "runtime")
    report = run([XSPROF, "report", "--gpu", CAPTURE]).stdout
    result("# Vulkan device 64, llvmpipe" in report, "the child of a fork: its device is named",
           report)
    result(calls and all(e["thread_id"] == e["pid"] for e in calls),
           "the child of a fork: calls are of its own thread", calls[:1])
    got, events = record([PROGRAM, "storm", "5000"])
    counts = missed(events)
    lost = counts.pop("not recorded: batches, because too many were in flight", 0)
    equal((seen(events)[0]["vkQueueSubmit"], len(work_of(events)) + lost, counts), (5000, 5000, {}),
          "5,000 submits at once: what there is no room for is counted")


def check_later():
    alone = run([PROGRAM, "later"])
    got, events = record([PROGRAM, "later"])
    calls, batches, queues, _ = said(got.stdout)
    equal((got.returncode, got.stdout, seen(events), missed(events)),
          (0, alone.stdout, (calls, batches, queues), {}),
          "submits that wait for values of a timeline that come later do as without a recording")


def check_ends():
    got, events = record([PROGRAM, "destroyed"])
    lost = missed(events).get("not recorded: batches in flight when their device was destroyed", 0)
    equal((got.returncode, len(work_of(events)) + lost), (0, 1),
          "a device that is destroyed while its work is under way")
    got, events = record([PROGRAM, "endless"])
    equal((got.returncode, missed(events)),
          (0, {"not recorded: batches, because the program ended": 1}),
          "a batch that never began is counted")
    report = run([XSPROF, "report", "--gpu", CAPTURE]).stdout
    result("\n# not recorded: 1 batches, because the program ended (process " in report,
           "report --gpu says what is missing", report)
    got, events = record([PROGRAM, "all"], options=())
    equal(of(events, "runtime", "kernel"), [], "without --gpu it is not recorded")
    got, events = record([PROGRAM, "all"], options=("--gpu", "--categories=-vulkan"))
    equal((got.returncode, of(events, "runtime", "kernel")), (0, []),
          "without its category it is not recorded")
    alone = run([PROGRAM, "all"], VK_INSTANCE_LAYERS=RECORD, VK_LAYER_PATH=OURS)
    equal((alone.returncode, alone.stderr, seen([])[0]), (0, "", collections.Counter()),
          "without a recorder the layer does nothing")


def counted():
    with open(COUNT, encoding="ascii") as f:
        return [int(n) for n in f.read().split()]


def check_layers():
    """The program: 5 submits of 5 batches, of 407 command buffers; one submit has a fence."""
    for name, more in (
            ("VK_ADD_LAYER_PATH", {"VK_ADD_LAYER_PATH": LAYERS}),
            ("VK_LAYER_PATH", {"VK_LAYER_PATH": LAYERS})):
        check_same(f"a layer of the user's, by {name}", "all",
                   VK_INSTANCE_LAYERS="VK_LAYER_TEST_count", **more)
        equal(counted(), [5, 5, 407],
              f"a layer of the user's, by {name}, sees what the program did")
        os.unlink(COUNT)
    check_same("a layer of the user's that is not there", "all",
               VK_INSTANCE_LAYERS="VK_LAYER_TEST_none")
    check_same("a layer below ours", "all", **below("VK_LAYER_TEST_count", LAYERS))
    equal(counted(), [6, 5, 417], "a layer below ours sees two command buffers more a batch")


def check_lies():
    """Devices with limits that lavapipe does not have."""
    more = below("VK_LAYER_TEST_count", LAYERS)
    _, events = check_same("a queue that can do nothing but copy", "transfer",
                           COUNT_LIE="transfer", **more)
    equal({e["kind"] for e in work_of(events)}, {"memcpy"},
          "a queue that can do nothing but copy: its batches are copies")
    check_waited("a queue that can do nothing but copy", events)
    _, events = check_same("timestamps of 36 bits", "transfer", COUNT_LIE="few-bits", **more)
    check_waited("timestamps of 36 bits", events)
    _, events = check_same("a device whose clock cannot be asked for", "transfer",
                           COUNT_LIE="uncalibrated", **more)
    check_waited("a device whose clock cannot be asked for", events)
    got, events = record([PROGRAM, "all"], COUNT_LIE="no-bits", **more)
    equal((seen(events)[0], work_of(events), missed(events)),
          (said(got.stdout)[0], [], {"not recorded: batches of queues without timestamps": 5}),
          "a queue without timestamps: its calls, and what is missing")


def check_validation():
    more = below(VALIDATION, STANDARD)
    both = {"VK_INSTANCE_LAYERS": f"{RECORD}:VK_LAYER_TEST_count:{VALIDATION}",
            "VK_LAYER_PATH": f"{OURS}:{LAYERS}:{STANDARD}", "COUNT_LIE": "transfer"}
    got, events = record([PROGRAM, "transfer"], **both)
    equal((got.returncode, "Validation Error" in got.stdout, {e["kind"] for e in work_of(events)}),
          (0, False, {"memcpy"}), "validation finds no error: queries that the host resets")
    for mode in (["all"], ["old"], ["threads", "4", "50"], ["again", "3"], ["transfer"],
                 ["labels"]):
        got, _ = record([PROGRAM, *mode], **more)
        noise = [line for line in got.stdout.splitlines()
                 if line.split()[0] not in ("call", "batch", "queues", "ran", "name")]
        equal((got.returncode, noise), (0, []), f"validation finds no error: {' '.join(mode)}")
    got, _ = record([PROGRAM, "destroyed"], **more)
    result("VUID-vkDestroyDevice-device-00378" in got.stdout,
           "validation finds an error of the program's", got.stdout)


def check_valgrind():
    """Ignores the driver's errors; finds the program's leaks by our frames in them."""
    ours = {}
    for mode in (["threads", "4", "20"], ["again", "2"], ["destroyed"]):
        got = run([XSPROF, "record", "--gpu", "-o", CAPTURE, "--", "valgrind", "-q",
                   "--leak-check=full", f"--fullpath-after={ROOT}/", PROGRAM, *mode])
        ours[mode[0]] = [line for line in got.stderr.splitlines() if "(gpu/vulkan/" in line]
        if mode[0] != "destroyed":
            equal((got.returncode, ours[mode[0]]), (0, []), f"valgrind: {' '.join(mode)}")
    result(ours["destroyed"], "valgrind sees what a program does not free")


def check_vkcube():
    got, events = record(["xvfb-run", "-a", "vkcube", "--c", "60"])
    calls, batches, _ = seen(events)
    equal((got.returncode, calls["vkQueueSubmit"], calls["vkQueuePresentKHR"], batches),
          (0, 61, 60, collections.Counter({1: 61})), "vkcube: 61 submits and 60 presents")
    equal(missed(events), {}, "vkcube: nothing is missed")
    check_pairs(events, "vkcube: each batch after its call")


compile_all()
if not failed():
    check_all()
    check_kineto()
    check_labels()
    check_labelled()
    check_many()
    check_later()
    check_ends()
    check_layers()
    check_lies()
    check_validation()
    check_valgrind()
    check_vkcube()
finish()
