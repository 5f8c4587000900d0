#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs nccl.py with NCCL as shipped in the Python package index. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
[ "$(uname -m)" = x86_64 ] || skip "this package is for x86-64"
python_packages nccl nvidia-nccl-cu12==2.32.3 nvidia-nvtx==13.5.25 || skip "$why"
folder=$("$venv/bin/python" -c 'import nvidia as n; print(n.__path__[0])') || exit 1
/usr/bin/python3 tests/nvtx/nccl.py "$folder"
