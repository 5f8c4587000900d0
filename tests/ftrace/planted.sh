#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# planted.sh KERNEL: programs that are late for a known reason, recorded in an emulated machine with
# that kernel, the module and the kernel's tracer; this script checks --why's answers. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/vm/module-tap.sh
BUILD=${BUILD:-build}
kernel=${1:-6.12}
whats="cpu lock chain fault softirq gap"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/common/tap.sh
tap_log=$dir/log

module_tap "$kernel"
# shellcheck disable=SC2086
tests/vm/boot.sh --kernel "$kernel" --limit 900 --with-libs --module "$ko" \
	"$BUILD/bin/xsprof" "$BUILD/tests/tools/planted" tests/ftrace/planted-guest.sh \
	-- sh ./planted-guest.sh $whats >"$dir/all" 2>"$dir/err"
rc=$?
if [ $rc = 77 ]; then
	cat "$dir/all"
	exit 77
fi
sed 's/^/# /' "$dir/err"

result "the guest came to its end, its log is clean" $rc
for what in $whats; do
	# The guest's output between two of its marks.
	sed -n "/^== $what\$/,/^== /{/^== /!p}" "$dir/all" >"$dir/$what"
	why=$(sed -n 's/^skip: //p' "$dir/$what")
	if [ -n "$why" ]; then
		skipped "$what" "$why"
		continue
	fi
	sed -n '/^{/,$p' "$dir/$what" >"$dir/json"
	sed '/^{/,$d' "$dir/$what" >"$dir/log"
	python3 tests/tools/check-cause.py why "$dir/json" "$what" >>"$dir/log" 2>&1
	good=$?
	result "$what: $(sed -n '/^1\. /,$s/^        //p' "$dir/log" | head -n 1)" $good
	grep -qx 'rings: kernel' "$dir/$what"
	result "$what: its rings are the module's" $?
done
finish
