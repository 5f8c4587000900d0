#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flight-guest.sh in an emulated machine with the module: snapshots, categories and the flight
# recorder on rings that the kernel owns. TAP.
#
#	flight-kmod.sh [KERNEL]
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
kernel=${1:-6.1}

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
ko=$(tests/vm/module.sh "$kernel" 2>"$log" | tail -n 1)
if [ ! -s "$ko" ]; then
	tail -n 20 "$log" | sed 's/^/# /'
	case $ko in
	*SKIP*) echo "1..0 # SKIP ${ko#*SKIP }"; exit 77 ;;
	esac
	echo "1..1"
	echo "not ok 1 xsprof.ko is built for $kernel"
	exit 1
fi
tests/vm/boot.sh --kernel "$kernel" --limit 300 --with-libs --module "$ko" \
	"$BUILD/bin/xsprof" "$BUILD/tests/tools/beat" "$BUILD/tests/tools/open" \
	tests/tools/flight-guest.sh -- sh ./flight-guest.sh
