#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs flight-guest.sh in an emulated machine with the module: snapshots, categories and the flight
# recorder with rings that the kernel owns. TAP.
#
#	flight-kmod.sh [KERNEL]
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/vm/module-tap.sh
BUILD=${BUILD:-build}
kernel=${1:-6.1}

module_tap "$kernel"
tests/vm/boot.sh --kernel "$kernel" --limit 300 --with-libs --module "$ko" \
	"$BUILD/bin/xsprof" "$BUILD/tests/tools/beat" "$BUILD/tests/tools/open" \
	tests/tools/flight-guest.sh -- sh ./flight-guest.sh
