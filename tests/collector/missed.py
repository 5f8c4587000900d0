#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# The number of jobs that a collector missed is known even if a full ring has lost its counter. A
# collector's thread that the program cancels goes on.

import json
import os
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
XSPROF = os.path.join(BUILD, "bin", "xsprof")
TEMP = tempfile.TemporaryDirectory(prefix="xsprof-test.")
SHM = tempfile.TemporaryDirectory(prefix="xsprof-test.", dir="/dev/shm")
PROGRAM = os.path.join(TEMP.name, "missed")
CAPTURE = os.path.join(TEMP.name, "capture")
TEXT = "jobs that nobody saw"

results = []


def equal(got, want, name):
    results.append(got == want)
    if got != want:
        print(f"# got  {got}\n# want {want}")
    print("ok" if got == want else "not ok", len(results), name, flush=True)


def run(*args):
    env = {k: v for k, v in os.environ.items() if not k.startswith("XSPROF_")}
    env["XSPROF_SHM_DIR"] = SHM.name
    return subprocess.run(args, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", timeout=120)


def check_alone(how, name):
    got = run(PROGRAM, how)
    equal([got.returncode, got.stdout, got.stderr], [0, "", ""], name)


def build():
    got = run(os.environ.get("CC", "cc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall",
              f"-I{ROOT}/lib/include", f"-I{ROOT}/kmod/uapi", "-o", PROGRAM,
              os.path.join(HERE, "missed.c"), f"-L{BUILD}/lib", "-lxsprof-user",
              f"-Wl,-rpath,{BUILD}/lib", "-pthread")
    equal([got.returncode, got.stderr], [0, ""], "the program is built")


def check(how, what, *options):
    got = run(XSPROF, "record", "-q", "-b", "64K", *options, "-o", CAPTURE, "--", PROGRAM, how)
    equal([got.returncode, got.stdout], [0, ""], f"{what}: the program ran")
    lines = run(XSPROF, "dump", "-f", "ndjson", CAPTURE).stdout.splitlines()
    counters = [e for e in map(json.loads, lines) if e["type"] == "counter" and TEXT in e["name"]]
    info = json.loads(run(XSPROF, "info", "--json", CAPTURE).stdout)
    equal([counters, [[m["n"], m["what"]] for m in info["not_recorded"]]], [[], [[7, TEXT]]],
          f"{what}: the counter is lost, and what it said is known to info")
    text = run(XSPROF, "info", CAPTURE).stdout
    equal(f"7 {TEXT}" in text, True, f"{what}: and is shown")


def check_cancelled(how, name):
    got = run(XSPROF, "record", "-q", "-o", CAPTURE, "--", PROGRAM, how)
    equal([got.returncode, got.stdout], [0, ""], name)


build()
check_cancelled("cancel", "the program cancels the collector's thread, which goes on")
check_cancelled("allow", "also where the collector allows it")
check_cancelled("clock", "a thread that is cancelled while it measures the clock's rate")
check_alone("session", "one that is cancelled while it ends a session")
check("full", "a full ring")
check("overwrite", "a ring that is overwritten", "-m", "overwrite")
print(f"1..{len(results)}")
TEMP.cleanup()
SHM.cleanup()
sys.exit(not all(results))
