#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measures what recording PyTorch's ops costs, compared with torch.profiler.

Usage: torch-cost.py XSPROF LIBRARY FOLDER PYTHON: captures go to FOLDER.

Processes of each way measure a few milliseconds in turn, so that the machine's state affects all;
the least of each way counts. Writes lines of id, unit, min, median, max for table.py. A recording
that lost records does not count.
"""
import os
import statistics
import subprocess
import sys
import time

XSPROF, LIB, FOLDER, PYTHON = sys.argv[1:]
ROUNDS = 24
HERE = os.path.dirname(__file__)
OP = os.path.join(FOLDER, "torch-op.so")
WORK = [PYTHON, "-W", "ignore", os.path.join(HERE, "torch-work.py")]


def failed(command, status):
    sys.exit("torch-cost.py: %s: exit status %d" % (" ".join(command), status))


def output(command):
    done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"},
                          stdout=subprocess.PIPE, check=False)
    if done.returncode:
        failed(command, done.returncode)
    return done.stdout.decode().split()


def build():
    """Builds the C++ loop, with the headers of that PyTorch."""
    folder = os.path.dirname(output([PYTHON, "-c", "import torch; print(torch.__file__)"])[-1])
    output(["c++", "-O2", "-std=c++17", "-fPIC", "-shared", "-isystem",
            os.path.join(folder, "include"), "-L" + os.path.join(folder, "lib"), "-o", OP,
            os.path.join(HERE, "torch-op.cc"), "-ltorch_cpu", "-lc10"])


def record(data, detail):
    return [XSPROF, "record", "-q", "-b", "64M", "--prefault", "-o", data, "--torch", detail, "--"]


def check(data):
    if subprocess.run([XSPROF, "info", "-q", data], stdout=subprocess.DEVNULL,
                      check=False).returncode:
        sys.exit("torch-cost.py: %s: not all of it was recorded" % data)


class Way:
    """A process of torch-work.py with these arguments, which measures on request."""
    made = 0

    def __init__(self, what, profiler="none", detail=None, **env):
        Way.made += 1
        self.data = detail and os.path.join(FOLDER, "torch-%d.data" % Way.made)
        self.command = (record(self.data, detail) if detail else []) + WORK + [what, profiler, OP]
        self.process = subprocess.Popen(
            self.command, env={**os.environ, "OMP_NUM_THREADS": "1", **env},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.read("ready")

    def read(self, line=None):
        got = self.process.stdout.readline().strip()
        if not got or (line and got != line):
            self.process.stdin.close()
            failed(self.command, self.process.wait())
        return got

    def measure(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.read())

    def end(self):
        self.process.stdin.close()
        if self.process.wait():
            failed(self.command, self.process.returncode)
        if self.data:
            check(self.data)
            os.unlink(self.data)


def figure(name, unit, values, value=None):
    value = statistics.median(values) if value is None else value
    print("%s\t%s\t%.4f\t%.4f\t%.4f" % (name, unit, min(values), value, max(values)))


def costs(ways):
    """Returns, by way, the cost in each round."""
    took = {name: [] for name in ways}
    for i in range(ROUNDS):
        print("torch-cost.py: round %d of %d" % (i + 1, ROUNDS), file=sys.stderr)
        for name, processes in ways.items():
            took[name].append(min(way.measure() for way in processes))
        # A machine that is slow for some seconds is slow only in a few rounds.
        time.sleep(2)
    for processes in ways.values():
        for way in processes:
            way.end()
    return took


def ratio(name, took, way, other, bare_way="bare"):
    """The ratio of the costs added to the bare program: of the least of all rounds, and of
    thirds."""
    def one(begin, end):
        bare = min(took[bare_way][begin:end])
        return (min(took[way][begin:end]) - bare) / (min(took[other][begin:end]) - bare)
    third = ROUNDS // 3
    figure(name, "ratio", [one(i * third, (i + 1) * third) for i in range(3)], one(0, ROUNDS))


def more(name, unit, took, way, other, scale=None):
    """The cost added to another way: of the least of all rounds, between those of each."""
    def one(a, b):
        return 100 * (a / b - 1) if scale else a - b
    figure(name, unit, [one(a, b) for a, b in zip(took[way], took[other])],
           one(min(took[way]), min(took[other])))


def main():
    build()
    took = costs({
        "bare": [Way("op")],
        "loaded": [Way("op", LD_PRELOAD=LIB)],
        "count": [Way("op", "count")],
        "names": [Way("op", detail="names")],
        "shapes": [Way("op", detail="shapes")],
        "their names": [Way("op", "names")],
        "their shapes": [Way("op", "shapes")],
        # A stack needs Python: ops called by Python, as programs do.
        "called": [Way("call")],
        "all": [Way("call", detail="all")],
        "their all": [Way("call", "all")],
    })
    for way, values in took.items():
        figure("torch_op_" + way.replace(" ", "_"), "ns", values, min(values))
    ratio("torch_names", took, "names", "their names")
    ratio("torch_shapes", took, "shapes", "their shapes")
    ratio("torch_all", took, "all", "their all", "called")
    more("torch_count", "ns", took, "names", "count")
    more("torch_off", "ns", took, "loaded", "bare")

    # The addresses of a process's memory change its steps by some percent: use several processes.
    took = costs({"bare": [Way("step") for _ in range(4)],
                  "again": [Way("step") for _ in range(4)],
                  "names": [Way("step", detail="names") for _ in range(4)]})
    differ = 100 * abs(min(took["bare"]) / min(took["again"]) - 1)
    took["bare"] = [min(both) for both in zip(took["bare"], took["again"])]
    more("torch_step", "%", took, "names", "bare", 100)
    print("torch_step\tnoise\t%.4f" % differ)
    figure("torch_step_bare", "us", [t / 1000 for t in took["bare"]], min(took["bare"]) / 1000)

    data = os.path.join(FOLDER, "torch.data")
    grown = output(record(data, "names") + WORK + ["many", "none", OP])[-1]
    check(data)
    figure("torch_growth", "B", [float(grown)])
    figure("torch_growth_theirs", "B", [float(output(WORK + ["many", "names", OP])[-1])])
    ends = []
    for _ in range(3):
        end = output(record(data, "names") + WORK + ["exit", "none", OP])[-1]
        ends.append(time.clock_gettime(time.CLOCK_MONOTONIC) - float(end))
        check(data)
    figure("torch_exit", "s", ends)


main()
