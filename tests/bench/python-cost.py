#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What recording costs a Python program.

Usage: python-cost.py XSPROF LIBRARY FOLDER PYTHON: captures go to FOLDER; LIBRARY is preloaded in
the runs without a recorder.

How memory of a process lies makes more of a difference than what is measured, and the machine
changes with time. So each process is its own measure: it does the same work while it is recorded
and, after record --duration has left it, unrecorded, in turn with two processes that nobody
records. What it took more is compared with what those took more. Each part has new processes; the
figure is the median of all parts. It writes lines of id, unit, min, value, max for table.py.
"""
import os
import statistics
import subprocess
import sys
import time

XSPROF, LIBRARY, FOLDER, PYTHON = sys.argv[1:]
PARTS = 6
ROUNDS = 10
CALLS = 500_000
WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python-work.py")


class Way:
    """A process that does its work when it is told to."""
    made = 0

    def __init__(self, what, options=None, duration=None, **env):
        Way.made += 1
        self.data = None
        self.command = [PYTHON, WORK, what]
        if options is not None:
            self.data = os.path.join(FOLDER, "python-%d.data" % Way.made)
            if duration:
                options = ["-d", "%dms" % (1000 * duration), *options]
            self.command = [XSPROF, "record", "-q", "-b", "64M", "-o", self.data, *options,
                            "--"] + self.command
        self.process = subprocess.Popen(self.command, env={**os.environ, **env}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.read()

    def read(self):
        line = self.process.stdout.readline().strip()
        if not line:
            sys.exit("python-cost.py: failed: %s" % " ".join(self.command))
        return line

    def measure(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.read())

    def recorded(self):
        """Is the capture complete?"""
        return not subprocess.run([XSPROF, "info", "-q", self.data], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, check=False).returncode

    def end(self):
        self.process.stdin.close()
        if self.process.wait():
            sys.exit("python-cost.py: exit status %d: %s" %
                     (self.process.returncode, " ".join(self.command)))
        if self.data:
            # A recording that lost records is none.
            if not self.recorded():
                sys.exit("python-cost.py: %s: not all of it was recorded" % self.data)
            os.unlink(self.data)


def rounds(running):
    """By way: the median time of its rounds."""
    took = {name: [] for name in running}
    for _ in range(ROUNDS):
        for name, way in running.items():
            took[name].append(way.measure())
    return {name: statistics.median(times) for name, times in took.items()}


def part_of(way):
    """Times of @way and of two unrecorded ones: while it is recorded, and after that."""
    running = {"bare": Way("turns"), "again": Way("turns")}
    one = max(w.measure() for w in running.values()) / 1e9
    # Half as much again, and a second for the start.
    duration = 1.5 * ROUNDS * 3 * one + 1
    begin = time.monotonic()
    running["recorded"] = way(duration)
    during = rounds(running)
    left = begin + duration - time.monotonic()
    if left < 0:
        sys.exit("python-cost.py: the machine became slower: the recording ended %.1f s too early"
                 % -left)
    time.sleep(left)
    for _ in range(100):
        if running["recorded"].recorded():
            break
        time.sleep(0.1)
    after = rounds(running)
    for w in running.values():
        w.end()
    return during, after


def figure(name, unit, one, nr):
    """@one: the figure without a part, of @nr parts. The value is that of all."""
    values = [one(part) for part in range(-1, nr)]
    print("%s\t%s\t%.4f\t%.4f\t%.4f" % (name, unit, min(values), values[0], max(values)))


def median_without(values):
    return lambda part: statistics.median(v for i, v in enumerate(values) if i != part)


def percent(name, values):
    figure(name, "%", median_without(values), len(values))


def turns_costs():
    """Writes the rows of the program whose threads take turns with the GIL."""
    options = {"python_gil": [], "python_100": ["--python=100"], "python_1000": ["--python=1000"],
               "python_native": ["--python=100", "--python-native"]}
    changed, differ = {name: [] for name in options}, {name: [] for name in options}
    loaded = []
    for part in range(PARTS):
        print("python-cost.py: part %d of %d" % (part + 1, PARTS), file=sys.stderr)
        for name, option in options.items():
            during, after = part_of(lambda duration, o=option: Way("turns", o, duration))
            more = {way: during[way] / after[way] for way in during}
            changed[name].append(100 * (2 * more["recorded"] / (more["bare"] + more["again"]) - 1))
            differ[name].append(100 * (more["bare"] / more["again"] - 1))
            # The library is loaded, and nothing is recorded.
            loaded.append(100 * (2 * after["recorded"] / (after["bare"] + after["again"]) - 1))
    figure("python_gil_off", "%", lambda part: statistics.median(
        v for i, v in enumerate(loaded) if i // len(options) != part), PARTS)
    differ["python_gil_off"] = sum(differ.values(), [])
    for name, values in changed.items():
        percent(name, values)
    for name, values in differ.items():
        if abs(statistics.median(values)) > 0.5:
            print("%s\tdoubt\tbare ones differ by %.1f %%" % (name, statistics.median(values)))


def call_costs():
    """Writes the rows of the program that calls a function: of two processes, as hooks stay."""
    took = {"bare": [], "traced": []}
    for _ in range(PARTS):
        ways = {"bare": Way("calls"), "traced": Way("calls", ["--python-trace=python-work"])}
        for name, time_of in rounds(ways).items():
            took[name].append(time_of)
        for way in ways.values():
            way.end()

    def least(name, part):
        return min(t for i, t in enumerate(took[name]) if i != part) / CALLS

    figure("python_call", "ns", lambda part: least("traced", part) - least("bare", part), PARTS)
    figure("python_call_bare", "ns", lambda part: least("bare", part), PARTS)


def left_alone():
    """By part: how much slower a process is after record -p has left it, in %.

    Another process that is let be runs beside it: what the machine does to both is taken off.
    """
    changed = []
    for part in range(PARTS):
        print("python-cost.py: record -p, part %d of %d" % (part + 1, PARTS), file=sys.stderr)
        ways = Way("turns"), Way("turns")
        times = []
        for attached in False, True:
            if attached:
                data = os.path.join(FOLDER, "python-left.data")
                subprocess.run([XSPROF, "record", "-q", "--python=1000", "-d", "0.3", "-o", data,
                                "-p", str(ways[0].process.pid)], check=True,
                               stderr=subprocess.DEVNULL)
                os.unlink(data)
            times.append(list(rounds(dict(enumerate(ways))).values()))
        for way in ways:
            way.end()
        (one, other), (one_after, other_after) = times
        changed.append(100 * (one_after / one / (other_after / other) - 1))
    return changed


def main():
    turns_costs()
    percent("python_left", left_alone())
    call_costs()


if __name__ == "__main__":
    main()
