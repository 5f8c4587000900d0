#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Chooses slices by their controls (quiet.c notes both), for figures that a neighbour on the same
# core would spoil. A slice counts if its slowest control took at most MARGIN times the best
# control of all slices of all figures; what the slice itself measured is never looked at.
# Prints a line for run.sh for each figure: id, unit, min, median, max of medians of groups of
# the slices that count; one of how many there were; and, where those are too few, why its figure
# says nothing. Usage: quiet.py DIR [--wanting]   (--wanting: print the ids with too few)

import os
import statistics
import sys

MARGIN = 1.10
GROUPS = 9
ENOUGH = GROUPS * 25


def read(folder):
    """id: [(control, figure), ...], in the order in which they were timed."""
    got = {}
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), encoding="utf-8") as f:
            rows = [tuple(float(word) for word in line.split()) for line in f]
        if rows:
            got[file.removesuffix(".tsv")] = rows
    return got


def choose(slices, limit):
    """Figures of the slices that count; of the least disturbed ones if those are too few."""
    count = sum(control <= limit for control, _ in slices)
    if count < ENOUGH:
        limit = sorted(control for control, _ in slices)[min(ENOUGH, len(slices)) - 1]
    return count, [figure for control, figure in slices if control <= limit]


def main():
    got = read(sys.argv[1])
    best = min((control for slices in got.values() for control, _ in slices), default=0)
    for key, slices in got.items():
        count, figures = choose(slices, best * MARGIN)
        if "--wanting" in sys.argv:
            if count < ENOUGH:
                print(key)
            continue
        # In the order of time, so that a drift shows in min..max.
        medians = sorted(statistics.median(figures[len(figures) * g // GROUPS:
                                                   len(figures) * (g + 1) // GROUPS])
                         for g in range(GROUPS))
        print(f"{key}\tns at 9\t{medians[0]:.4f}\t{medians[GROUPS // 2]:.4f}\t{medians[-1]:.4f}")
        print(f"{key}_quiet\tslices of {len(slices)}" + 3 * f"\t{count}")
        if count < ENOUGH:
            print(f"{key}\tdoubt\tonly {count} of {len(slices)} slices had the core for "
                  f"themselves, {ENOUGH} are wanted")
    if got and "--wanting" not in sys.argv:
        print("control\tns" + 3 * f"\t{best:.4f}")


if __name__ == "__main__":
    main()
