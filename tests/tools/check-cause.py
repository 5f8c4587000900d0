#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Classifies the time of ranges from a capture's text, and compares that with `xsprof report
--json`; or checks whether `--why --json` names a cause.

usage: check-cause.py sums TEXT REPORT
       check-cause.py why REPORT WHAT

Shares no code with the report, and keeps no sums: adds up each range from the list of its thread's
changes. The text must be of a capture without losses.
"""
import bisect, collections, json, re, sys

MARKS = ("begin", "end", "complete", "span")
CLASSES = ["on_cpu", "runnable", "blocked", "io", "syscall", "fault", "irq", "softirq", "unknown"]


def adds_up(row):
    return row["wall_ns"] == sum(row[c + "_ns"] for c in CLASSES)


class Machine:
    def __init__(self):
        self.run = collections.defaultdict(lambda: "unknown")
        self.cpu_of, self.nr, self.fault = {}, {}, set()
        self.current, self.tops = {}, collections.defaultdict(list)
        self.left, self.last, self.proven = {}, {}, {}
        self.changes = collections.defaultdict(list)
        self.syscalls = False

    def note(self, tid, ns):
        run = self.run[tid]
        if run == "on":
            top = self.tops[self.cpu_of[tid]]
            run = top[-1][0] if top else "syscall" if tid in self.nr else "on_cpu"
        changes = self.changes[tid]
        if not changes or changes[-1][1] != run:
            changes.append((ns, run))

    def put(self, tid, cpu, ns, run):
        if tid:
            self.run[tid] = run
            if cpu is not None:
                self.cpu_of[tid] = cpu
            self.note(tid, ns)

    def surprise(self, cpu, tid):
        """A task appears without a switch: where the previous one went is unknown."""
        old = self.current.get(cpu, tid)
        if old and old != tid and self.run[old] == "on" and self.cpu_of[old] == cpu:
            self.run[old] = "unknown"
            self.nr.pop(old, None)
            self.fault.discard(old)
            self.note(old, max(self.last.get(cpu, 0), self.changes[old][-1][0]))

    def seen(self, tid, cpu, ns, certain):
        if certain and self.current.get(cpu, tid) != tid:
            self.surprise(cpu, tid)
            self.tops[cpu] = []
            self.current[cpu] = tid
            self.proven[cpu] = ns
        if tid and (self.run[tid] == "unknown" or (certain and self.run[tid] != "on")):
            if cpu not in self.current:
                self.current[cpu], self.proven[cpu] = tid, ns
            self.put(tid, cpu, ns, "on")

    def kernel(self, tid, cpu, ns, name, text):
        f = dict(re.findall(r"(\w+)=(\S*)", text))
        if name == "sched_switch":
            m = re.search(r"prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+)", text)
            prev, state, new = int(m[1]), m[2], int(m[3])
            letter = state.split("|")[-1].rstrip("+")[:1]
            run = {"R": "runnable", "D": "io", "X": "unknown", "Z": "unknown"}.get(letter,
                                                                                   "blocked")
            if run in ("io", "blocked") and prev in self.fault and prev not in self.nr and \
                    self.syscalls:
                run = "fault"
            self.surprise(cpu, prev)
            self.tops[cpu] = []
            self.left[cpu] = prev
            self.put(prev, cpu, ns, run)
            self.current[cpu], self.proven[cpu] = new, ns
            self.put(new, cpu, ns, "on")
            return
        if self.current.get(cpu) == tid:
            self.left[cpu], self.proven[cpu] = None, ns
        else:
            # For a moment the kernel still acts as the task that just left.
            self.seen(tid, cpu, ns, cpu in self.current and self.left.get(cpu, 0) != tid)
        if name in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
            who = int(re.search(r" pid=(\d+)", text)[1])
            if self.run[who] not in ("on", "runnable"):
                self.put(who, int(f["target_cpu"]), ns, "runnable")
        elif name in ("sys_enter", "sys_exit"):
            self.seen(tid, cpu, ns, True)
            self.fault.discard(tid)
            if name == "sys_enter":
                self.syscalls = True
                self.nr[tid] = 1
            else:
                self.nr.pop(tid, None)
            if tid:
                self.note(tid, ns)
        elif name == "page_fault_user":
            self.seen(tid, cpu, ns, True)
            self.fault.add(tid)
        else:
            m = re.fullmatch(r"(softirq|irq_handler|\w+)_(entry|exit)", name)
            if not m:
                return
            kind = "softirq" if m[1] == "softirq" else "irq"
            which = f.get("vec") or f.get("irq") or f.get("vector")
            if m[2] == "entry":
                self.tops[cpu].append((kind, which))
            elif (kind, which) in self.tops[cpu]:
                while self.tops[cpu].pop() != (kind, which):
                    pass
            if self.run[self.current.get(cpu)] == "on":
                self.note(self.current[cpu], ns)

    def split(self, tid, begin, end):
        out = dict.fromkeys(CLASSES, 0)
        changes = self.changes[tid]
        i = bisect.bisect_right(changes, begin, key=lambda c: c[0])
        at, run = begin, changes[i - 1][1] if i else "unknown"
        while at < end:
            to = changes[i][0] if i < len(changes) and changes[i][0] < end else end
            out[run] += to - at
            at = to
            if i < len(changes):
                run = changes[i][1]
            i += 1
        return out


def ns_of(text):
    s, frac = text.split(".")
    return int(s) * 10**9 + int(frac)


LINE = re.compile(r"^.*?-(\d+)\s+\[(\d+|---)\]\s+(\d+\.\d{9}): (\w+): ?(.*)$")


KERNEL = re.compile(r"sched_|sys_(enter|exit)$|page_fault_|.*_(entry|exit)$")


def lines(text):
    for line in open(text, errors="replace"):
        m = LINE.match(line)
        if m and not line.startswith("#") and (m[4] in MARKS or KERNEL.match(m[4])):
            yield (int(m[1]), None if m[2] == "---" else int(m[2]), ns_of(m[3]), m[4], m[5])


def numbers(text):
    """In a pid namespace thread ids are not the kernel's: finds the kernel's task that ran where
    and when a thread wrote its markers."""
    current, votes = {}, collections.defaultdict(collections.Counter)
    for tid, cpu, ns, name, rest in lines(text):
        if name in MARKS:
            if current.get(cpu):
                votes[tid][current[cpu]] += 1
        elif cpu is not None:
            new = re.search(r"next_pid=(\d+)", rest) if name == "sched_switch" else None
            current[cpu] = int(new[1]) if new else tid
    return {tid: v.most_common(1)[0][0] for tid, v in votes.items()}


# The time of a range inside another of its name counts there.
def inside(stack, what):
    return any(name == what for _, name in stack)


def sums(text, report):
    machine, stacks, rows = Machine(), collections.defaultdict(list), {}
    ranges, number = [], numbers(text)
    for tid, cpu, ns, name, rest in lines(text):
        if name in MARKS:
            tid = number.get(tid, tid)
        if name in MARKS:
            if cpu is not None and machine.changes:
                off = machine.run[tid] not in ("on", "unknown")
                machine.seen(tid, cpu, ns, off and ns > machine.proven.get(cpu, ns) + 20000)
                machine.fault.discard(tid)
            if name == "begin":
                stacks[tid].append((ns, rest.split()[0]))
            elif name == "end":
                begin, what = stacks[tid].pop()
                ranges.append((tid, begin, ns, what, inside(stacks[tid], what)))
            else:
                d = re.search(r"begin=(\S+) end=(\S+)", rest)
                what = rest.split()[0]
                ranges.append((tid, ns_of(d[1]), ns_of(d[2]), what, inside(stacks[tid], what)))
        else:
            machine.kernel(tid, cpu, ns, name, rest)
            machine.last[cpu] = ns
    for tid, begin, end, what, again in ranges:
        row = rows.setdefault(what, collections.Counter())
        if not again:
            row["wall"] += end - begin
            row.update(machine.split(tid, begin, end))
    assert rows, "no ranges"
    report = json.load(open(report))
    assert not report["cause"]["losses"] and not report["cause"]["forgotten"], report["cause"]
    assert len(report["ranges"]) == len(rows), (len(report["ranges"]), len(rows))
    for r in report["ranges"]:
        mine, cause = rows[r["name"]], r["cause"]
        assert cause["wall_ns"] == r["total_ns"] == mine["wall"], (r, mine)
        assert adds_up(cause), r
        for c in CLASSES:
            assert cause[c + "_ns"] == mine[c], (r["name"], c, cause[c + "_ns"], mine[c])
    print(len(ranges), "ranges,", sum(len(c) for c in machine.changes.values()), "changes")


# The expected largest cause, apart from the thread's own work.
WHATS = {
    "cpu": lambda c: c["class"] == "runnable" and c["by"]["comm"] == "hog",
    "lock": lambda c: c["class"] == "blocked" and c["by"]["comm"] == "holder" and
            c["syscall"] == "futex",
    "chain": lambda c: c["class"] == "blocked" and c["by"]["comm"] == "holder" and
             c["chain"][0]["class"] == "runnable" and c["chain"][0]["by_comm"] == "hog",
    "fault": lambda c: c["class"] == "fault" and c["by"]["comm"] == "pager",
    "io": lambda c: c["class"] == "io" and c["syscall"] == "pwrite64",
    "softirq": lambda c: c["class"] == "softirq" and c["by"]["name"] == "NET_RX" and
               c["count"] >= 2900,
    "gap": lambda c: c["class"] == "blocked" and c["syscall"] == "clock_nanosleep" and
           c["by"]["context"] == "irq",
}


def why(report, what):
    report = json.load(open(report))
    if what == "gap":
        window = report["gaps"][0]
        assert window["before"] == "before" and window["name"] == "after", window
    elif what != "sum":
        window = report["ranges"][0]
        assert window["name"] == "op", window
    for w in report.get("ranges") or report["gaps"]:
        assert adds_up(w["sum"]) and w["wall_ns"] == w["end_ns"] - w["begin_ns"], w
        assert sum(c["ns"] for c in w["causes"]) == w["wall_ns"], w
        for c in CLASSES:
            assert w["sum"][c + "_ns"] == sum(i["ns"] for i in w["causes"] if i["class"] == c), w
        assert [c["ns"] for c in w["causes"]] == sorted((c["ns"] for c in w["causes"]),
                                                        reverse=True), w
    if what == "sum":
        return
    waits = [c for c in window["causes"] if c["class"] not in ("on_cpu", "syscall")]
    if what == "softirq":
        # The duration of the kernel's own softirqs depends on the machine.
        waits = [c for c in waits if c["class"] != "softirq" or
                 c["by"]["name"] not in ("RCU", "TIMER", "SCHED", "HRTIMER")]
    assert WHATS[what](waits[0]), waits[:3]


if sys.argv[1] == "sums":
    sums(*sys.argv[2:])
else:
    why(*sys.argv[2:])
