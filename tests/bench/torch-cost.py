#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What recording PyTorch's ops costs, beside torch.profiler.

Usage: torch-cost.py XSPROF LIBRARY FOLDER PYTHON: captures go to FOLDER.

One process after the other, in turn, so that all meet the same machine; of each the least. It
writes lines of id, unit, min, median, max for table.py. A recording that lost records is none.
"""
import os
import statistics
import subprocess
import sys
import time

XSPROF, LIB, FOLDER, PYTHON = sys.argv[1:]
ROUNDS = 12
WORK = [PYTHON, "-W", "ignore", os.path.join(os.path.dirname(__file__), "torch-work.py")]
DATA = os.path.join(FOLDER, "torch.data")
RECORD = [XSPROF, "record", "-q", "-b", "64M", "--prefault", "-o", DATA]


def run(command, **env):
    done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1", **env},
                          stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit("torch-cost.py: %s: exit status %d" % (" ".join(command), done.returncode))
    return float(done.stdout.split()[-1])


def ours(what, detail):
    took = run(RECORD + ["--torch", detail, "--"] + WORK + [what, "none"])
    if subprocess.run([XSPROF, "info", "-q", DATA], stdout=subprocess.DEVNULL,
                      check=False).returncode:
        sys.exit("torch-cost.py: %s: not all of it was recorded" % DATA)
    return took


def theirs(what, detail):
    return run(WORK + [what, detail])


def figure(name, unit, values, value=None):
    value = statistics.median(values) if value is None else value
    print("%s\t%s\t%.4f\t%.4f\t%.4f" % (name, unit, min(values), value, max(values)))


def costs(ways):
    """By way: what it took in each round."""
    took = {way: [] for way in ways}
    for i in range(ROUNDS):
        for way, work in ways.items():
            took[way].append(work())
        print("torch-cost.py: round %d of %d" % (i + 1, ROUNDS), file=sys.stderr)
    return took


def ratio(name, took, way, other):
    """Of what each adds to the bare program: of the least of all rounds, between that of each."""
    def one(pick):
        bare = pick(took["bare"])
        return (pick(took[way]) - bare) / (pick(took[other]) - bare)
    each = [one(lambda values, i=i: values[i]) for i in range(ROUNDS)]
    figure(name, "ratio", each, one(min))


def main():
    took = costs({
        "bare": lambda: theirs("op", "none"),
        "loaded": lambda: run(WORK + ["op", "none"], LD_PRELOAD=LIB),
        "names": lambda: ours("op", "names"),
        "shapes": lambda: ours("op", "shapes"),
        "all": lambda: ours("op", "all"),
        "their names": lambda: theirs("op", "names"),
        "their shapes": lambda: theirs("op", "shapes"),
        "their all": lambda: theirs("op", "all"),
    })
    for way, values in took.items():
        figure("torch_op_" + way.replace(" ", "_"), "ns", values, min(values))
    ratio("torch_names", took, "names", "their names")
    ratio("torch_shapes", took, "shapes", "their shapes")
    ratio("torch_all", took, "all", "their all")
    off = [a - b for a, b in zip(took["loaded"], took["bare"])]
    figure("torch_off", "ns", off, min(took["loaded"]) - min(took["bare"]))

    took = costs({"bare": lambda: theirs("step", "none"), "names": lambda: ours("step", "names")})
    added = [100 * (a / b - 1) for a, b in zip(took["names"], took["bare"])]
    figure("torch_step", "%", added, 100 * (min(took["names"]) / min(took["bare"]) - 1))
    figure("torch_step_bare", "us", took["bare"], min(took["bare"]))

    figure("torch_growth", "B", [ours("many", "names")])
    figure("torch_growth_theirs", "B", [theirs("many", "names")])
    ends = []
    for _ in range(3):
        end = run(RECORD + ["--torch", "names", "--"] + WORK + ["exit", "none"])
        ends.append(time.clock_gettime(time.CLOCK_MONOTONIC) - end)
    figure("torch_exit", "s", ends)


main()
