#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs every tool on damaged captures with correct checksums: fuzz.py. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh

rounds=15
[ "${XSPROF_TIER:-quick}" = full ] && rounds=300
cd "$dir" || exit 1
for kind in all hostile kernel idle usage mess crash; do
	more=
	count=$rounds
	# It is large: a round takes ten times as long.
	[ $kind = mess ] && more=7 && count=$((rounds / 5))
	# Events that make libtraceevent crash, or hang until it is stopped, for one value.
	[ $kind = crash ] && more="200 101" && count=$((rounds / 5))
	[ $kind = usage ] && count=$((rounds / 3))
	# Work of devices.
	[ $kind = idle ] && count=$((rounds / 3))
	"$make_capture" $kind "$kind.data" $more || exit 1
	python3 "$here/fuzz.py" "$kind.data" "$xsprof" "$here/check-chrome.py" \
		"$here/check-perfetto.py" $count \
		"$seed" >"$dir/fuzz.log" 2>&1
	rc=$?
	sed -n 's/^ok 1 /# /p' "$dir/fuzz.log"
	cp "$dir/fuzz.log" "$dir/log"
	if [ $rc != 0 ] && [ -f fuzz-failed.data ]; then
		mkdir -p "$BUILD/check"
		cp fuzz-failed.data "$BUILD/check/fuzz-failed-$kind.data"
		echo "kept as $BUILD/check/fuzz-failed-$kind.data" >>"$dir/log"
	fi
	result "damaged captures: $kind" $rc
done
finish
