#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the recorder's tests in an emulated machine with the module: device.sh, sched.sh, and
# drain.sh with its hand-made producers on the device. TAP.
#
#	device-kmod.sh [KERNEL]
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/vm/module-tap.sh
BUILD=${BUILD:-build}
kernel=${1:-6.12}

module_tap "$kernel"
tests/vm/boot.sh --kernel "$kernel" --limit 600 --with-libs --module "$ko" \
	"$BUILD/bin/xsprof" "$BUILD/tests/record/actor" "$BUILD/tests/record/inspect" \
	"$BUILD/tests/record/marker" "$BUILD/tests/record/obey" "$BUILD/tests/record/steady" \
	"$BUILD/tests/record/switch" "$(command -v bash)" "$(command -v setpriv)" \
	tests/record/tap.sh tests/record/drain.sh tests/record/device.sh tests/record/off.sh \
	tests/record/sched.sh tests/record/device-guest.sh \
	-- ./bash ./device-guest.sh
