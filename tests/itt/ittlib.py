# SPDX-License-Identifier: GPL-2.0-only
#
# Shared by the ITT tests: runs a program under the recorder or under the counting collector; prints
# TAP.

import collections
import json
import os
import struct
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
XSPROF = os.path.join(BUILD, "bin", "xsprof")
DUMP = os.path.join(BUILD, "bin", "xsprof-dump")
ITT_SO = os.path.join(BUILD, "lib", "libxsprof-itt.so")
COUNT_SO = os.path.join(BUILD, "tests", "itt", "libcount.so")
TESTS = os.path.dirname(os.path.abspath(__file__))


class Tap:
    """Results, one line each; end with exit()."""

    def __init__(self):
        self.number = 0
        self.failed = 0

    def ok(self, good, what, why=""):
        self.number += 1
        if not good:
            self.failed += 1
            for line in str(why).splitlines():
                print("#", line)
        print(f"{'' if good else 'not '}ok {self.number} {what}", flush=True)
        return good

    def equal(self, got, want, what):
        return self.ok(got == want, what, f"got  {got!r}\nwant {want!r}")

    def skip(self, what, why):
        self.number += 1
        print(f"ok {self.number} {what} # SKIP {why}", flush=True)

    def exit(self):
        print(f"1..{self.number}")
        sys.exit(1 if self.failed else 0)


def skip_all(why):
    print(f"1..0 # SKIP {why}")
    print(why)
    sys.exit(77)


def need_tools(foreign=False):
    """Skips if programs that are not ours (foreign) cannot load what was built."""
    for path in (XSPROF, DUMP, ITT_SO, COUNT_SO):
        if not os.path.exists(path):
            sys.exit(f"{path}: not built: run 'make all tests'")
    if not foreign:
        return
    with open(ITT_SO, "rb") as f:
        data = f.read()
    for run_time in (b"__asan_init", b"__tsan_init", b"__ubsan_handle"):
        if run_time in data:
            skip_all("the collector has a sanitizer: programs without it cannot load it")


def clean_env(**more):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("INTEL_", "XSPROF_", "DNNL_", "ONEDNN_"))}
    # The collector does not free its objects, on purpose.
    env.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    env.update(more)
    return env


def run(argv, env=None, cwd=None, timeout=100):
    done = subprocess.run(argv, env=env or clean_env(), cwd=cwd, timeout=timeout, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, errors="replace")
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: exit status {done.returncode}\n"
                           f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def record(argv, env=None, cwd=None, options=()):
    """Runs argv under `xsprof record`; returns its output and the events, as dicts."""
    with tempfile.TemporaryDirectory() as tmp:
        capture = os.path.join(tmp, "capture")
        out = run([XSPROF, "record", "-q", "--no-torch", "--no-python", "-o", capture, *options,
                   "--", *argv],
                  env, cwd)
        lines = run([DUMP, "-i", capture, "-f", "ndjson"])
    return out, [json.loads(line) for line in lines.splitlines()]


def lost(events):
    return sum(e["value"] for e in events if e["type"] == "lost")


def count(argv, env=None, cwd=None):
    """Runs argv under the counting collector; returns {(kind, domain, name): n}."""
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "counts")
        env = dict(env or clean_env(), INTEL_LIBITTNOTIFY64=COUNT_SO,
                   INTEL_JIT_PROFILER64=COUNT_SO, XSPROF_TEST_COUNTS=path)
        run(argv, env, cwd)
        if not os.path.exists(path):
            return counts
        with open(path, "rb") as f:
            data = f.read()
    for at in range(0, len(data), 256):
        n, ready = struct.unpack_from("<QI", data, at)
        if ready:
            text = data[at + 16:at + 256].split(b"\0")[0].decode("utf-8", "replace")
            counts[tuple(text.split("\t"))] = n
    return counts


def tally(events, kind):
    """{(domain, name): n} of the events of a type."""
    return collections.Counter((e.get("cat"), e.get("name"))
                               for e in events if e["type"] == kind)


def args_of(event):
    return [(a["key"], a["value"]) for a in event.get("args", [])]
