#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs tests in the guest of device-kmod.sh, where all files lie in one folder and tests expect a
# build tree. Joins their results into one plan. TAP.
here=$PWD
mkdir -p build/bin build/tests/record
ln -s "$here/xsprof" build/bin/
for f in actor inspect marker obey steady switch; do
	ln -s "$here/$f" build/tests/record/
done
export BUILD=$here/build PATH=$here:$PATH SIM_DEVICE=1
n=0
failed=0
for t in device.sh drain.sh off.sh sched.sh; do
	echo "# $t"
	./bash "./$t" >"$t.tap" 2>"$t.err" </dev/null
	rc=$?
	grep -E '^(ok|not ok|#)' "$t.tap" | awk -v n=$n '
		/^ok / { $2 = ++n } /^not ok / { $3 = ++n } { print }'
	[ $rc = 0 ] || sed 's/^/# stderr: /' "$t.err" | tail -20
	n=$((n + $(grep -cE '^(ok|not ok)' "$t.tap")))
	# A test that was cut short has no plan.
	if [ $rc != 0 ] || ! grep -q '^1\.\.' "$t.tap"; then
		n=$((n + 1))
		echo "not ok $n $t: exit status $rc"
		failed=1
	fi
done
echo "1..$n"
exit $failed
