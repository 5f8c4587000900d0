#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# wheel.sh [-p 3.9] VERSION [COMMAND...]: runs ops.sh and inputs.sh, in tier full also ways.sh, or
# the given command, with a Python in a virtual environment outside the tree that has that build of
# PyTorch, from wherever pip is configured to look. -p: with that version of Python. A build for
# CUDA runs without CUDA: cuda-stubs.py. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/common/tap.sh
. tests/viewers/packages.sh
. tests/torch/pythons.sh

stubs() { python3 tests/torch/cuda-stubs.py "$new"/lib/python*/site-packages/torch/lib; }

[ "$(uname -m)" = x86_64 ] || skip "the wheels are for x86-64"
if [ "$1" = -p ]; then
	python=$(pythons | sed -n "s/^$2\.[0-9]* //p" | tail -n 1)
	[ -n "$python" ] || skip "no Python $2"
	shift 2
fi
version=$1
shift
python_then=stubs
python_packages torch "torch==$version" typing_extensions==4.15.0 sympy==1.13.3 mpmath==1.3.0 \
	networkx==3.2.1 jinja2==3.1.6 markupsafe==3.0.3 fsspec==2024.12.0 filelock==3.16.1 \
	setuptools==80.9.0 || skip "$why"
rm -rf "$dir"
[ $# = 0 ] || exec "$@" "$venv/bin/python"
tests/torch/ops.sh "$venv/bin/python"
status=$?
if [ "${XSPROF_TIER:-quick}" = full ]; then
	tests/torch/ways.sh "$venv/bin/python" || status=1
fi
tests/torch/inputs.sh "$venv/bin/python" && exit $status
