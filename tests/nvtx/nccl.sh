#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs nccl.py with NCCL as shipped in the Python package index. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/viewers/packages.sh

if [ "$(uname -m)" != x86_64 ]; then
	echo "1..0 # SKIP this package is for x86-64"
	exit 77
fi
if ! python_packages nccl nvidia-nccl-cu12==2.32.3 nvidia-nvtx==13.5.25; then
	echo "1..0 # SKIP $why"
	exit 77
fi
folder=$("$venv/bin/python" -c 'import nvidia as n; print(n.__path__[0])') || exit 1
rm -rf "$dir"
exec /usr/bin/python3 tests/nvtx/nccl.py "$folder"
