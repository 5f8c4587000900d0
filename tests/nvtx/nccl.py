#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# NCCL without a GPU: its ranges, with payloads that it describes itself, as a tool counts them that
# is compiled with NVIDIA's headers.
#
# Usage: nccl.py FOLDER: where NCCL and the headers are

import os
import sys
import tempfile

sys.dont_write_bytecode = True
from nvtxlib import Tap, args_of
from programs import compare, compile_c


def check(tap, folder, tmp):
    include = os.path.join(folder, "cu13", "include")
    program, tool = os.path.join(tmp, "program"), os.path.join(tmp, "count.so")
    compile_c(program, "nccl.c", "-ldl")
    compile_c(tool, "count.c", "-fPIC", "-shared", f"-I{include}")
    library = os.path.join(folder, "nccl", "lib", "libnccl.so.2")
    events = compare(tap, "NCCL", [program, library], tool, 1, 0)
    reduces = [dict(args_of(e)) for e in events if e["type"] == "begin" and
               e["name"] == "ncclAllReduce"]
    tap.equal([(a["Message size [bytes]"], a["Reduction operation"]) for a in reduces],
              [(400, op) for op in ("Sum", "Product", "Max", "Min")],
              "NCCL: its payloads by the names of their fields and values")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as tmp:
        check(tap, sys.argv[1], tmp)
    tap.exit()


if __name__ == "__main__":
    main()
