#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Reads a ring file in another language, by numbers: its layout is what abi.h says. TAP.
cd "$(dirname "$0")/../.." || exit 1
progs=${BUILD:-build}/tests

"$progs/ring/session" XSPROF_BUFFER_SIZE=64k LOCAL_RANK=3 sh -c '
	"$1/lib/cxx" >/dev/null || exit 1
	python3 tests/lib/abi.py "$XSPROF_SESSION"/p.*' sh "$progs"
