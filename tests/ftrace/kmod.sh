#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kmod.sh KERNEL [CLOCKSOURCE]: runs guest.sh in an emulated machine with that kernel and the
# module. The clock source is tsc or hpet, or by default the kernel's choice. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/vm/module-tap.sh
BUILD=${BUILD:-build}
kernel=${1:-6.1}
pairs=3000
[ "${XSPROF_TIER:-quick}" = full ] && pairs=100000

module_tap "$kernel"
tests/vm/boot.sh --kernel "$kernel" --limit 900 --with-libs --module "$ko" \
	${2:+--clock "$2"} "$BUILD/bin/xsprof" "$BUILD/tests/ftrace/pairs" \
	"$BUILD/tests/ftrace/order" tests/ftrace/guest.sh -- sh ./guest.sh "$pairs"
