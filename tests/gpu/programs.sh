#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs programs.py with PyOpenCL on PoCL, or with PyOpenCL and SYCL on Intel's OpenCL runtime, which
# runs on any x86-64 CPU: as shipped in the Python package index, in a virtual environment outside
# the tree. Usage: programs.sh pocl|intel. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/viewers/packages.sh
[ "$(uname -m)" = x86_64 ] || skip "these packages are for x86-64"
packages="pyopencl==2026.1.4 numpy==2.4.6 pytools==2026.1.1 platformdirs==4.14.8 siphash24==1.9
	typing_extensions==4.16.0"
case ${1:-} in
pocl) ;;
intel)
	# About 1.5 GB on the disk.
	packages+=" intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0
		intel-cmplr-lic-rt==2026.2.0 intel-cmplr-lib-ur==2026.2.0 intel-sycl-rt==2026.2.0
		tbb==2023.2.0 tcmlib==1.6.0 umf==1.2.0 dpctl==0.22.1" ;;
*) echo "usage: programs.sh pocl|intel" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086
python_packages "opencl-$1" $packages || skip "$why"
/usr/bin/python3 tests/gpu/programs.py "$venv/bin/python" "$1" "$venv/lib/libintelocl.so"
