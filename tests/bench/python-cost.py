#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What recording costs a Python program.

Usage: python-cost.py XSPROF LIBRARY FOLDER PYTHON: captures go to FOLDER; LIBRARY is preloaded in
the runs without a recorder.

Processes of each way do the same work in turn, so that all meet the same machine. How memory of a
process lies makes more of a difference than what is measured: each way has several processes, one
after the other, and its figure is the least CPU time of all. It writes lines of id, unit, min,
value, max for table.py.
"""
import os
import statistics
import subprocess
import sys
import time

XSPROF, LIBRARY, FOLDER, PYTHON = sys.argv[1:]
PARTS = 6
ROUNDS = 4
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

    def end(self):
        self.process.stdin.close()
        if self.process.wait():
            sys.exit("python-cost.py: exit status %d: %s" %
                     (self.process.returncode, " ".join(self.command)))
        if self.data:
            # A recording that lost records is none.
            if subprocess.run([XSPROF, "info", "-q", self.data], stdout=subprocess.DEVNULL,
                              check=False).returncode:
                sys.exit("python-cost.py: %s: not all of it was recorded" % self.data)
            os.unlink(self.data)


def costs(ways):
    """By way: what it took in each round of each of its processes."""
    took = {name: [] for name in ways}
    for part in range(PARTS):
        print("python-cost.py: part %d of %d" % (part + 1, PARTS), file=sys.stderr)
        running = {name: way() for name, way in ways.items()}
        for _ in range(ROUNDS):
            for name, way in running.items():
                took[name].append(way.measure())
            time.sleep(0.5)
        for way in running.values():
            way.end()
    return took


def without(values, part):
    """All rounds but those of one part; -1: of none."""
    return [v for i, v in enumerate(values) if i // ROUNDS != part]


def figure(name, unit, one):
    """@one: the figure without a part. The value is that of all."""
    values = [one(part) for part in range(-1, PARTS)]
    print("%s\t%s\t%.4f\t%.4f\t%.4f" % (name, unit, min(values), values[0], max(values)))


def percent(name, took, way):
    """What it adds. All minima are of as many rounds: more rounds have a lower one."""
    def added(part):
        bare = [min(without(took[one], part)) for one in ("bare", "again")]
        return 100 * (min(without(took[way], part)) / statistics.mean(bare) - 1)
    figure(name, "%", added)


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
            took = [[], []]
            for _ in range(ROUNDS):
                for i, way in enumerate(ways):
                    took[i].append(way.measure())
            times.append([min(t) for t in took])
        for way in ways:
            way.end()
        (one, other), (one_after, other_after) = times
        changed.append(100 * (one_after / one / (other_after / other) - 1))
    return changed


def main():
    took = costs({
        "bare": lambda: Way("turns"), "again": lambda: Way("turns"),
        "off": lambda: Way("turns", LD_PRELOAD=LIBRARY),
        "gil": lambda: Way("turns", []),
        "100": lambda: Way("turns", ["--python=100"]),
        "1000": lambda: Way("turns", ["--python=1000"]),
        "native": lambda: Way("turns", ["--python=100", "--python-native"]),
    })
    differ = 100 * abs(min(took["bare"]) / min(took["again"]) - 1)
    for row, way in (("python_gil_off", "off"), ("python_gil", "gil"),
                     ("python_100", "100"), ("python_1000", "1000"),
                     ("python_native", "native")):
        percent(row, took, way)
        if differ > 0.5:
            print("%s\tdoubt\tbare ones differ by %.1f %%" % (row, differ))
    changed = left_alone()
    figure("python_left", "%", lambda part: statistics.median(
        v for i, v in enumerate(changed) if i != part))
    took = costs({"bare": lambda: Way("calls"),
                  "traced": lambda: Way("calls", ["--python-trace=python-work"])})
    figure("python_call", "ns", lambda part: (min(without(took["traced"], part)) -
                                              min(without(took["bare"], part))) / CALLS)
    figure("python_call_bare", "ns", lambda part: min(without(took["bare"], part)) / CALLS)


if __name__ == "__main__":
    main()
