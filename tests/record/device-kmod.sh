#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The recorder's tests in an emulated machine with the module: device.sh, sched.sh, and drain.sh
# with its hand-made producers in the device. TAP.
#
#	device-kmod.sh [KERNEL]
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
kernel=${1:-6.12}

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
tests/vm/boot.sh --kernel "$kernel" --limit 600 --with-libs --module "$ko" \
	"$BUILD/bin/xsprof" "$BUILD/tests/record/actor" "$BUILD/tests/record/inspect" \
	"$BUILD/tests/record/marker" "$BUILD/tests/record/steady" "$BUILD/tests/record/switch" \
	"$(command -v bash)" "$(command -v setpriv)" tests/record/tap.sh tests/record/drain.sh \
	tests/record/device.sh tests/record/sched.sh tests/record/device-guest.sh \
	-- ./bash ./device-guest.sh
