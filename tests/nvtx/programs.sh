#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs programs.py with NVIDIA's headers of three versions, its library of version 2 and the Python
# package, as shipped in the Python package index, in a virtual environment outside the tree. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
[ "$(uname -m)" = x86_64 ] || skip "these packages are for x86-64"
python_packages nvtx nvtx==0.2.17 nvidia-nvtx-cu12==12.1.105 nvidia-nvtx==13.5.25 || skip "$why"
folder=$("$venv/bin/python" -c 'import nvidia as n; print(n.__path__[0])') || exit 1
/usr/bin/python3 tests/nvtx/programs.py "$folder" "$venv/bin/python"
