#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# OpenCL programs whose loader has no layers, under `xsprof record --gpu`: linked programs,
# plug-ins, and lookups by dlsym(). Calls and commands must be as many as the program prints and an
# independent library counts; with a loader that also has layers, each is recorded once.
# Usage: loaders.py FOLDER of the loader

import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from gpulib import BUILD, DIR, equal, failed, finish, missed, of, result, skipped
from opencllib import check_same, record, run, said, seen

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM, PLUGIN, OTHER, CLOSE, HOST, COUNTER, LAYER, COUNT, SECOND = (
    os.path.join(DIR.name, name) for name in (
        "opencl", "plugin.so", "other.so", "close", "host", "counter.so", "layer.so", "count",
        "libSecond.so.1"))


def compile_one(out, source, *flags):
    got = run([os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-D_GNU_SOURCE", "-o", out,
               os.path.join(HERE, source) if source.endswith(".c") else source, *flags])
    result(not got.returncode, f"{os.path.basename(out)} is built", got.stderr)


def make_second():
    """Copies the loader to another name, so that a process can have two."""
    with open(os.path.join(sys.argv[1], "libOpenCL.so.1"), "rb") as f:
        loader = f.read()
    with open(SECOND, "wb") as f:
        f.write(loader.replace(b"libOpenCL.so.1", b"libSecond.so.1"))


def compile_all():
    compile_one(PROGRAM, "opencl.c", "-pthread", "-lOpenCL")
    compile_one(PLUGIN, "opencl.c", "-shared", "-fPIC", "-pthread", "-lOpenCL")
    make_second()
    compile_one(OTHER, "opencl.c", "-shared", "-fPIC", "-pthread", SECOND,
                f"-Wl,-rpath,{DIR.name}")
    compile_one(CLOSE, "opencl-close.c", "-ldl")
    compile_one(HOST, "opencl-host.c", "-ldl")
    compile_one(COUNTER, "opencl-count.c", "-shared", "-fPIC", "-ldl")
    compile_one(LAYER, "opencl-layer.c", "-iquote", os.path.dirname(os.path.dirname(HERE)),
                "-shared", "-fPIC")


def counted():
    try:
        with open(COUNT, encoding="ascii") as f:
            return int(f.read())
    except FileNotFoundError:
        return None
    finally:
        if os.path.exists(COUNT):
            os.unlink(COUNT)


def check_loader(name, folder):
    at = {"LD_LIBRARY_PATH": folder}
    got = run([PROGRAM, "all"], OPENCL_LAYERS=LAYER, COUNT_FILE=COUNT, **at)
    equal((got.returncode, os.path.exists(COUNT)), (0, False), f"{name} has no layers")
    check_same(f"{name}: a program that is linked with it", PROGRAM, "all", **at)
    check_same(f"{name}: four threads", PROGRAM, "threads", "4", "50", **at)
    check_same(f"{name}: a plug-in", HOST, PLUGIN, "all", **at)
    check_same(f"{name}: dlsym(), and closed and opened again", CLOSE, **at)
    got, events, _ = record([PROGRAM, "threads", "2", "500"], LD_PRELOAD=COUNTER,
                            COUNT_FILE=COUNT, **at)
    equal((got.returncode, len(of(events, "kernel")), counted(), missed(events)),
          (0, 1000, 1000, {}), f"{name}: every kernel, as a library of the user's counts them")


def check_both():
    """Tests this system's loader, whose layers the other tests need."""
    check_same("a loader with layers: a plug-in is recorded once", HOST, PLUGIN, "all")
    got, events, _ = record([PROGRAM, "threads", "2", "500"], OPENCL_LAYERS=LAYER,
                            LD_PRELOAD=COUNTER, COUNT_FILE=COUNT)
    calls = [e for e in of(events, "runtime") if e["name"] == "clEnqueueNDRangeKernel"]
    equal((got.returncode, len(of(events, "kernel")), len(calls), counted()), (0, 1000, 1000, 1000),
          "a loader with layers: a layer and a library of the user's: each kernel once")
    calls = said(run([PROGRAM, "all"]).stdout)[0]
    for first, second in ((PLUGIN, OTHER), (OTHER, PLUGIN)):
        got, events, _ = record([HOST, first, second, "all"])
        equal((got.returncode, seen(events)[0], got.stderr.count("a second loader")),
              (0, calls, 1), "two loaders in a process: the first is recorded, and it is said")


def check_without():
    got = run([HOST])
    equal((got.returncode, got.stdout), (0, "without\n"), "a program that uses no OpenCL")
    got, _, _ = record([HOST])
    equal((got.returncode, got.stdout, got.stderr.count("further")), (0, "without\n", 0),
          "recorded, it finds no OpenCL either")
    preloaded = os.path.join(BUILD, "lib", "libxsprof-preload.so")
    code = "import re; print(set(re.findall('libxsprof-[a-z]+', open('/proc/self/maps').read())))"
    maps = subprocess.run([sys.executable, "-c", code], env={"LD_PRELOAD": preloaded},
                          stdout=subprocess.PIPE, encoding="ascii", timeout=60, check=False)
    equal((maps.returncode, maps.stdout), (0, "{'libxsprof-preload'}\n"),
          "the collector is not loaded there")


def check_musl():
    """Tests a C library without symbol versions and dlvsym(): it uses its own dlsym()."""
    name = "a program of another C library looks functions up"
    if not shutil.which("musl-gcc"):
        skipped(name, "no musl-gcc: install musl-tools")
        return
    source, program = (os.path.join(DIR.name, file) for file in ("musl.c", "musl"))
    with open(source, "w", encoding="ascii") as f:
        f.write("#include <dlfcn.h>\n"
                'int main(void) { return dlsym(RTLD_DEFAULT, "puts") ? 7 : 8; }\n')
    got = run(["musl-gcc", "-o", program, source])
    equal(got.returncode, 0, "a program of musl is built")
    equal(record([program])[0].returncode, 7, name)


compile_all()
if not failed():
    check_loader("NVIDIA's loader", sys.argv[1])
    check_both()
    check_without()
    check_musl()
finish()
