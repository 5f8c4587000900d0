#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks samples of frames.py against what the program can do.

Usage: frames-check.py EVENTS [lossy] <SAID

EVENTS: the capture as NDJSON; SAID: what the program printed. Each stack must be one that the
program can have. lossy: do not check how many samples were missed.
"""
import ast
import json
import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "frames.py")
with open(PROGRAM, encoding="utf-8") as source:
    LINES = source.readlines()

ROOTS = {"ratio", "deep", "makes", "blocked", "rounds", "waits", "brief"}
CALLS = {
    ("<module>", "run"), ("run", "child"), ("child", "child_spins"),
    ("child_spins", "child_spins.<locals>.<genexpr>"), ("ratio", "heavy"), ("ratio", "light"),
    ("brief", "light"), ("deep", "recurse"), ("recurse", "recurse"), ("recurse", "catches"),
    ("recurse", "consume"), ("catches", "raises"), ("raises", "raises"), ("consume", "numbers"),
    ("consume", "consume.<locals>.<genexpr>"), ("consume.<locals>.<genexpr>", "numbers"),
    ("makes", "имя"), ("имя", "größe"), ("größe", "numbers"), ("run", "run.<locals>.<dictcomp>"),
    ("run", "run.<locals>.<listcomp>"), ("<module>", "<module>"),
}


def functions():
    """Maps each function's first line and name to its qualified name and last line."""
    found = {}

    def go(node, inside):
        for one in ast.iter_child_nodes(node):
            name = inside
            if isinstance(one, ast.FunctionDef):
                name = inside + "<locals>." * bool(inside) + one.name + "."
                found[one.lineno, one.name] = (name[:-1], one.end_lineno)
            for kind, what in ((ast.GeneratorExp, "<genexpr>"), (ast.ListComp, "<listcomp>"),
                               (ast.DictComp, "<dictcomp>")):
                if isinstance(one, kind):
                    full = inside + "<locals>." * bool(inside) + what
                    found[one.lineno, what] = (full, one.end_lineno)
            go(one, name)
    go(ast.parse("".join(LINES)), "")
    return found


class Frame:
    known = functions()

    def __init__(self, text):
        where, self.function = text.rsplit("): ", 1)
        self.file, line = where.rsplit("(", 1)
        self.line = int(line)
        self.ours = self.file.endswith("/frames.py")
        self.made = self.file.startswith("made_")
        self.name = self.function
        if self.ours and self.function != "<module>":
            # Before 3.11 code objects have only the last part of their qualified name.
            last = self.function.rsplit(".", 1)[-1]
            full, self.end = self.known[self.line, last]
            assert self.function in (full, last), text
            self.name = full
        if self.made:
            number = self.file.split("_")[1]
            assert self.file == "made_%s_\U0001f40d.py" % number, text
            assert self.function in ("<module>", "made_" + number), "another's name: " + text


def check_stack(sample, tids):
    """Frames are innermost first."""
    frames = [Frame(text) for text in sample["frames"]]
    assert sample["name"] == sample["frames"][0], sample
    # Where C calls Python, 3.12 has a frame of its own; the sampler drops it, but only once found.
    assert len(frames) <= 64 and (len(frames) >= 63 or "left_out" not in sample), sample
    inner = frames[0]
    if "line" in sample and inner.ours and inner.function != "<module>":
        assert inner.line <= sample["line"] <= inner.end, sample
    for callee, caller in zip(frames, frames[1:]):
        if callee.ours and caller.ours:
            assert (caller.name, callee.name) in CALLS, (caller.name, callee.name, sample)
        elif callee.ours:
            assert callee.name in ROOTS, sample
        elif callee.made:
            assert caller.name == "makes", sample
    if not sample.get("left_out"):
        assert frames[-1].function in ("<module>", "Thread._bootstrap", "_bootstrap") or \
            frames[-1].file.startswith("<frozen "), sample
    for root, tid in tids.items():
        if tid == sample["of"] and not sample.get("left_out"):
            assert root in [f.name for f in frames] or not any(f.ours for f in frames), sample


def share(samples, name):
    return sum(1 for s in samples if Frame(s["name"]).name == name)


def check(path, lossy):
    with open(path, encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    samples = [e for e in events if e["type"] == "sample"]
    said = [json.loads(line) for line in sys.stdin]
    assert len(said) == 2 and said[1]["child"], said
    tids = said[0]["tids"]
    missed = sum(s["missed"] for s in samples if s["how"] == "missed")
    taken = [s for s in samples if s["how"] != "missed"]
    wrong = 0
    for one in taken:
        try:
            check_stack(one, tids if one["pid"] == said[0]["pid"] else {})
        except (AssertionError, KeyError, ValueError) as e:
            print("# wrong:", str(type(e)), str(e)[-1500:])
            wrong += 1
    # A frame that is being left may be gone when it is read: allow one sample in a thousand.
    assert wrong <= len(taken) / 1000, (wrong, len(taken))
    runs = [s for s in taken if s["how"] == "runs"]
    heavy_, light_ = share(runs, "heavy"), \
        sum(1 for s in runs if s["of"] == tids["ratio"] and Frame(s["name"]).name == "light")
    # light does a third of heavy's work: with 40 samples this range is far outside chance.
    assert heavy_ >= 40 and heavy_ / 6 < light_ < heavy_ / 1.5, (heavy_, light_)
    asleep = [s for s in taken if s["of"] == tids["blocked"] and
              Frame(s["name"]).name == "blocked"]
    off = sum(1 for s in asleep if s["how"] == "off")
    assert len(asleep) >= 40 and off >= len(asleep) * 0.9, (off, len(asleep))
    assert "line" not in asleep[0] or "sleep" in LINES[asleep[-1]["line"] - 1], asleep[-1]
    of_child = [s for s in taken if s["pid"] == said[1]["pid"]]
    assert share(of_child, "child_spins.<locals>.<genexpr>") >= 10, len(of_child)
    assert said[0]["calls"] > 20 and not said[0]["interrupted"], said[0]
    for name in ("numbers", "имя", "größe", "raises", "recurse"):
        assert any(Frame(t).name == name for s in taken for t in s["frames"]), name
    assert any(s.get("left_out", 0) > 100 for s in taken)
    assert lossy or missed < len(samples) / 2, (missed, len(samples))
    lines = sum(1 for s in taken if "line" in s)
    assert lines > len(taken) * 0.9, (lines, len(taken))
    print("# %d samples, %d missed, %d wrong; heavy %d, light %d" %
          (len(taken), missed, wrong, heavy_, light_))


check(sys.argv[1], len(sys.argv) > 2)
