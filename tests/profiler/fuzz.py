#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Damages captures, with valid checksums, and writes every kind of file from them: no call may
crash or hang, and the files must be valid.

usage: fuzz.py SAVE ROUNDS SEED FILE...

Leaves the first file that fails as fuzz-failed.data in the current folder.
"""
import importlib.util
import json
import os
import pickle
import random
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("damage", os.path.join(here, "../tools/fuzz.py"))
tools = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tools)


def no_constant(text):
    raise AssertionError("not JSON: " + text)


def attempt(save, kind, path):
    out = "fuzz.out"
    done = subprocess.run([save, kind, path, out], capture_output=True, timeout=120)
    if done.returncode not in (0, 1) or b"Sanitizer" in done.stderr:
        raise AssertionError("%s: exit status %d: %s" % (
            kind, done.returncode, done.stderr[-2000:].decode("utf-8", "replace")))
    if done.returncode:
        return False
    if kind == "snapshot":
        with open(out, "rb") as f:
            pickle.load(f)
    else:
        with open(out, encoding="utf-8") as f:
            json.load(f, parse_constant=no_constant)
    if kind == "kineto":
        done = subprocess.run([sys.executable, os.path.join(here, "check-kineto.py"), out, "any"],
                              capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
    return True


def main():
    save, rounds, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    written = 0
    for i in range(rounds):
        for name in sys.argv[4:]:
            with open(name, "rb") as f:
                data = bytearray(f.read())
            tools.damage(data, rng)
            with open("fuzz-failed.data", "wb") as f:
                f.write(data)
            for kind in ("kineto", "timeline", "snapshot", "execution"):
                try:
                    written += attempt(save, kind, "fuzz-failed.data")
                except Exception as e:
                    print("seed %d, round %d, %s: %s: %s" % (seed, i, name, kind, e))
                    sys.exit(1)
    os.unlink("fuzz-failed.data")
    print("%d files of %d" % (written, rounds * 4 * len(sys.argv[4:])))
    # Most damaged captures must still be readable in part.
    sys.exit(written * 2 < rounds * 4 * len(sys.argv[4:]))


main()
