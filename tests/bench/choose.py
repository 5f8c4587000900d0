#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# The choice of slices and the judgement of bars, on made-up measurements: slices are chosen by
# their control alone, and a figure that misses its bar, is missing or is in doubt never passes.
# Measures nothing. TAP.

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WANTED = 225  # enough quiet slices, as Documentation/benchmarks.md has it
done = []


def check(what, good, why=""):
    done.append(good)
    print(f"{'ok' if good else 'not ok'} {len(done)} {what}" + (f" ({why})" if not good else ""))


def tool(script, *args):
    p = subprocess.run([sys.executable, os.path.join(HERE, script), *args],
                       stdout=subprocess.PIPE, text=True, check=False)
    return p.returncode, p.stdout


def choose(folder, slices, *args):
    """Lines of quiet.py, by id and the word after it, for {id: [(control, figure), ...]}."""
    for old in os.listdir(folder):
        os.unlink(os.path.join(folder, old))
    for key, rows in slices.items():
        with open(os.path.join(folder, key + ".tsv"), "w", encoding="utf-8") as f:
            f.writelines(f"{c:.4f}\t{v:.4f}\n" for c, v in rows)
    rc, out = tool("quiet.py", folder, *args)
    return rc, {tuple(line.split("\t")[:2]): line.split("\t")[2:] for line in out.splitlines()}


def medians(got, key):
    return [float(w) for w in got.get((key, "ns at 9"), [])]


def choosing(folder):
    quiet, loud = [(0.5, 2.0)] * WANTED, [(0.56, 1.0)] * 1000
    rc, got = choose(folder, {"a": quiet + loud})
    check("slices count by their control, though others have better figures",
          rc == 0 and medians(got, "a") == [2, 2, 2], got)
    rc, got = choose(folder, {"a": [(0.5, 2.0)] * 5 + [(0.55, 3.0)] * WANTED + loud})
    check("a control of 1.1 times the best is quiet", medians(got, "a")[1:] == [3, 3], got)
    for name, turn in (("up", 1), ("down", -1)):
        rows = [(c, i) for i, (c, _) in enumerate(quiet + loud)]
        rc, got = choose(folder, {"a": [(c, turn * i) for c, i in rows]})
        check(f"what is measured does not change how many count, {name}",
              got.get(("a_quiet", f"slices of {len(rows)}"), [0])[0] == str(WANTED), got)
    _, got = choose(folder, {"a": quiet + loud, "b": [(0.4, 9.0)] * WANTED})
    check("another program's best control counts", ("a", "doubt") in got, got)
    check("and it has no doubt of its own", ("b", "doubt") not in got and ("b", "ns at 9") in got,
          got)
    _, got = choose(folder, {"a": quiet + loud, "b": [(0.4, 9.0)] * WANTED}, "--wanting")
    check("who has too few wants more", list(got) == [("a",)], got)
    _, got = choose(folder, {"a": quiet[1:] + loud})
    check("one slice less than enough is in doubt", ("a", "doubt") in got, got)
    _, got = choose(folder, {"a": quiet + loud})
    check("enough are not", ("a", "doubt") not in got, got)


ROW = "noclock_so\tns at 9\t1.0\t{}\t9.0\n"
REST = """noclock_inline\tns at 9\t1\t1.4\t2
drop\tns at 9\t1\t3\t4
marker_ratio\tratio\t1\t1\t1
inline_ratio\tratio\t1\t1\t1
archive_ratio\tratio\t1\t1\t1
threads_two_ratio\tskip\tone CPU
crowd_ratio\tskip\tone CPU
miss_ratio\tratio\t1\t1\t1
disabled\tns\t0\t0\t0
bytes_pair\tB\t64\t64\t64
bytes_complete\tB\t32\t32\t32
"""


def table(folder, text):
    raw, out = os.path.join(folder, "raw"), os.path.join(folder, "json")
    with open(raw, "w", encoding="utf-8") as f:
        f.write(text)
    rc, shown = tool("table.py", raw, out, "marker")
    with open(out, encoding="utf-8") as f:
        rows = json.load(f)
    return rc, shown, next(row for row in rows if row["bar"] == "<= 2.7")


def holding(folder):
    rc, shown, row = table(folder, ROW.format(2.7) + REST)
    check("a bar that is met holds", rc == 0 and row["holds"] is True, shown)
    check("the end counts the bars that were asked for",
          "10 of 12 bars hold; 0 do not, 0 in doubt, 2 skipped" in shown, shown)
    rc, shown, row = table(folder, ROW.format(2.71) + REST)
    check("a bar that is missed does not, and fails", rc == 1 and row["holds"] is False, shown)
    rc, shown, row = table(folder, REST)
    check("a benchmark that is missing fails", rc == 1 and row["holds"] is False, shown)
    rc, shown, row = table(folder, ROW.format(1.9) + "noclock_so\tdoubt\tonly 3\n" + REST)
    check("a good figure in doubt does not hold, and fails",
          rc == 1 and row["holds"] is None and row["value"] == 1.9, shown)
    check("the row says so", "?      1.000..9.000; only 3" in shown
          and "9 of 12 bars hold; 0 do not, 1 in doubt, 2 skipped" in shown, shown)
    for value, why in ((2.6, "could miss"), (2.8, "could be met")):
        rc, shown, row = table(folder, ROW.format(value) + "noclock_so\tnoise\t0.3\n" + REST)
        check(f"a bar that {why}, by the noise, is in doubt",
              rc == 1 and row["holds"] is None and "; equal ones differ by 0.30" in shown, shown)
    for value, held in ((2.6, True), (2.8, False)):
        rc, shown, row = table(folder, ROW.format(value) + "noclock_so\tnoise\t0.05\n" + REST)
        check(f"noise that is too small for that does not matter: {value}",
              row["holds"] is held, shown)
    slow = ROW.format(1) + REST.replace("inline_ratio\tratio\t1\t1", "inline_ratio\tratio\t1\t1.1")
    rc, shown, row = table(folder, slow)
    check("a bar is of the processor", rc == 1 and "<= 1.03  NO" in shown, shown)
    rc, shown, row = table(folder, "processor\tGenuineIntel\tXeon\n" + slow)
    check("of another one it is another", rc == 0 and "<= 1.2  yes" in shown, shown)
    rc, shown, row = table(folder, ROW.format(1) + REST.replace(
        "miss_ratio\tratio\t1\t1\t1", "miss_ratio\tratio\t-1\t-0.1\t2"))
    check("a ratio below zero does not hold: it is in doubt",
          rc == 1 and "?      -1.000..2.000; not a ratio" in shown, shown)


def main():
    with tempfile.TemporaryDirectory() as folder:
        choosing(folder)
    with tempfile.TemporaryDirectory() as folder:
        holding(folder)
    print(f"1..{len(done)}")
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
