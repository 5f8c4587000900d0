#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads a Perfetto trace by its wire format alone and checks it.

usage: check-perfetto.py [-p | -r | -s] FILE [events]

-p prints each packet as a line of JSON, -r the ranges (begin, end, name), -s a summary. With a
number: how many events of the capture it must contain. On an error prints one line and exits with
1. Knows the messages of perfetto.proto; any other field is an error.
"""
import collections
import json
import os
import re
import struct
import sys

PROTO = os.path.join(os.path.dirname(__file__), "perfetto.proto")
SCALARS = {"int32", "int64", "uint32", "uint64", "bool", "fixed64", "double", "string"}
MARKERS, KERNEL, LOSSES, SAMPLES = 1, 2, 3, 4
CLEARED, NEEDED = 1, 2
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6
# Interned messages without text: the fields that refer to other interned messages.
REFERS = {
    "frames": (("function_name_id", "function_names"), ("mapping_id", "mappings")),
    "callstacks": (("frame_ids", "frames"),),
    "mappings": (("path_string_ids", "mapping_paths"),),
}


def fail(text):
    print("check-perfetto: " + text)
    sys.exit(1)


def read_schema():
    """Returns messages by name: fields by number. Nested messages go by their last name."""
    messages, stack = {}, []
    for line in open(PROTO, encoding="utf-8"):
        line = line.split("//")[0].strip()
        if line.startswith("message "):
            stack.append(line.split()[1])
            messages[stack[-1]] = {}
        elif line.startswith("enum "):
            stack.append(None)
        elif line == "}":
            stack.pop()
        else:
            got = re.match(r"(optional|repeated) (\w+) (\w+) = (\d+);$", line)
            if got:
                many, kind, name, number = got.groups()
                messages[stack[-1]][int(number)] = (name, kind, many == "repeated")
    return messages


SCHEMA = read_schema()


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            fail("a number goes on beyond its message")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if byte == 0 and shift:
                fail("a number is longer than it has to be")
            return value, at
        shift += 7


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def scalar(kind, wire, data, at):
    if kind in ("fixed64", "double"):
        if wire != 1 or at + 8 > len(data):
            fail("no eight bytes where they should be")
        return struct.unpack_from("<Q" if kind == "fixed64" else "<d", data, at)[0], at + 8
    if kind == "string":
        if wire != 2:
            fail("a text has wire type %d" % wire)
        size, at = varint(data, at)
        if at + size > len(data):
            fail("a text goes on beyond its message")
        try:
            return bytes(data[at:at + size]).decode("utf-8"), at + size
        except UnicodeDecodeError:
            fail("a text is no UTF-8: %r" % bytes(data[at:at + size]))
    if wire != 0:
        fail("a number has wire type %d" % wire)
    value, at = varint(data, at)
    if kind in ("int32", "int64"):
        value = signed(value)
        if kind == "int32" and not -1 << 31 <= value < 1 << 31:
            fail("%d is no int32" % value)
    elif kind == "uint32" and value >> 32:
        fail("%d is no uint32" % value)
    return bool(value) if kind == "bool" else value, at


def message(name, data):
    """Parses a message into a dict; lists for repeated fields."""
    fields, out, at = SCHEMA[name], {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number not in fields:
            fail("%s has no field %d" % (name, number))
        field, kind, many = fields[number]
        if kind in SCALARS:
            value, at = scalar(kind, wire, data, at)
        elif kind in SCHEMA:
            if wire != 2:
                fail("message %s.%s has wire type %d" % (name, field, wire))
            size, at = varint(data, at)
            if at + size > len(data):
                fail("%s.%s goes on beyond its message" % (name, field))
            value, at = message(kind, data[at:at + size]), at + size
        else:       # an enum
            value, at = scalar("uint32", wire, data, at)
        if many:
            out.setdefault(field, []).append(value)
        elif field in out:
            fail("%s.%s is there twice" % (name, field))
        else:
            out[field] = value
    return out


def packets(path):
    """Yields packets one by one: the trace may not fit into memory in parsed form."""
    with open(path, "rb") as f:
        data = memoryview(f.read())
    at = 0
    while at < len(data):
        if data[at] != 10:
            fail("byte %d begins no packet" % at)
        size, at = varint(data, at + 1)
        if at + size > len(data):
            fail("the last packet is cut")
        yield message("TracePacket", data[at:at + size])
        at += size


class Sequence:
    def __init__(self):
        self.valid = False
        self.clock = None
        self.texts = {}


class Check:
    def __init__(self):
        self.sequences = {}
        self.tracks = {}
        self.events = collections.defaultdict(list)     # by track: ns, type, name, follows, keys
        self.counts = collections.Counter()
        self.cpus = {}
        self.clocks = None
        self.attributes = None
        self.before = None
        self.kinds = collections.Counter()

    def sequence(self, p):
        number = p.get("trusted_packet_sequence_id")
        if not number:
            fail("a packet of nobody: %r" % p)
        s = self.sequences.get(number)
        flags = p.get("sequence_flags", 0)
        if s is None:
            s = self.sequences[number] = Sequence()
            if not p.get("first_packet_on_sequence") or not flags & CLEARED:
                fail("the first packet of sequence %d does not say so: %r" % (number, p))
        elif p.get("first_packet_on_sequence"):
            fail("a second first packet of sequence %d" % number)
        if flags & CLEARED:
            s.valid, s.clock, s.texts = True, None, {}
        elif p.get("previous_packet_dropped"):
            s.valid = False
        if flags & NEEDED and not s.valid:
            fail("needs what was forgotten: %r" % p)
        if "trace_packet_defaults" in p:
            s.clock = p["trace_packet_defaults"].get("timestamp_clock_id")
        for kind, entries in p.get("interned_data", {}).items():
            for e in entries:
                if not e.get("iid") or (kind, e["iid"]) in s.texts or \
                        ("name" not in e) != (kind in REFERS):
                    fail("interned twice or nothing: %r" % e)
                for field, of in REFERS.get(kind, ()):
                    for iid in e[field] if isinstance(e[field], list) else [e[field]]:
                        if (of, iid) not in s.texts:
                            fail("%s %d is not interned" % (of, iid))
                s.texts[kind, e["iid"]] = e.get("name")
        return s, flags

    def text(self, s, flags, kind, iid):
        if not flags & NEEDED:
            fail("%s %d is used without saying so" % (kind, iid))
        if (kind, iid) not in s.texts:
            fail("%s %d is not interned" % (kind, iid))
        return s.texts[kind, iid]

    def annotation(self, s, flags, a):
        if ("name" in a) + ("name_iid" in a) != 1:
            fail("an annotation without a name: %r" % a)
        name = a["name"] if "name" in a else self.text(s, flags, "debug_annotation_names",
                                                       a["name_iid"])
        values = [k for k in a if k.endswith("_value") or k == "string_value_iid" or
                  k == "array_values"]
        if len(values) > 1 or (not values and name != "frames"):
            fail("an annotation with %d values: %r" % (len(values), a))
        if "string_value_iid" in a:
            self.text(s, flags, "debug_annotation_string_values", a["string_value_iid"])
        return name

    def track_event(self, p, s, flags):
        e = p["track_event"]
        clock = p.get("timestamp_clock_id", s.clock if flags & NEEDED else None)
        if "timestamp" not in p or clock != MONOTONIC:
            fail("an event without a time of our clock: %r" % p)
        kind, uuid = e.get("type"), e.get("track_uuid")
        if uuid not in self.tracks:
            fail("an event on a track that is not described: %r" % p)
        if (kind == COUNTER) != ("counter" in self.tracks[uuid]):
            fail("counters and others on one track: %r" % p)
        if (kind == COUNTER) != ("counter_value" in e or "double_counter_value" in e):
            fail("a counter without a value, or a value without: %r" % p)
        name = e.get("name")
        if "name_iid" in e:
            if name is not None:
                fail("two names: %r" % p)
            name = self.text(s, flags, "event_names", e["name_iid"])
        if kind in (BEGIN, INSTANT) and name is None:
            fail("an event without a name: %r" % p)
        for iid in e.get("category_iids", []):
            self.text(s, flags, "event_categories", iid)
        if kind in (BEGIN, INSTANT) and not e.get("category_iids") and not e.get("categories"):
            fail("an event without a category: %r" % p)
        keys = [self.annotation(s, flags, a) for a in e.get("debug_annotations", [])]
        if len(set(keys)) < min(len(keys), 256):
            fail("arguments of one name: %.300r" % keys)
        follows = kind == END and self.before == (uuid, BEGIN)
        self.events[uuid].append((p["timestamp"], kind, name, follows, keys))
        self.counts[kind] += 1
        return uuid, kind

    def descriptor(self, d):
        uuid = d.get("uuid")
        if not uuid:
            fail("a track without a number: %r" % d)
        if "parent_uuid" in d and d["parent_uuid"] not in self.tracks:
            fail("a track whose parent is not described: %r" % d)
        if "process" in d and "pid" not in d["process"]:
            fail("a process without a pid: %r" % d)
        if "thread" in d and not {"pid", "tid"} <= set(d["thread"]):
            fail("a thread without pid and tid: %r" % d)
        if not {"process", "thread", "name"} & set(d):
            fail("a track that nobody can name: %r" % d)
        old = self.tracks.get(uuid)

        def what(track):
            return (track.get("parent_uuid"), track.get("process", {}).get("pid"),
                    track.get("thread", {}).get("tid"), "counter" in track)
        if old and what(old) != what(d):
            fail("one number for two tracks: %r, %r" % (old, d))
        self.tracks[uuid] = d

    def bundle(self, p):
        b = p["ftrace_events"]
        if "cpu" not in b or p["trusted_packet_sequence_id"] != KERNEL:
            fail("a bundle of no CPU: %r" % p)
        if not self.clocks or BOOTTIME not in self.clocks:
            fail("kernel events without its clock")
        for e in b.get("event", []):
            which = [k for k in e if k not in ("timestamp", "pid")]
            if len(which) != 1 or "timestamp" not in e or "pid" not in e:
                fail("no kernel event: %r" % e)
            name = which[0]
            kind = e[name].get("event_name", name)
            # Those that dump makes are of no CPU.
            made = kind in ("sched_process_free", "xsprof_begin") and not e["pid"]
            if not made and e["timestamp"] < self.cpus.get(b["cpu"], 0):
                fail("CPU %d: time goes back: %r" % (b["cpu"], e))
            if not made:
                self.cpus[b["cpu"]] = e["timestamp"]
            self.kinds[kind] += 1
            # It marks a missing switch and comes directly before it; ends can be inferred too.
            self.counts["kernel"] += -1 if kind == "inferred_sched_switch" else \
                kind not in ("sched_process_free", "xsprof_begin")

    def snapshot(self, p):
        s = p["clock_snapshot"]
        if s.get("primary_trace_clock") != MONOTONIC:
            fail("another clock: %r" % p)
        clocks = {c["clock_id"]: c["timestamp"] for c in s["clocks"]}
        if len(clocks) != len(s["clocks"]) or MONOTONIC not in clocks:
            fail("clocks twice, or none of ours: %r" % p)
        if self.clocks and clocks[MONOTONIC] <= self.clocks[MONOTONIC]:
            fail("clocks go back: %r" % p)
        self.clocks = clocks

    def packet(self, p):
        if self.attributes is not None:
            fail("a packet behind the last: %r" % p)
        s, flags = self.sequence(p)
        before = None
        if "track_descriptor" in p:
            # A reader would take the thread for the writer's own, also after its end.
            if p["trusted_packet_sequence_id"] == MARKERS:
                fail("described by the writer of events: %r" % p)
            self.descriptor(p["track_descriptor"])
        elif "track_event" in p:
            before = self.track_event(p, s, flags)
        elif "ftrace_events" in p:
            self.bundle(p)
        elif "perf_sample" in p:
            e = p["perf_sample"]
            if "timestamp" not in p or s.clock != MONOTONIC or not e.get("pid") or \
                    not e.get("tid"):
                fail("a sample of nothing: %r" % p)
            self.text(s, flags, "callstacks", e["callstack_iid"])
            self.counts["samples"] += 1
        elif "clock_snapshot" in p:
            self.snapshot(p)
        elif "process_tree" in p:
            for t in p["process_tree"].get("threads", []):
                if not t.get("tid") or not t.get("tgid"):
                    fail("a task of nothing: %r" % p)
        elif "trace_attributes" in p:
            self.attributes = {a["key"]: a.get("long_value", a.get("string_value"))
                               for a in p["trace_attributes"]["attribute"]}
        self.before = before

    def nest(self):
        """Nests ranges as readers do: by time, events of one time in the order of the file."""
        ranges = []
        for uuid, events in self.events.items():
            order = sorted(range(len(events)), key=lambda i: events[i][0])
            stack = []
            for i in order:
                ns, kind, name, follows, keys = events[i]
                if kind == BEGIN:
                    stack.append(i)
                elif kind == END:
                    if not stack:
                        fail("track %d: an end at %d with nothing open" % (uuid, ns))
                    begin = stack.pop()
                    if follows and begin != i - 1:
                        fail("track %d: the range that ends at %d does not nest" % (uuid, ns))
                    # Readers merge the arguments of both ends; both ends of an async range have its
                    # id.
                    if set(keys) & set(events[begin][4]) - {"id"}:
                        fail("both ends of a range have %r" % keys)
                    ranges.append((events[begin][0], ns, events[begin][2]))
            if stack:
                fail("track %d: %d ranges stay open" % (uuid, len(stack)))
        return ranges

    def count(self):
        a = self.attributes
        if a is None:
            fail("it does not say what it is")
        c = self.counts
        if c["kernel"] != a["xsprof.events_kernel"]:
            fail("%d kernel events, says there are %d" % (
                c["kernel"], a["xsprof.events_kernel"]))
        shown = c[BEGIN] + c[END] + c[INSTANT] + c[COUNTER] + c["kernel"] + \
            c["samples"]
        shown -= a["xsprof.ranges_in_one_event"] + a["xsprof.ranges_closed"]
        shown += a["xsprof.events_merged"] + a["xsprof.events_left_out"]
        if shown != a["xsprof.entries"]:
            fail("%d events, says there are %d" % (shown, a["xsprof.entries"]))
        return shown


def main(args):
    option = args.pop(0) if args[0] in ("-p", "-r", "-s") else None
    check = Check()
    for p in packets(args[0]):
        if option == "-p":
            print(json.dumps(p, sort_keys=True, ensure_ascii=False))
        check.packet(p)
    if set(check.sequences) - {SAMPLES} != {MARKERS, KERNEL, LOSSES}:
        fail("sequences %r" % sorted(check.sequences))
    ranges = check.nest()
    shown = check.count()
    if len(args) > 1 and shown != int(args[1]):
        fail("%d events, expected %s" % (shown, args[1]))
    if option == "-r":
        for r in sorted(ranges):
            print("%d %d %s" % (r[0], r[1], json.dumps(r[2])))
    elif option == "-s":
        print("%d events; %d tracks, %d ranges, %d instants, %d counters" % (
            shown, len(check.tracks), len(ranges), check.counts[INSTANT],
            check.counts[COUNTER]))
        for uuid, d in check.tracks.items():
            print("track %d: %s: %d" % (uuid, json.dumps(
                {k: v for k, v in d.items() if k != "uuid"}), len(check.events[uuid])))
        for name, n in check.kinds.most_common():
            print("kernel %s: %d" % (name, n))


main(sys.argv[1:])
