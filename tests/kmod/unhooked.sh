#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# unhooked.sh [KERNEL]: on a kernel without the tracepoint sched_process_exec the module is not
# loaded, and says why: it could not end producers at exec. The module is built to look for a
# tracepoint that no kernel has. TAP.

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. tests/common/tap.sh
kernel=${1:-6.12}
build=${BUILD:-build}

mkdir -p "$build/kmod" || exit 1
work=$(mktemp -d "$build/kmod/unhooked.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/source"
cp -r kmod Kbuild "$work/source" || exit 1
sed -i 's/tp->name, "sched_process_exec"/tp->name, "sched_no_exec"/' "$work/source/kmod/process.c"
grep -q '"sched_no_exec"' "$work/source/kmod/process.c"
result "the module looks for another tracepoint" $?
module=$(tests/vm/module.sh --source "$work/source" "$kernel" "$work/out" 2> "$work/log")
case $? in
0) module=$(tail -n 1 <<< "$module") ;;
77) echo "$module"; exit 77 ;;
*)
	sed 's/^/# /' "$work/log"
	result "the module builds" 1
	finish
	exit 1 ;;
esac
tests/vm/boot.sh --kernel "$kernel" "$module" -- sh -c \
	'insmod ./xsprof.ko; echo "insmod: $?"; lsmod | grep -c "^xsprof "; ls /dev/xsprof; dmesg' \
	> "$work/said" 2> "$work/err"
sed 's/^/# /' "$work/err"
! grep -qx 'insmod: 0' "$work/said" && grep -q '^insmod: ' "$work/said" &&
	! grep -qx /dev/xsprof "$work/said"
result "it is not loaded, and there is no device" $?
grep -q 'xsprof: no tracepoint sched_process_exec: wants CONFIG_TRACEPOINTS=y' "$work/said"
result "and the kernel's log says why" $?
finish
