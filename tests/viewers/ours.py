# SPDX-License-Identifier: GPL-2.0-only
"""Reads a capture's ndjson, and compares it with a viewer's data."""
import collections
import json
import re


class Ours:
    """Ranges by (tid, name): count and ns; open ranges, flows, counters, threads, processes."""

    def __init__(self, path):
        self.types = collections.Counter()
        self.ranges = collections.defaultdict(lambda: [0, 0])
        self.open = set()
        self.flows = collections.defaultdict(list)
        self.counters = collections.defaultdict(lambda: [0, 0])
        self.threads, self.programs, self.others = {}, {}, {}
        self.forks, self.began, self.ended, self.tasks = {}, {}, {}, {}
        self.switches, self.idle = collections.Counter(), 0
        self.left = set()    # tasks that left their CPU for the last time
        self.stacks = collections.defaultdict(list)
        self.categories = {}
        self.forwards, self.links = {}, []
        with open(path, encoding="utf-8") as f:
            for line in f:
                self.take(json.loads(line))
        # A thread may leave its CPU for the last time after its process was seen to end.
        self.tasks.update((tid, pid) for tid, (pid, _) in self.threads.items())
        for tid, pid in self.tasks.items():
            if pid in self.ended:
                self.ended[pid] = max(self.ended[pid], self.ended.get(tid, 0))

    def all_left(self, pid):
        """Returns whether the capture has the last switch of each thread of a process."""
        return self.left.issuperset({pid, *(t for t, p in self.tasks.items() if p == pid)})

    def take(self, e):
        kind = e["type"]
        self.types[kind] += 1
        if kind == "kernel":
            self.switches[e["cpu"]] += e["name"] == "sched_switch"
            self.idle += e["name"] == "sched_switch" and e["fields"]["next_pid"] == 0
            if e["name"] == "sched_switch" and e["fields"]["prev_state"] & 0x30:
                self.ended[e["fields"]["prev_pid"]] = e["ns"]
                self.left.add(e["fields"]["prev_pid"])
            if e["tid"] == e["pid"] != 0:
                self.others[e["tid"]] = e["comm"]
            elif e["pid"]:
                self.tasks[e["tid"]] = e["pid"]
            if e["name"] == "sched_process_fork" and e["pid"]:
                self.forks[e["fields"]["child_pid"]] = e["pid"], e["ns"]
            return
        if "tid" not in e:
            return
        tid = e["tid"]
        if e.get("thread"):
            self.threads[tid] = e["pid"], e["thread"]
        if "cat" in e:
            self.categories[e["name"]] = e["cat"]
        if kind == "producer":
            self.programs[e["pid"]] = e["program"]
            self.began[e["pid"]] = e["ns"]
        elif kind == "exit" and e["how"] not in ("exec", "running"):
            self.ended[e["pid"]] = e["ns"] + 1
        elif kind == "begin":
            self.stacks[e["producer"], tid].append((e["name"], e["ns"], e))
        elif kind == "end" and self.stacks[e["producer"], tid]:
            name, begin, op = self.stacks[e["producer"], tid].pop()
            self.add(tid, name, e["ns"] - begin)
            self.link(op)
        elif kind in ("span", "complete"):
            self.add(tid, e["name"], e["end_ns"] - e["begin_ns"])
        elif kind == "open":
            self.open.add((tid, e["name"]))
        elif kind.startswith("flow-"):
            # A flow's end is in the innermost open range, if there is one.
            around = [(name, ns) for name, ns, op in self.stacks[e["producer"], tid][-1:]]
            self.flows[e["producer"], e["value"]].append((e["name"], tid, e["ns"], around))
        # For a double that is not finite, viewers draw an instant.
        elif kind == "counter" and not isinstance(e.get("f64"), str):
            self.counters[e["name"]][0] += 1
            self.counters[e["name"]][1] += e.get("f64", e["value"])

    def link(self, op):
        """Links a backward op with the forward op of its number, the innermost of several."""
        number, thread = op.get("sequence", -1), op.get("forward_thread")
        if number < 0:
            return
        if not thread:
            old = self.forwards.get((op["producer"], op["tid"], number))
            if not old or old["ns"] <= op["ns"]:
                self.forwards[op["producer"], op["tid"], number] = op
        elif (op["producer"], thread, number) in self.forwards:
            to = self.forwards[op["producer"], thread, number]
            self.links.append((to["name"], op["name"], thread, op["tid"], op["ns"] - to["ns"]))

    def add(self, tid, name, dur):
        # Viewers differ in showing ranges of no time.
        if dur:
            self.ranges[tid, name][0] += 1
            self.ranges[tid, name][1] += dur

    def closed(self):
        """Returns ranges by thread and name, without those that a viewer has to end."""
        return {key: list(v) for key, v in self.ranges.items() if key not in self.open}


def by_name(ranges):
    """Returns the ranges of all threads: {name: [count, ns]}."""
    sums = {}
    for (_, name), (n, ns) in ranges.items():
        old = sums.get(name, [0, 0])
        sums[name] = [old[0] + n, old[1] + ns]
    return sums


def track_thread(name):
    """Returns the thread of a track for its overlapping ranges; None for other tracks."""
    match = re.match("overlapping ranges of (?:thread )?([0-9]+)", name or "")
    return int(match.group(1)) if match else None


class Comparison:
    """Prints differences; wrong is their number."""

    def __init__(self):
        self.wrong = 0

    def same(self, what, got, want):
        if got == want:
            return
        self.wrong += 1
        if isinstance(got, dict) and isinstance(want, dict):
            for key in sorted(set(got) | set(want), key=str):
                if got.get(key) != want.get(key):
                    print("%s: %r: viewer %r, capture %r" %
                          (what, key, got.get(key), want.get(key)))
        else:
            print("%s: viewer %.300r, capture %.300r" % (what, got, want))
