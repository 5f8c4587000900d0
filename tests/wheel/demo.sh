#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the demo with the tool and libraries of the wheel: tests/demo/test.sh. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/wheel/start.sh
python=/usr/bin/python3
venv "$dir/v" 2>"$dir/log" || {
	sed 's/^/# /' "$dir/log"
	echo "Bail out! the wheel cannot be installed"
	exit 1
}
mkdir "$dir/build" && ln -s "$dir/v/bin" "$BUILD/tests" "$dir/build" || exit 1
BUILD=$dir/build tests/demo/test.sh
