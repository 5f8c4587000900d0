#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What recording costs a Python program.

Usage: python-cost.py XSPROF LIBRARY FOLDER PYTHON: captures go to FOLDER; LIBRARY is preloaded
where nobody records.

Processes of each way do the same work in turn, so that all meet the same machine; of each way the
least CPU time of some rounds. It writes lines of id, unit, min, median, max for table.py.
"""
import os
import statistics
import subprocess
import sys
import time

XSPROF, LIBRARY, FOLDER, PYTHON = sys.argv[1:]
ROUNDS = 20
PART = 4
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
    """By way: what it took in each round."""
    took = {name: [] for name in ways}
    for i in range(ROUNDS):
        print("python-cost.py: round %d of %d" % (i + 1, ROUNDS), file=sys.stderr)
        for name, way in ways.items():
            took[name].append(way.measure())
        time.sleep(0.5)
    for way in ways.values():
        way.end()
    return took


def figure(name, unit, values):
    print("%s\t%s\t%.4f\t%.4f\t%.4f" %
          (name, unit, min(values), statistics.median(values), max(values)))


def percent(name, took, way, bare="bare"):
    """What it adds, in parts of the rounds: of each part the least of what it took."""
    def one(begin, end):
        return 100 * (min(took[way][begin:end]) / min(took[bare][begin:end]) - 1)
    figure(name, "%", [one(i, i + PART) for i in range(0, ROUNDS, PART)])


def main():
    took = costs({
        "bare": Way("turns"), "again": Way("turns"),
        "off": Way("turns", LD_PRELOAD=LIBRARY),
        "gil": Way("turns", []),
        "100": Way("turns", ["--python=100"]),
        "1000": Way("turns", ["--python=1000"]),
    })
    differ = 100 * abs(min(took["bare"]) / min(took["again"]) - 1)
    took["bare"] = [min(both) for both in zip(took["bare"], took["again"])]
    for row, way in (("python_gil_off", "off"), ("python_gil", "gil"),
                     ("python_100", "100"), ("python_1000", "1000")):
        percent(row, took, way)
        if differ > 0.5:
            print("%s\tdoubt\tbare ones differ by %.1f %%" % (row, differ))
    took = costs({"bare": Way("calls"), "traced": Way("calls", ["--python-trace=python-work"])})
    each = [(a - b) / CALLS for a, b in zip(took["traced"], took["bare"])]
    figure("python_call", "ns", each)
    figure("python_call_bare", "ns", [t / CALLS for t in took["bare"]])


if __name__ == "__main__":
    main()
