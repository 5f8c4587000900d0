#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: metrics-oracle.sh [all]
#
# Compares how the collector reads counters of devices and of kernels with CUPTI's headers and
# library: of the first version that has such functions and of a newer one, or of all. Each field
# must be where the headers have it, and CUPTI itself must say that what the collector chooses of
# chips can be measured at one time. Sampling and measuring need a GPU. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/gpu/cuda.sh

versions="12.6 13.0"
[ "${1:-}" != all ] || versions+=" 12.8 12.9 13.1 13.2 13.3 13.4 13.5"
for version in $versions; do
	for what in "samples metrics" "measures kernels ranges"; do
		oracle $version "each field of what ${what% *} is where its headers have it" \
			"what ${what% *}: its library has what is chosen, and measures it at once" \
			tests/gpu/${what##* }-oracle.c gpu/cupti/{pm,metrics,chip,library}.c
	done
done
finish
