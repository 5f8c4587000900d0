#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# The collectors' interface, tested with the example: a collector for a made-up device, built from
# only the installed headers and library, in programs that do not know it; and plug-ins that must
# not be opened.

import collections
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TEMP = tempfile.TemporaryDirectory(prefix="xsprof-test.")
SHM = tempfile.TemporaryDirectory(prefix="xsprof-test.", dir="/dev/shm")
DIR = os.path.realpath(TEMP.name)
XSPROF = os.path.join(DIR, "bin", "xsprof")
LIB = os.path.join(DIR, "lib")
CAPTURE = os.path.join(DIR, "capture")

count = 0
failed = False


def result(good, name, why=""):
    global count, failed
    count += 1
    if not good:
        failed = True
        for line in str(why).splitlines():
            print("#", line)
    print("ok" if good else "not ok", count, name, flush=True)


def equal(got, want, name):
    result(got == want, name, f"got  {got}\nwant {want}")


def environ(**more):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("XSPROF_") and k != "LD_PRELOAD"}
    env.update({"XSPROF_SHM_DIR": SHM.name, "XSPROF_BACKEND": "tmpfs", **more})
    return env


def run(args, **more):
    return subprocess.run(args, env=environ(**more), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)


def path(name):
    return os.path.join(DIR, name)


# ---- what is installed, and what is built with it ------------------------------------------------

def install():
    """Installs the files as make install does, without rebuilding."""
    os.makedirs(path("bin"))
    os.makedirs(LIB)
    os.makedirs(path("include/xsprof"))
    shutil.copy(os.path.join(BUILD, "bin", "xsprof"), XSPROF)
    for name in os.listdir(os.path.join(BUILD, "lib")):
        if ".so" in name:
            shutil.copy(os.path.join(BUILD, "lib", name), LIB, follow_symlinks=False)
    for folder in ("lib/include/xsprof", "kmod/uapi/xsprof"):
        for name in os.listdir(os.path.join(ROOT, folder)):
            shutil.copy(os.path.join(ROOT, folder, name), path("include/xsprof"))


def compile_one(out, source, *flags):
    cc = os.environ.get("CC", "cc").split()
    got = run([*cc, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", path("include"),
               "-o", path(out), os.path.join(HERE, source), *flags, "-pthread"])
    result(not got.returncode, f"{out} compiles, with the installed headers alone", got.stderr)


def compile_all():
    user = ["-L", LIB, "-lxsprof-user", f"-Wl,-rpath,{LIB}"]
    toy = ["-L", DIR, "-ltoy", f"-Wl,-rpath,{DIR}"]
    plugin = ["-shared", "-fPIC", *user]
    compile_one("libtoy.so", "toy.c", "-shared", "-fPIC")
    compile_one("toy.so", "example.c", *plugin)
    compile_one("program", "program.c", *toy, *user, "-lxsprof-trace")
    compile_one("plain", "program.c", "-DPLAIN", *toy)
    for what in ("version", "fields", "size", "entry"):
        compile_one(f"{what}.so", "bad.c", f"-DBAD_{what.upper()}", *plugin)
    compile_one("nothing.so", "bad.c", "-DNOTHING", *plugin)
    compile_one("older.so", "bad.c", "-DOLDER", *plugin)
    with open(os.path.join(HERE, "example.c"), encoding="ascii") as f:
        lines = len(f.readlines())
    result(lines <= 150, "the example has at most 150 lines", lines)


# ---- recording -----------------------------------------------------------------------------------

def record(*command, collectors="toy.so", options=(), **more):
    if collectors:
        more["XSPROF_COLLECTORS"] = ":".join(path(c) for c in collectors.split(":"))
    got = run([XSPROF, "record", *options, "-o", CAPTURE, "--", *command], **more)
    dump = run([XSPROF, "dump", "-f", "ndjson", CAPTURE])
    return got, [dict(e, name=e.get("name")) for e in map(json.loads, dump.stdout.splitlines())]


def of(events, kind):
    return [e for e in events if e["type"] == "gpu" and e["kind"] == kind]


def counters(events, start):
    return {e["name"]: e["i64"] for e in events
            if e["type"] == "counter" and e["name"].startswith(start)}


def facts():
    info = json.loads(run([XSPROF, "info", "--json", CAPTURE]).stdout)
    return [p["facts"] for p in info["processes"]]


def check_jobs():
    got, events = record(path("program"), "jobs", "40")
    calls, work = of(events, "runtime"), of(events, "kernel")
    equal((got.returncode, len(calls), len(work)), (0, 40, 40), "each job, and each call")
    equal({e["name"] for e in calls + work}, {"toy_launch", "gemm"}, "by their names")
    by_id = {e["value"]: e for e in calls}
    wrong = [(e, by_id[e["value"]]) for e in work
             if by_id[e["value"]]["begin_ns"] - 2000 > e["begin_ns"] or
             e["end_ns"] > e["ns"] + 2000]
    result(len(by_id) == 40 and not wrong,
           "none before its call or after it was told of, by more than the clock errs", wrong[:2])
    result(all(e["end_ns"] - e["begin_ns"] >= 20000 * (1 - 1e-4) - 2 for e in work),
           "jobs last as long as they do", work[:2])
    equal({(e["device"], e["context"], e["stream"]) for e in work}, {(96, 1, 0), (96, 1, 1)},
          "where they ran; the first kind of its own begins at 96")
    main = {e["tid"] for e in events if e["name"] == "step" and e["type"] == "begin"}
    result({e["thread_id"] for e in calls} == {e["pid"] for e in events if e["name"] == "step"},
           "calls are of the thread that launched", main)
    stated = facts()[0]
    equal(json.loads(stated["device.96"]),
          {"id": 96, "kind": "toy", "name": "Toy 1000", "uuid": "TOY-0001"}, "the device's facts")
    equal((stated["stream.96.1.0"], stated["stream.96.1.1"]), ("compute", "copies"),
          "names of streams")
    bound = counters(events, "clock of device")
    result(list(bound) == ["clock of device 96: known within ns"] and
           0 <= bound["clock of device 96: known within ns"] < 10 ** 9,
           "how well its clock is known", bound)
    equal(counters(events, "not recorded"), {}, "nothing is missed")


def check_shown():
    report = run([XSPROF, "report", "--gpu", CAPTURE]).stdout
    result("# toy device 96, Toy 1000: busy for" in report and
           "stream 1 (copies) of context 1" in report, "report --gpu: the device, and its streams",
           report)
    equal(run([XSPROF, "report", "--by", "kernel", CAPTURE]).stdout, report,
          "--by kernel: the same")
    for form, want in (("chrome", "GPU 96 stream 0 (compute), context 1"),
                       ("kineto", "stream 1 copies")):
        text = run([XSPROF, "dump", "-f", form, CAPTURE]).stdout
        result(want in text, f"{form}: names of streams", text[-2000:])
    run([XSPROF, "dump", "-f", "perfetto", "-o", path("x.pftrace"), CAPTURE])
    with open(path("x.pftrace"), "rb") as f:
        result(b"GPU 96 stream 1 (copies), context 1" in f.read(), "perfetto: names of streams")
    trace = json.loads(run([XSPROF, "dump", "-f", "kineto", CAPTURE]).stdout)
    ops = {e["args"]["External id"] for e in trace["traceEvents"]
           if e.get("name") == "matmul" and "args" in e}
    ids = {e["args"].get("External id") for e in trace["traceEvents"] if e.get("cat") == "kernel"}
    result(len(ids) == 40 and ids <= ops, "each job belongs to the op that launched it",
           (sorted(ops)[:5], ids))
    flows = collections.Counter(e["ph"] for e in trace["traceEvents"] if e.get("cat") == "ac2g")
    equal(flows, {"s": 40, "f": 40}, "an arrow from each call to its job")
    equal([d["name"] for d in trace["deviceProperties"]], ["Toy 1000"], "deviceProperties")
    device = json.loads(run([XSPROF, "report", "--gpu", "--json", CAPTURE]).stdout)["devices"][0]
    dump = run([XSPROF, "dump", "-f", "ndjson", CAPTURE]).stdout.splitlines()
    within = max(e["i64"] for e in map(json.loads, dump)
                 if e["type"] == "counter" and e["name"].startswith("clock of device"))
    result(device["clock_within_ns"] == within and
           "error of its times on the program's clock: at most" in report,
           "report --gpu: how well its clock is known", (device, within))
    named = {e["pid"] for e in trace["traceEvents"] if e.get("name") == "process_labels" and
             e["args"]["labels"] == "GPU 96"}
    equal(named, {96}, "the device's row is named")


def check_losses():
    _, events = record(path("program"), "bad", "7")
    equal(len(of(events, "kernel")), 1, "jobs that failed are not written")
    equal(counters(events, "not recorded"), {"not recorded: jobs that failed": 7},
          "but counted, all, before the program has ended")
    report = run([XSPROF, "report", "--gpu", CAPTURE]).stdout
    result("# not recorded: 7 jobs that failed (process " in report, "report --gpu says so", report)
    # Rings of 16 KiB hold 170 jobs, so the collector must wait for the recorder.
    _, events = record(path("plain"), "jobs", "900", options=("-b", "16k"))
    equal(len(of(events, "kernel")), 900, "more than a ring holds: all jobs")


def check_lives():
    _, events = record(path("program"), "fork")
    pids = sorted({e["pid"] for e in events if e["type"] != "producer"})
    equal([len([e for e in of(events, "kernel") if e["pid"] == p]) for p in pids], [2, 3],
          "the child of a fork: its own jobs, and no others")
    equal([f.get("stream.96.1.0") for f in facts()], ["compute"] * 2, "it declares the device too")
    child = [e for e in of(events, "runtime") if e["pid"] == pids[-1]]
    result(child and all(e["thread_id"] == pids[-1] for e in child), "its calls are of its thread",
           child[:1])
    _, events = record(path("program"), "exec")
    jobs = collections.Counter(e["producer"] for e in of(events, "kernel"))
    result(3 in jobs.values(), "a program that was executed: the plug-in is there again", jobs)
    got, events = record(path("plain"), "jobs", "5")
    equal((got.returncode, len(of(events, "kernel"))), (0, 5),
          "a program that is not linked with xsprof")
    got, events = record(path("plain"), "jobs", "5", options=("--no-collectors",))
    equal((got.returncode, len(of(events, "kernel"))), (0, 0), "--no-collectors: none")
    got, events = record(path("plain"), "jobs", "5", collectors=None)
    equal((got.returncode, len(of(events, "kernel")), len(facts())), (0, 0, 0),
          "none is named: nothing of ours is in the program")
    got, events = record(path("program"), "jobs", "5", collectors=None,
                         XSPROF_COLLECTORS="none")
    equal((got.returncode, len(of(events, "kernel"))), (0, 0), "none: none")
    alone = run([path("program"), "jobs", "5"], XSPROF_COLLECTORS=path("toy.so"))
    equal((alone.returncode, alone.stdout, alone.stderr), (0, "", ""),
          "nobody records: no plug-in is opened")
    env = {"XSPROF_COLLECTORS": path("toy.so"), "XSPROF_RECORD": CAPTURE}
    run([path("program"), "jobs", "5"], **env)
    dump = run([XSPROF, "dump", "-f", "ndjson", CAPTURE]).stdout.splitlines()
    equal(len(of([json.loads(line) for line in dump], "kernel")), 5,
          "a program that records itself")


def check_session():
    """Without a recorder the program's own session opens the plug-in, and waits for it at its
    end."""
    got = run([path("program"), "session", path("session.json")], XSPROF_COLLECTORS=path("toy.so"))
    with open(path("session.json"), encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    equal((got.returncode, len([e for e in events if e.get("cat") == "kernel"])), (0, 5),
          "a session of the program's own")


def check_twice():
    got, events = record(path("program"), "jobs", "5", collectors="toy.so:toy.so")
    equal((got.stderr.count("xsprof: /"), len(of(events, "kernel"))), (0, 5),
          "named twice: one collector")
    folder = os.path.join(LIB, "xsprof", "collectors")
    os.makedirs(folder)
    shutil.copy(path("toy.so"), folder)
    with open(os.path.join(folder, "README"), "w", encoding="ascii") as f:
        f.write("no library\n")
    got, events = record(path("plain"), "jobs", "5", collectors=None)
    equal((got.returncode, len(of(events, "kernel"))), (0, 5), "the folder beside the library")
    shutil.rmtree(os.path.dirname(folder))


def check_switch():
    env = environ(XSPROF_COLLECTORS=path("toy.so"))
    command = ["timeout", "60", XSPROF, "record", "-o", CAPTURE, "--", path("program"), "watch"]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as p:
        said = [p.stdout.readline()]
        for verb in ("disable", "enable"):
            got = run([XSPROF, verb, "-a", "toy"])
            said.append(p.stdout.readline() if not got.returncode else got.stderr)
        p.stdin.close()
        p.wait(60)
    equal(said, ["tool 1\n", "tool 0\n", "tool 1\n"],
          "xsprof disable and enable reach the device's runtime")
    events = run([XSPROF, "dump", "-f", "ndjson", CAPTURE]).stdout.splitlines()
    events = [json.loads(line) for line in events]
    calls = sorted(e["begin_ns"] for e in of(events, "runtime"))
    switched = [e["ns"] for e in events if e["type"] == "control"]
    result(len(switched) == 2 and calls[0] < switched[0] and calls[-1] > switched[1] and
           not [c for c in calls if switched[0] < c < switched[1]],
           "calls are recorded before and after, and none in between", (calls[:3], switched))


def check_own():
    got, events = record(path("program"), "own", collectors=None)
    equal(got.stdout.split(), ["number", "99", "index", "-28", "kind", "-22"],
          "a program that is its own collector: a number, and what has none")
    equal([(e["name"], e["device"]) for e in of(events, "kernel")],
          [("own_kernel", 99), ("wide_kernel", 99), ("long_kernel", 99)], "its activities")
    equal([(e["name"], e["device"], e["stream"]) for e in of(events, "custom")],
          [("decode", 99, 6)], "and work of another kind")
    numbers = {"k%u" % i: i for i in range(1, 30)}
    want = {"own_kernel": {}, "wide_kernel": dict(numbers, k0=0),
            "long_kernel": dict(numbers, text="x" * 899)}
    for form in "chrome", "kineto":
        trace = json.loads(run([XSPROF, "dump", "-f", form, CAPTURE]).stdout)["traceEvents"]
        got = {e["name"]: {k: v for k, v in e["args"].items() if k == "text" or k[1:].isdigit()}
               for e in trace if e["name"] in want}
        equal(got, want, f"{form}: arguments of several records are the activity's")
        equal([e for e in trace if e["name"] == "args"], [], f"{form}: and no events")
        equal(len([e for e in trace if e["name"] == "decode" and e["ph"] == "X"]), 1,
              f"{form}: work of another kind")
    run([XSPROF, "dump", "-f", "perfetto", "-o", path("x.pftrace"), CAPTURE])
    with open(path("x.pftrace"), "rb") as f:
        got = f.read()
    equal((got.count(b"\x04args"), got.count(b"\x03k29"), got.count(b"x" * 899)), (0, 1, 1),
          "perfetto: the same")
    equal(json.loads(facts()[0]["device.99"]),
          {"id": 99, "kind": "npu", "name": "Own NPU3", "cores": 7, "maker": "us"},
          "what JSON would escape is left out")
    report = run([XSPROF, "report", "--gpu", CAPTURE]).stdout
    result("  decode\n" in report, "report --gpu: work of another kind", report)
    result("stream 6 (six) of context 5 (five)" in report, "names of context and stream", report)
    result(b"GPU 99 stream 6 (six), context 5 (five)" in got, "perfetto: the same", got[-2000:])


# ---- what is not opened --------------------------------------------------------------------------

def refused(name, collectors, want, opened=False):
    """One line must match; the program is recorded, without that collector."""
    got = run([XSPROF, "record", "-q", "-o", CAPTURE, "--", path("program"), "jobs", "2"],
              XSPROF_COLLECTORS=collectors)
    lines = [line for line in got.stderr.splitlines() if line.startswith("xsprof: ") and
             "records of an unfinished recording" not in line]
    steps = run([XSPROF, "dump", CAPTURE]).stdout.count("begin:    step")
    result(got.returncode == 0 and len(lines) == 1 and all(w in lines[0] for w in want) and
           steps == 2 and ("entry" in got.stdout) == opened and "works" not in got.stdout, name,
           (got.returncode, steps, got.stdout, got.stderr))


def check_refused():
    refused("no entry", path("entry.so"), [path("entry.so"), "xsprof_collector_init"])
    refused("another version", path("version.so"), ["version 2", "has 1", "install"], True)
    refused("fields that are not known", path("fields.so"), ["install a newer one"], True)
    refused("a size that is none", path("size.so"), ["invalid collector"], True)
    refused("a relative path", "toy.so", ["'toy.so' is not an absolute path"])
    refused("a path that is not there", path("none.so"), [path("none.so"), "No such file"])
    refused("a folder", DIR, ["it is a directory: name the files in it"])
    with open(path("text.so"), "w", encoding="ascii") as f:
        f.write("this is no library\n")
    refused("a file that is no library", path("text.so"), [path("text.so")])
    got = run([XSPROF, "record", "-q", "-o", CAPTURE, "--", path("program"), "jobs", "2"],
              XSPROF_COLLECTORS=path("nothing.so"))
    result(got.stdout == "entry 1\n" and path("nothing.so") not in got.stderr,
           "one with nothing to record says nothing", got.stderr)
    got = run([XSPROF, "record", "-q", "-o", CAPTURE, "--", path("program"), "jobs", "2"],
              XSPROF_COLLECTORS=path("older.so"))
    result(got.stdout.startswith("entry 1\na bad collector works\n"),
           "a collector of before functions were added works", (got.stdout, got.stderr))


def check_loader_words():
    """Names in which dlopen() would replace a token, and so open another file than was checked."""
    folder = path("$LIB")
    os.mkdir(folder)
    shutil.copy(path("toy.so"), folder)
    refused("a path with a word of the loader's", os.path.join(folder, "toy.so"),
            ["contains a '$'"])


def check_writable():
    folder = path("open")
    os.mkdir(folder)
    shutil.copy(path("toy.so"), folder)
    theirs = os.path.join(folder, "toy.so")
    os.chmod(theirs, 0o666)
    refused("a file that all can write", theirs, [f"chmod go-w {theirs}"])
    os.chmod(theirs, 0o755)
    os.chmod(folder, 0o777)
    refused("in a folder that all can write", theirs, [f"chmod go-w {folder}"])
    os.symlink(theirs, path("link.so"))
    refused("a link to it", path("link.so"), [f"chmod go-w {folder}"])
    os.chmod(folder, 0o775)
    refused("in a folder that a group can write", theirs, [f"chmod go-w {folder}"])
    os.chmod(folder, 0o755)
    if os.geteuid():
        print("# not root: no file of another user, no set-user-id program")
        return
    os.chown(theirs, 65534, -1)
    refused("a file of another user", theirs, ["belongs to user 65534"])
    os.chown(theirs, 0, -1)
    os.chown(folder, 65534, -1)
    refused("in a folder of another user", theirs, ["belongs to user 65534"])
    os.chown(folder, 0, -1)
    check_set_user_id()


def check_set_user_id():
    """Another user runs a set-uid program of root's, which begins a session of its own."""
    program = path("suid")
    shutil.copy(path("program"), program)
    os.chmod(program, stat.S_ISUID | 0o755)
    os.chmod(DIR, 0o755)
    env = {"XSPROF_COLLECTORS": path("version.so")}
    got = subprocess.run([program, "session", path("suid.json")], user=65534, group=65534,
                         extra_groups=[], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, timeout=60)
    equal((got.returncode, got.stdout, got.stderr), (0, "", ""), "a set-user-id program opens none")
    got = run([program, "session", path("suid.json")], **env)
    result(got.stdout.startswith("entry 1"), "where it has no more rights than its caller it does",
           got.stdout + got.stderr)


install()
compile_all()
if not failed:
    for check in (check_jobs, check_shown, check_losses, check_lives, check_session, check_twice,
                  check_switch, check_own, check_refused,
                  check_loader_words, check_writable):
        check()
print(f"1..{count}")
TEMP.cleanup()
SHM.cleanup()
sys.exit(failed)
