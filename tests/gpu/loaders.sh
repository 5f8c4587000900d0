#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs loaders.py with an OpenCL loader that has no layers, as shipped: NVIDIA's, from the Python
# package index. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
[ "$(uname -m)" = x86_64 ] || skip "this package is for x86-64"
python_packages opencl-loader nvidia-cuda-opencl==13.5.25 || skip "$why"
/usr/bin/python3 tests/gpu/loaders.py "$venv"/lib/python*/site-packages/nvidia/cu13/lib
