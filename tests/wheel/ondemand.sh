#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Traces on demand of a PyTorch program started with only XSPROF_ONDEMAND=1, in a virtual
# environment with the wheel: runs tests/torch/ondemand.sh with the wheel's tool and libraries.
# Usage: ondemand.sh PYTHON, with PyTorch. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/wheel/start.sh
python=${1:-/usr/bin/python3}
"$python" -c 'import torch' 2>/dev/null || skip "no PyTorch for $python"

packages=$("$python" -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))')
venv "$dir/v" --system-site-packages 2>"$dir/log" || {
	sed 's/^/# /' "$dir/log"
	echo "Bail out! the wheel cannot be installed"
	exit 1
}
# The packages of the virtual environment from which this one is made are not the system's.
echo "$packages" >"${site%/xsprof}/torch.pth"
# The tool and the library of the wheel; the programs of the test itself are of this build.
mkdir "$dir/build" && ln -s "$dir/v/bin" "$site/lib" "$BUILD/tests" "$dir/build" || exit 1
BUILD=$dir/build tests/torch/ondemand.sh "$dir/v/bin/python" package
