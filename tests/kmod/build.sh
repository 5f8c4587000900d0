#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# build.sh [KERNEL...]: the module builds for each kernel with W=1 and no warning, and says
# what it is: licence, description, author, version, the kernel it is for. TAP.

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
if [ $# -eq 0 ]; then
	set -- 6.1 6.12 6.12-rt 7.2 arm64
	[ "${XSPROF_TIER:-quick}" = full ] && set -- "$@" new
fi
build=${BUILD:-build}
mkdir -p "$build/kmod" || exit 1
number=0 failed=0

result()	# STATUS NAME
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number $2"
	else
		echo "not ok $number $2"
		failed=1
	fi
}

for kernel; do
	said=$(tests/vm/module.sh "$kernel" 2>&1)
	case $? in
	0) ;;
	77)
		number=$((number + 1))
		echo "ok $number $kernel: builds # SKIP ${said#*SKIP }"
		continue ;;
	*)
		result 1 "$kernel: builds with W=1 and no warning"
		sed 's/^/# /' <<< "$said"
		continue ;;
	esac
	result 0 "$kernel: builds with W=1 and no warning"
	module=$(tail -n 1 <<< "$said")
	lacking=
	for field in license description author version vermagic srcversion; do
		[ -n "$(/sbin/modinfo -F "$field" "$module")" ] || lacking+=" $field"
	done
	# Every parameter is described: modinfo has "name:description (type)".
	lacking+=$(/sbin/modinfo -F parm "$module" | grep -vE '^[^:]+:[^ (]' | sed 's/^/ parm /')
	[ -z "$lacking" ]
	result $? "$kernel: modinfo is complete"
	[ -z "$lacking" ] || echo "# lacking:$lacking"
done
echo "1..$number"
exit $failed
