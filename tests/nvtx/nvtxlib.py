# SPDX-License-Identifier: GPL-2.0-only
#
# Shared by the NVTX tests, in addition to what they share with the ITT tests.

import os
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(TESTS), "itt"))
from ittlib import (BUILD, XSPROF, Tap, args_of, clean_env, lost, record, run, skip_all, tally)

NVTX_SO = os.path.join(BUILD, "lib", "libxsprof-nvtx.so")


def nvtx_env(**more):
    env = clean_env()
    env.pop("NVTX_INJECTION64_PATH", None)
    env.update(more)
    return env
