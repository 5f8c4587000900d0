#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A ring file read by another language, from numbers: what abi.h says is what is there. TAP.
cd "$(dirname "$0")/../.." || exit 1
progs=${BUILD:-build}/tests

"$progs/ring/session" XSPROF_BUFFER_SIZE=64k LOCAL_RANK=3 sh -c '
	"$1/lib/cxx" >/dev/null || exit 1
	python3 tests/lib/abi.py "$XSPROF_SESSION"/p.*' sh "$progs"
