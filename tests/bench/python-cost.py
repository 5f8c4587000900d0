#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What recording costs a Python program.

Usage: python-cost.py XSPROF LIBRARY FOLDER PYTHON: captures go to FOLDER; LIBRARY is preloaded in
the runs without a recorder.

How memory of a process lies makes more of a difference than what is measured, and the machine
changes with time. So a process is compared with itself: while it is recorded, its categories are
switched on and off in turn (xsprof enable, disable), and it does the same work each time. The
figure is the median of all turns. Without a category nothing is recorded and nobody is sampled;
what is left is to see that. It writes lines of id, unit, min, value, max for table.py.
"""
import os
import statistics
import subprocess
import sys
import time

XSPROF, LIBRARY, FOLDER, PYTHON = sys.argv[1:]
PARTS = 4
ROUNDS = 10
LAYOUTS = 12
FEW = 3  # rounds
TURNS = 8
TURN = 4  # rounds
SETTLES = 0.15  # seconds: the sampling thread looks ten times in one
CALLS = 500_000
WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python-work.py")


class Way:
    """A process that does its work when it is told to."""
    made = 0

    def __init__(self, what, options=None, **env):
        Way.made += 1
        self.data = None
        self.command = [PYTHON, WORK, what]
        if options is not None:
            self.data = os.path.join(FOLDER, "python-%d.data" % Way.made)
            self.command = [XSPROF, "record", "-q", "-b", "64M", "-o", self.data, *options,
                            "--"] + self.command
        self.process = subprocess.Popen(self.command, env={**os.environ, **env}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.read().split()[1]

    def read(self):
        line = self.process.stdout.readline().strip()
        if not line:
            sys.exit("python-cost.py: failed: %s" % " ".join(self.command))
        return line

    def measure(self):
        """The time that the work takes, and the CPU time."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [int(number) for number in self.read().split()]

    def switch(self, verb):
        """The median times of a few rounds after @verb, enable or disable."""
        subprocess.run([XSPROF, verb, "-p", self.pid, "all"], stdout=subprocess.DEVNULL, check=True)
        time.sleep(SETTLES)
        return list(map(statistics.median, zip(*[self.measure() for _ in range(TURN)])))

    def end(self):
        self.process.stdin.close()
        if self.process.wait():
            sys.exit("python-cost.py: exit status %d: %s" %
                     (self.process.returncode, " ".join(self.command)))
        if self.data:
            # A recording that lost records is none.
            if subprocess.run([XSPROF, "info", "-q", self.data], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode:
                sys.exit("python-cost.py: %s: not all of it was recorded" % self.data)
            os.unlink(self.data)


def rounds(running, times=ROUNDS):
    """By way: the median CPU time of its rounds."""
    took = {name: [] for name in running}
    for _ in range(times):
        for name, way in running.items():
            took[name].append(way.measure()[1])
    return {name: statistics.median(times) for name, times in took.items()}


def more(times, before, after):
    """By time: how much more it is than those before and after it, in %."""
    return [100 * (2 * t / (a + b) - 1) for t, a, b in zip(times, before, after)]


def turns_of(way):
    """How much more time a process takes with its categories on, and CPU time, in %; and how much
    more with them off, which is noise.
    """
    on, off = [], [way.switch("disable")]
    for _ in range(TURNS):
        on.append(way.switch("enable"))
        off.append(way.switch("disable"))
    way.end()
    costs = []
    for times, bare in zip(zip(*on), zip(*off)):
        costs.append((statistics.median(more(times, bare, bare[1:])),
                      statistics.median(more(bare[1:], bare, bare[2:]))))
    return costs


def loaded_cost():
    """How much more a process takes that has the library and no recorder than two without, in %;
    and how much one of these differs from the other.

    The library cannot be switched off in a process: many processes, each with its memory layout.
    """
    costs, differ = [], []
    for _ in range(LAYOUTS):
        ways = {"bare": Way("turns"), "loaded": Way("turns", LD_PRELOAD=LIBRARY),
                "again": Way("turns")}
        took = rounds(ways, FEW)
        for way in ways.values():
            way.end()
        costs += more([took["loaded"]], [took["bare"]], [took["again"]])
        differ.append(100 * (took["bare"] / took["again"] - 1))
    return statistics.median(costs), statistics.median(differ)


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
    cost = {name + kind: [] for name in options for kind in ("", "_cpu")}
    noise = {name: [] for name in cost}
    loaded = []
    for part in range(PARTS):
        print("python-cost.py: part %d of %d" % (part + 1, PARTS), file=sys.stderr)
        for name, option in options.items():
            costs = turns_of(Way("turns", option))
            for kind, (value, differs) in zip(("", "_cpu"), costs):
                cost[name + kind].append(value)
                noise[name + kind].append(differs)
        loaded.append(loaded_cost())
    cost["python_gil_off"] = [more for more, _ in loaded]
    noise["python_gil_off"] = [differ for _, differ in loaded]
    for name, values in cost.items():
        percent(name, values)
    for name, values in noise.items():
        print("%s\tnoise\t%.4f" % (name, abs(statistics.median(values))))


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
