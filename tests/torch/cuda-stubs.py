#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a PyTorch built for CUDA usable for programs that only use the CPU.

usage: cuda-stubs.py TORCH/LIB

It is linked with gigabytes of CUDA libraries, which are not installed. This makes one library that
replaces them all: each function reports that there is no device, so PyTorch behaves as on a machine
without one. It also frees the disk space of the GPU code in PyTorch's own libraries, which nothing
reads then.
"""
import collections
import glob
import os
import re
import subprocess
import sys

SYMBOL = re.compile(r"(__cuda|cu[A-Za-z]|nccl|nv[A-Za-z])\w*")
LIBRARY = re.compile(r"lib(cu|nv|nccl)[\w-]*\.so[.\d]*")
# 100 is cudaErrorNoDevice.
SOURCE = """
const char *cudaGetErrorString(int error) { return "no device"; }
long no_device(void) { return 100; }
"""


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def punch(path):
    for offset, size in re.findall(r"\] \.nv_fatbin\s+PROGBITS\s+\w+ (\w+) (\w+)",
                                   readelf("-S", path)):
        subprocess.run(["fallocate", "--punch-hole", "-o", str(int(offset, 16)),
                        "-l", str(int(size, 16)), path], check=True)


def main():
    folder = sys.argv[1]
    libraries = [p for p in glob.glob(folder + "/*.so*") if not os.path.islink(p)]
    there = {os.path.basename(p) for p in libraries}
    versions, needed = collections.defaultdict(set), set()
    for path in libraries:
        for line in readelf("--dyn-syms", path).splitlines():
            field = line.split()
            if len(field) > 7 and field[6] == "UND":
                name, _, version = field[7].partition("@")
                if SYMBOL.fullmatch(name):
                    versions[version.strip("@") or "none"].add(name)
        needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path)))
        punch(path)
    needed = sorted(n for n in needed if LIBRARY.fullmatch(n) and n not in there)
    if not needed:
        return
    source, script = SOURCE, ""
    for version, names in sorted(versions.items()):
        script += "%s {global: %s;};\n" % (version, "; ".join(sorted(names)))
    for name in sorted(set().union(*versions.values()) - {"cudaGetErrorString"}):
        source += 'long %s(void) __attribute__((alias("no_device")));\n' % name
    with open(folder + "/stubs.map", "w") as f:
        f.write(script)
    subprocess.run(["cc", "-w", "-fno-builtin", "-shared", "-fPIC", "-o", folder + "/" + needed[0],
                    "-Wl,--version-script=%s/stubs.map" % folder, "-x", "c", "-"],
                   input=source, text=True, check=True)
    for name in needed[1:]:
        os.symlink(needed[0], folder + "/" + name)


main()
