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
. tests/common/tap.sh

for kernel; do
	said=$(tests/vm/module.sh "$kernel" 2>&1)
	case $? in
	0) ;;
	77)
		skipped "$kernel: builds" "${said#*SKIP }"
		continue ;;
	*)
		result "$kernel: builds with W=1 and no warning" 1
		sed 's/^/# /' <<< "$said"
		continue ;;
	esac
	result "$kernel: builds with W=1 and no warning" 0
	module=$(tail -n 1 <<< "$said")
	lacking=
	for field in license description author version vermagic srcversion; do
		[ -n "$(/sbin/modinfo -F "$field" "$module")" ] || lacking+=" $field"
	done
	# Every parameter is described: modinfo has "name:description (type)".
	lacking+=$(/sbin/modinfo -F parm "$module" | grep -vE '^[^:]+:[^ (]' | sed 's/^/ parm /')
	[ -z "$lacking" ]
	result "$kernel: modinfo is complete" $?
	[ -z "$lacking" ] || echo "# lacking:$lacking"
done
finish
