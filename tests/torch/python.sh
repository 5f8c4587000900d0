#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The place of an op in a Python program, with each version of Python that is installed. TAP.
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
library=$PWD/$BUILD/tests/torch/libpython-walk.so

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tap_log=$dir/log
# Those of the system, and all that a version manager has.
{
	command -v /usr/bin/python3 python3 python3.9 python3.10 python3.11 python3.12 python3.13 \
		python3.14
	pyenv prefix 2>/dev/null | sed 's|/[^/]*$||' | xargs -I{} find {} -path '*/bin/python3'
} | while read -r python; do
	"$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3], sys.executable)' \
		2>/dev/null
done | sort -Vu >"$dir/pythons"
while read -r version python; do
	"$python" tests/torch/python-walk.py "$library" >"$tap_log" 2>&1
	status=$?
	result "Python $version: $(grep -c '^ok' "$tap_log") results" $status
done <"$dir/pythons"
finish
