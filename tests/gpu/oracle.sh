#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: oracle.sh [all]
#
# Compares the records of CUPTI as the collector reads them with CUPTI's headers and library: of the
# oldest version, the newest, and that of the buffers of a real device, or of all. CUPTI and the
# stand-in for it must step over buffers in the same way, record by record. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/gpu/cuda.sh

versions="11.8 13.0"
[ "${1:-}" != all ] || versions+=" 12.0 12.1 12.2 12.3 12.4 12.5 12.6 12.8 12.9 13.1 13.2 13.3 13.4"
# Buffers that a device filled, for 13.0.
gzip -cd tests/gpu/h100-13.0.raw.gz >"$dir/raw" || exit 1
for version in $versions 13.5; do
	args=("$(realpath -m "${BUILD:-build}")/tests/gpu/libcupti.so")
	[ $version != 13.0 ] || args+=("$dir/raw")
	oracle $version "each field is where its headers have it" \
		"replay: its library steps over records as the stand-in does" \
		tests/gpu/oracle.c tests/gpu/oracle-steps.c
done
finish
