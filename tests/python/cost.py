# SPDX-License-Identifier: GPL-2.0-only
"""Measures what Python markers cost without a recorder, beside those of the package nvtx.

usage: cost.py     Needs the packages nvtx and xsprof. Prints ns, and the ratio in one run.
"""
import timeit

import nvtx

import xsprof

N, ROUNDS = 100000, 7


def ours():
    with xsprof.range("x"):
        pass


def theirs():
    with nvtx.annotate("x"):
        pass


@xsprof.range("x")
def our_function():
    pass


@nvtx.annotate("x")
def their_function():
    pass


def plain():
    pass


def main():
    best = {}
    # In turns, so that other load on the machine affects all of them.
    for _ in range(ROUNDS):
        for function in (plain, ours, theirs, our_function, their_function):
            ns = timeit.timeit(function, number=N) / N * 1e9
            best[function] = min(ns, best.get(function, ns))
    for what, mine, other in (("with", ours, theirs), ("decorator", our_function, their_function)):
        us, them = best[mine] - best[plain], best[other] - best[plain]
        # nvtx returns a decorated function unchanged if no tool was there at the start.
        print("%-10s xsprof %4.0f ns, nvtx %4.0f ns%s" % (
            what, us, them, ", ratio %.2f" % (us / them) if them > 5 else ""))


if __name__ == "__main__":
    main()
