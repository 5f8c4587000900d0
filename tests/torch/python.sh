#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The place of an op in a Python program, with each installed Python version. TAP.
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
. tests/torch/pythons.sh
. tests/viewers/packages.sh
library=$PWD/$BUILD/tests/torch/libpython-walk.so

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tap_log=$dir/log
pythons >"$dir/pythons"
if [ "${XSPROF_TIER:-quick}" = full ]; then
	if package_python314; then
		echo "3.14 $python314" >>"$dir/pythons"
	else
		skipped "Python 3.14" "$why"
	fi
fi
while read -r version python; do
	"$python" tests/torch/python-walk.py "$library" >"$tap_log" 2>&1
	status=$?
	result "Python $version: $(grep -c '^ok' "$tap_log") results" $status
done <"$dir/pythons"
finish
