#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# wheel.sh VERSION [COMMAND...]: ops.sh, or that command, with the Python of a virtual environment
# outside of the tree that has that build of PyTorch for CPUs, out of Python's registry or where
# else pip is told to look. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/viewers/packages.sh
version=$1
shift

if [ "$(uname -m)" != x86_64 ]; then
	echo "1..0 # SKIP libxsprof-torch is for x86-64"
	exit 77
fi
# "+cpu": the others bring gigabytes of CUDA.
if ! python_packages torch "torch==$version+cpu" numpy==2.4.6 typing_extensions==4.16.0 \
	sympy==1.14.0 mpmath==1.4.1 networkx==3.6.1 jinja2==3.1.6 markupsafe==3.0.4 \
	fsspec==2026.9.0 filelock==4.2.12 setuptools==84.2.1; then
	echo "1..0 # SKIP $why"
	exit 77
fi
rm -rf "$dir"
[ $# -gt 0 ] || set -- tests/torch/ops.sh
exec "$@" "$venv/bin/python"
